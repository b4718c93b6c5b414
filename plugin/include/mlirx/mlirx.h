//===- mlirx.h - What a dialect or pass in C needs beside mlir-c ----------------===//
//
// Descriptors: constant tables from which the plugin makes dialects, operations, types, attributes,
// passes and pipelines. A descriptor lives as long as the process; its address is the TypeID of
// what it describes, so `mlirOperationGetTypeID(op).ptr == &krnl_iterate` asks what an op is.
//
// Handles are small values, as in mlir-c. A function that takes an MlirStringRef copies nothing.
//
//===----------------------------------------------------------------------===//
#ifndef MLIRX_H
#define MLIRX_H

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#define MLIRX_ALIGNED alignas(16)
#else
#include <stdbool.h>
#define MLIRX_ALIGNED _Alignas(16)
#endif

#if defined(__GNUC__)
#define MLIRX_EXPORT __attribute__((visibility("default")))
#define MLIRX_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define MLIRX_EXPORT
#define MLIRX_PRINTF(f, a)
#endif

#define MLIRX_DEFINE_HANDLE(name)                                                                  \
  typedef struct name {                                                                            \
    void *ptr;                                                                                     \
  } name

MLIRX_DEFINE_HANDLE(MlirxAsmParser);  // valid during one parse hook
MLIRX_DEFINE_HANDLE(MlirxAsmPrinter); // valid during one print hook
MLIRX_DEFINE_HANDLE(MlirxEffects);    // valid during one effects hook
MLIRX_DEFINE_HANDLE(MlirxPass);       // valid during one run or initialize hook
MLIRX_DEFINE_HANDLE(MlirxSuccessors); // valid during one region-branch hook
typedef struct MlirxLoc {             // a place in the text being parsed
  const void *ptr;
} MlirxLoc;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

typedef enum MlirxTrait {
  MLIRX_TERMINATOR = 1 << 0,
  MLIRX_ISOLATED_FROM_ABOVE = 1 << 1,
  MLIRX_SYMBOL_TABLE = 1 << 2,
  MLIRX_SYMBOL = 1 << 3,
  MLIRX_NO_TERMINATOR = 1 << 4,
  MLIRX_SINGLE_BLOCK = 1 << 5,
  MLIRX_CONSTANT_LIKE = 1 << 6, // needs a fold hook that returns the attribute
  MLIRX_RETURN_LIKE = 1 << 7,
  MLIRX_AFFINE_SCOPE = 1 << 8,
  MLIRX_RECURSIVE_EFFECTS = 1 << 9, // effects are those of the ops inside
  MLIRX_COMMUTATIVE = 1 << 10,
  MLIRX_PURE = 1 << 11,           // no effects; may be speculated
  MLIRX_NO_SPECULATION = 1 << 12, // with MLIRX_PURE: no effects, but not to be moved up
} MlirxTrait;

// A fold gives for each result an attribute or a value. MLIR replaces all results or none: if some
// entries stay null while others do not, nothing is folded.
typedef struct MlirxFoldResult {
  MlirAttribute attribute;
  MlirValue value;
} MlirxFoldResult;

// Where control goes from a region-branch op or one of its regions.
// region < 0: to the op's results; else to the region's entry block.
MLIRX_EXPORT void mlirxSuccessorsAdd(MlirxSuccessors s, intptr_t region);

typedef struct MlirxRegionBranch {
  // Adds every place that control can reach from `from` (< 0: the op itself).
  void (*successors)(MlirOperation op, intptr_t from, MlirxSuccessors out);
  // Operands of the op that are forwarded to region `to` (< 0: to the results): first and count.
  void (*entryOperands)(MlirOperation op, intptr_t to, intptr_t *first, intptr_t *count);
  // Block arguments of region `to` that receive forwarded values: first and count (null: all).
  void (*regionInputs)(MlirOperation op, intptr_t to, intptr_t *first, intptr_t *count);
} MlirxRegionBranch;

typedef struct MlirxOp {
  MLIRX_ALIGNED const char *name; // "onnx.Conv"
  unsigned traits;                // MlirxTrait
  const char *const *attrNames;   // attributes with a meaning; NULL-terminated or NULL
  const void *data;               // the dialect's own (schema row, operator table, ...)

  // Hooks; NULL where there is none. A hook that fails has emitted an error.
  MlirLogicalResult (*verify)(MlirOperation op);
  MlirLogicalResult (*verifyRegions)(MlirOperation op);
  // Operand i's constant value or a null attribute. `results` holds one entry a result, all null.
  // Returns success if all results were folded. An in-place change: success with all entries null.
  MlirLogicalResult (*fold)(MlirOperation op, intptr_t numOperands, const MlirAttribute *operands,
                            MlirxFoldResult *results);
  void (*patterns)(MlirRewritePatternSet set, MlirContext ctx); // for canonicalize
  void (*effects)(MlirOperation op,
                  MlirxEffects effects); // neither this nor PURE nor RECURSIVE: unknown
  MlirLogicalResult (*parse)(MlirxAsmParser parser);
  void (*print)(MlirOperation op, MlirxAsmPrinter printer);
  const MlirxRegionBranch *regionBranch;
  // Loop-like: region 0 is the body.
  bool loopLike;
  // RegionBranchTerminator: all operands go to the parent's successors.
  bool regionTerminator;
  // ReifyRankedShapedType: appends for result i one index value or attribute a dim; see
  // mlirxReify. NULL: not implemented.
  MlirLogicalResult (*reify)(MlirOperation op, MlirOperation insertBefore, intptr_t result,
                             MlirxFoldResult *dims);
} MlirxOp;

// Descriptor of a registered table op; NULL for any other op.
MLIRX_EXPORT const MlirxOp *mlirxOperationGetDescriptor(MlirOperation op);
// Descriptor by full name ("onnx.Conv"); NULL when there is none. Exported for other plugins.
MLIRX_EXPORT const MlirxOp *onyx_op_lookup(const char *name);
static inline bool mlirxIsA(MlirOperation op, const MlirxOp *descriptor) {
  return mlirOperationGetTypeID(op).ptr == (const void *)descriptor;
}

// `on` null: the effect is on no particular value.
MLIRX_EXPORT void mlirxEffectsRead(MlirxEffects e, MlirValue on);
MLIRX_EXPORT void mlirxEffectsWrite(MlirxEffects e, MlirValue on);
MLIRX_EXPORT void mlirxEffectsAllocate(MlirxEffects e, MlirValue on);
MLIRX_EXPORT void mlirxEffectsFree(MlirxEffects e, MlirValue on);

//===----------------------------------------------------------------------===//
// Types and attributes: a descriptor and a list of attributes as parameters
//===----------------------------------------------------------------------===//

typedef struct MlirxType {
  MLIRX_ALIGNED const char *name; // "Seq" of !onnx.Seq
  bool memrefElement;             // may be an element of a memref
  MlirLogicalResult (*verify)(MlirLocation loc, intptr_t n, const MlirAttribute *params);
  // Parses what follows the name; returns a null type after an error. NULL: no parameters.
  MlirType (*parse)(MlirxAsmParser parser);
  void (*print)(MlirType type, MlirxAsmPrinter printer);
} MlirxType;

typedef struct MlirxAttr {
  MLIRX_ALIGNED const char *name; // "file" of #onnx.file
  bool typed;                     // a TypedAttr: the last parameter is a TypeAttr
  MlirLogicalResult (*verify)(MlirLocation loc, intptr_t n, const MlirAttribute *params);
  // `type` is the trailing type that the context supplies, or null.
  MlirAttribute (*parse)(MlirxAsmParser parser, MlirType type);
  void (*print)(MlirAttribute attr, MlirxAsmPrinter printer);
} MlirxAttr;

MLIRX_EXPORT MlirType mlirxTypeGet(MlirContext ctx, const MlirxType *descriptor, intptr_t n,
                                   const MlirAttribute *params);
MLIRX_EXPORT intptr_t mlirxTypeGetNumParams(MlirType type);
MLIRX_EXPORT MlirAttribute mlirxTypeGetParam(MlirType type, intptr_t i);
MLIRX_EXPORT MlirAttribute mlirxAttrGet(MlirContext ctx, const MlirxAttr *descriptor, intptr_t n,
                                        const MlirAttribute *params);
MLIRX_EXPORT intptr_t mlirxAttrGetNumParams(MlirAttribute attr);
MLIRX_EXPORT MlirAttribute mlirxAttrGetParam(MlirAttribute attr, intptr_t i);
static inline bool mlirxTypeIsA(MlirType t, const MlirxType *d) {
  return mlirTypeGetTypeID(t).ptr == (const void *)d;
}
// TypeID of the attribute's class (mlir-c has none for attributes).
MLIRX_EXPORT MlirTypeID mlirxAttributeGetTypeID(MlirAttribute attr);
static inline bool mlirxAttrIsA(MlirAttribute a, const MlirxAttr *d) {
  return mlirxAttributeGetTypeID(a).ptr == (const void *)d;
}

//===----------------------------------------------------------------------===//
// Dialects
//===----------------------------------------------------------------------===//

typedef struct MlirxDialect {
  MLIRX_ALIGNED const char *name; // namespace
  // Ops may be made at start-up: prepare is called once, before anything is read.
  void (*prepare)(struct MlirxDialect *self);
  const MlirxOp *const *ops;
  size_t numOps;
  const MlirxType *const *types;        // NULL-terminated or NULL
  const MlirxAttr *const *attrs;        // NULL-terminated or NULL
  const char *const *dependentDialects; // NULL-terminated or NULL
  // Makes an op for a folded constant before `insertBefore` is known; returns it detached, or null.
  MlirOperation (*materializeConstant)(MlirContext ctx, MlirAttribute value, MlirType type,
                                       MlirLocation loc);
  bool inlinable; // all its ops may be inlined
  // True if constants folded inside this op's region stay there. NULL: never.
  bool (*materializeInto)(MlirOperation parent, intptr_t region);
  // Verifies a discardable attribute of this dialect ("krnl.arena") on any op or, with arg >= 0,
  // on argument (arg) of a function. NULL: anything goes.
  MlirLogicalResult (*verifyAttribute)(MlirOperation op, intptr_t arg, MlirNamedAttribute attr);
} MlirxDialect;

//===----------------------------------------------------------------------===//
// Assembly. The op being parsed is implied by the parser handle.
//===----------------------------------------------------------------------===//

typedef enum MlirxPunct {
  MLIRX_LPAREN,
  MLIRX_RPAREN,
  MLIRX_LSQUARE,
  MLIRX_RSQUARE,
  MLIRX_LBRACE,
  MLIRX_RBRACE,
  MLIRX_LESS,
  MLIRX_GREATER,
  MLIRX_COMMA,
  MLIRX_COLON,
  MLIRX_EQUAL,
  MLIRX_ARROW,
  MLIRX_QUESTION,
  MLIRX_STAR,
  MLIRX_PLUS,
  MLIRX_MINUS
} MlirxPunct;

MLIRX_EXPORT MlirContext mlirxParserGetContext(MlirxAsmParser p);
MLIRX_EXPORT MlirxLoc mlirxParserGetCurrentLoc(MlirxAsmParser p); // of the *next* token
MLIRX_EXPORT MlirLocation mlirxParserGetLocation(MlirxAsmParser p, MlirxLoc loc);
// Emits an error at loc ({NULL}: the next token); returns failure.
MLIRX_EXPORT MlirLogicalResult mlirxParserError(MlirxAsmParser p, MlirxLoc loc, const char *fmt,
                                                ...) MLIRX_PRINTF(3, 4);
MLIRX_EXPORT MlirLogicalResult mlirxParse(MlirxAsmParser p, MlirxPunct punct);
MLIRX_EXPORT bool mlirxParseOptional(MlirxAsmParser p, MlirxPunct punct);
MLIRX_EXPORT MlirLogicalResult mlirxParseKeyword(MlirxAsmParser p, const char *keyword);
MLIRX_EXPORT bool mlirxParseOptionalKeyword(MlirxAsmParser p, const char *keyword);
// Any identifier; valid while the source buffer lives. Null data if there is none (no error).
MLIRX_EXPORT MlirStringRef mlirxParseOptionalAnyKeyword(MlirxAsmParser p);
MLIRX_EXPORT MlirLogicalResult mlirxParseInteger(MlirxAsmParser p, int64_t *value);
// False if the next token is no integer; an integer out of range is a failure through *result.
MLIRX_EXPORT bool mlirxParseOptionalInteger(MlirxAsmParser p, int64_t *value,
                                            MlirLogicalResult *result);
MLIRX_EXPORT MlirAttribute mlirxParseAttribute(MlirxAsmParser p,
                                               MlirType type); // null on error; type may be null
// Null without error if the next token starts no attribute; *result is failure on a bad one.
MLIRX_EXPORT MlirAttribute mlirxParseOptionalAttribute(MlirxAsmParser p, MlirType type,
                                                       MlirLogicalResult *result);
MLIRX_EXPORT MlirType mlirxParseType(MlirxAsmParser p); // null on error
MLIRX_EXPORT MlirAttribute
mlirxParseSymbolName(MlirxAsmParser p); // "@f" as a StringAttr; null on error
// An SSA use, kept by the parser under the returned index; < 0 on error (…Optional: -1 none, -2
// error).
MLIRX_EXPORT intptr_t mlirxParseOperand(MlirxAsmParser p);
MLIRX_EXPORT intptr_t mlirxParseOptionalOperand(MlirxAsmParser p);
// Gives the operand a type and appends it to the op's operands.
MLIRX_EXPORT MlirLogicalResult mlirxResolveOperand(MlirxAsmParser p, intptr_t operand,
                                                   MlirType type);
// A region argument "%x", kept under the returned index; < 0 on error. Optional: -1 none, -2 error.
MLIRX_EXPORT intptr_t mlirxParseArgument(MlirxAsmParser p);
MLIRX_EXPORT intptr_t mlirxParseOptionalArgument(MlirxAsmParser p);
// A region that begins with these arguments, appended to the op's regions. Adds no terminator.
MLIRX_EXPORT MlirLogicalResult mlirxParseRegion(MlirxAsmParser p, intptr_t n,
                                                const intptr_t *arguments, const MlirType *types);
// Appends `terminator` (no operands, no results) to the last block of the last parsed region if it
// has none.
MLIRX_EXPORT MlirLogicalResult mlirxParserEnsureTerminator(MlirxAsmParser p,
                                                           const char *terminator);
MLIRX_EXPORT MlirLogicalResult mlirxParseOptionalAttrDict(MlirxAsmParser p); // into the op
MLIRX_EXPORT void mlirxParserAddAttribute(MlirxAsmParser p, const char *name, MlirAttribute attr);
MLIRX_EXPORT MlirAttribute mlirxParserGetAttribute(MlirxAsmParser p,
                                                   const char *name); // added so far; may be null
MLIRX_EXPORT void mlirxParserAddResultTypes(MlirxAsmParser p, intptr_t n, const MlirType *types);
// "a, b, c" until no comma follows; each is read by `each`.
MLIRX_EXPORT MlirLogicalResult mlirxParseCommaSeparated(
    MlirxAsmParser p, MlirLogicalResult (*each)(MlirxAsmParser, void *), void *user);

MLIRX_EXPORT void mlirxPrint(MlirxAsmPrinter p, const char *fmt, ...)
    MLIRX_PRINTF(2, 3); // as it stands
MLIRX_EXPORT void mlirxPrintOperand(MlirxAsmPrinter p, MlirValue v);
MLIRX_EXPORT void mlirxPrintType(MlirxAsmPrinter p, MlirType t);
MLIRX_EXPORT void mlirxPrintAttribute(MlirxAsmPrinter p, MlirAttribute a);
MLIRX_EXPORT void mlirxPrintAttributeWithoutType(MlirxAsmPrinter p, MlirAttribute a);
MLIRX_EXPORT void mlirxPrintSymbolName(MlirxAsmPrinter p,
                                       MlirStringRef name); // "@f", quoted where needed
MLIRX_EXPORT void mlirxPrintQuoted(MlirxAsmPrinter p, MlirStringRef text); // "..." with escapes
// " {a = 1}" without the names in `elided` (NULL-terminated or NULL); nothing if none remain.
MLIRX_EXPORT void mlirxPrintOptionalAttrDict(MlirxAsmPrinter p, MlirOperation op,
                                             const char *const *elided);
MLIRX_EXPORT void mlirxPrintRegion(MlirxAsmPrinter p, MlirRegion r, bool entryArgs,
                                   bool terminators);

//===----------------------------------------------------------------------===//
// Passes and pipelines
//===----------------------------------------------------------------------===//

typedef enum MlirxOptionKind {
  MLIRX_OPT_BOOL,
  MLIRX_OPT_INT,
  MLIRX_OPT_STRING,
  MLIRX_OPT_INT_LIST,
  MLIRX_OPT_STRING_LIST
} MlirxOptionKind;

typedef struct MlirxOption {
  const char *name;
  MlirxOptionKind kind;
  const char *defaultText; // NULL: false, 0, "" or the empty list
  const char *help;
} MlirxOption;

typedef struct MlirxPassDescriptor {
  MLIRX_ALIGNED const char *argument; // name in a pipeline
  const char *description;            // one line
  const char *const *anchors;         // ops it runs on; NULL: "builtin.module" and "func.func"
  const char *const *dependentDialects;
  const MlirxOption *options; // ended by an entry without name; may be NULL
  bool report;                // has the option report=FILE, see mlirxReportHit
  // State shared by all clones of one pass instance (frozen patterns); freed by destroy.
  MlirLogicalResult (*initialize)(MlirxPass pass, MlirContext ctx, void **state);
  void (*destroy)(void *state);
  MlirLogicalResult (*run)(MlirxPass pass, MlirOperation op, void *state);
} MlirxPassDescriptor;

// Options by index into the table.
MLIRX_EXPORT bool mlirxPassGetBool(MlirxPass p, int option);
MLIRX_EXPORT int64_t mlirxPassGetInt(MlirxPass p, int option);
MLIRX_EXPORT MlirStringRef mlirxPassGetString(MlirxPass p,
                                              int option); // valid while the pass lives
MLIRX_EXPORT intptr_t mlirxPassGetListSize(MlirxPass p, int option);
MLIRX_EXPORT int64_t mlirxPassGetListInt(MlirxPass p, int option, intptr_t i);
MLIRX_EXPORT MlirStringRef mlirxPassGetListString(MlirxPass p, int option, intptr_t i);
// Counts a hit of `rule` (static text); written as JSON {"pass":..,"rules":{rule:hits}} to
// report=FILE when the last clone of the pass instance dies. Thread-safe.
MLIRX_EXPORT void mlirxReportHit(MlirxPass p, const char *rule);
// Runs a pipeline text on op, nested in this pass (its dialects must be declared).
MLIRX_EXPORT MlirLogicalResult mlirxPassRunPipeline(MlirxPass p, const char *pipeline,
                                                    MlirOperation op);

typedef struct MlirxPipeline {
  const char *name;
  const char *description;
  const char *text;           // body of builtin.module(...); // comments, ${option} replaced
  const MlirxOption *options; // ended by an entry without name; may be NULL
} MlirxPipeline;

// What the plugin registers; defined in plugin/tables.c, each NULL-terminated.
extern MlirxDialect *const mlirxDialects[];
extern const MlirxPassDescriptor *const mlirxPasses[];
extern const MlirxPipeline *const mlirxPipelines[];

// The same lists for tools that describe the plugin (scripts/passes-doc, fuzzers, reducers); the
// dialects have been prepared.
MLIRX_EXPORT MlirxDialect *const *mlirxGetDialects(void);
MLIRX_EXPORT const MlirxPassDescriptor *const *mlirxGetPasses(void);
MLIRX_EXPORT const MlirxPipeline *const *mlirxGetPipelines(void);

// Patterns in PDL. A native function of theirs: a constraint or a rewrite.
typedef struct MlirxPdlFunction {
  const char *name;
  MlirPDLConstraintFunction constraint;
  MlirPDLRewriteFunction rewrite;
} MlirxPdlFunction;
// Adds the patterns of a PDL module's text, as `mlir-pdll -x=mlir` writes it, to a set; `functions`
// is ended by an entry without name or NULL, `user` is handed to them. Emits an error on failure.
// FILE.pdll in a folder of passes becomes the array FILE_pdl in "FILE.pdll.h". Ops that a rewrite
// makes need result types, or replace the root by name, which gives them its types; an inner op's
// result is written `let a = op<..>(..) -> (t); .. a.0`, since without .0 and (t) an undeclared op
// has a list of them.
MLIRX_EXPORT MlirLogicalResult mlirxRewritePatternSetAddPDL(MlirRewritePatternSet set,
                                                            MlirStringRef text,
                                                            const MlirxPdlFunction *functions,
                                                            void *user);

// For plugins that link libonyx-core.so: the callback of a dialect plugin gets the registry, see
// mlirx/plugin.h. Registering the same descriptor twice is no error.
MLIRX_EXPORT void mlirxRegisterDialect(MlirDialectRegistry registry, MlirxDialect *descriptor);
MLIRX_EXPORT void mlirxRegisterPass(const MlirxPassDescriptor *descriptor);
MLIRX_EXPORT void mlirxRegisterPipeline(const MlirxPipeline *descriptor);

//===----------------------------------------------------------------------===//
// IR: what mlir-c 22 lacks
//===----------------------------------------------------------------------===//

// Error at the op, printf style; the message gets the prefix "'onnx.Conv' op ". Returns failure.
MLIRX_EXPORT MlirLogicalResult mlirxEmitError(MlirOperation op, const char *fmt, ...)
    MLIRX_PRINTF(2, 3);
MLIRX_EXPORT MlirLogicalResult mlirxEmitErrorAt(MlirLocation loc, const char *fmt, ...)
    MLIRX_PRINTF(2, 3);
// An error at op with one note at another place.
MLIRX_EXPORT MlirLogicalResult mlirxEmitErrorWithNote(MlirOperation op, MlirLocation noteLoc,
                                                      const char *note, const char *fmt, ...)
    MLIRX_PRINTF(4, 5);
MLIRX_EXPORT void mlirxEmitWarning(MlirOperation op, const char *fmt, ...) MLIRX_PRINTF(2, 3);
MLIRX_EXPORT void mlirxEmitRemark(MlirOperation op, const char *fmt, ...) MLIRX_PRINTF(2, 3);

// Clones op with operands replaced by `map`: pairs (from, to) used for operands inside it as well.
MLIRX_EXPORT MlirOperation mlirxOperationCloneMapped(MlirOperation op, intptr_t n,
                                                     const MlirValue *from, const MlirValue *to);
// Moves all blocks of `from` to the end of `to`.
MLIRX_EXPORT void mlirxRegionTakeBody(MlirRegion to, MlirRegion from);
MLIRX_EXPORT bool mlirxIsPure(MlirOperation op);          // no effects
MLIRX_EXPORT bool mlirxIsTriviallyDead(MlirOperation op); // no uses, no effects that matter
MLIRX_EXPORT bool mlirxProperlyDominates(MlirValue value, MlirOperation op);
// Sets argument attributes etc. go through mlir-c's attribute dictionary; types of a block
// argument: mlirBlockArgumentSetType. Function type: attribute "function_type".

//===----------------------------------------------------------------------===//
// Affine: what mlir-c 22 lacks
//===----------------------------------------------------------------------===//

// May the index value be a dim, or a symbol, of an affine op that stands where `at` does?
MLIRX_EXPORT bool mlirxAffineIsDim(MlirValue value, MlirOperation at);
MLIRX_EXPORT bool mlirxAffineIsSymbol(MlirValue value, MlirOperation at);

typedef enum MlirxDependence {
  MLIRX_NO_DEPENDENCE,
  MLIRX_DEPENDENCE,
  MLIRX_UNKNOWN_DEPENDENCE // the analysis gave up: assume the worst
} MlirxDependence;
// Loops around both ops.
MLIRX_EXPORT unsigned mlirxAffineCommonLoops(MlirOperation a, MlirOperation b);
// Does affine access `to` depend on affine access `from` at `depth` (1: carried by the outermost
// common loop; common loops + 1: within one iteration)? lower and upper have an entry a common
// loop: the distance's range in iterations of that loop's variable, INT64_MIN or INT64_MAX where
// unbounded.
MLIRX_EXPORT MlirxDependence mlirxAffineDependence(MlirOperation from, MlirOperation to,
                                                   unsigned depth, int64_t *lower, int64_t *upper);

#ifdef __cplusplus
}
#endif
#endif // MLIRX_H
