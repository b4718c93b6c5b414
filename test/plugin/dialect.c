// Ops, types and attributes of the test dialect: one op for each trait, hook or interface.
#include "seam.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Arithmetic: constants, folds to attributes and to values, a rewrite pattern

static MlirLogicalResult fold_const(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                    MlirxFoldResult *results) {
  (void)n, (void)operands;
  results[0].attribute = mlirOperationGetAttributeByName(op, str("value"));
  return ok(results[0].attribute.ptr != NULL);
}

static bool is_integer(MlirAttribute a, int64_t *value) {
  if (!a.ptr || !mlirAttributeIsAInteger(a))
    return false;
  *value = mlirIntegerAttrGetValueInt(a);
  return true;
}

// x + 0 is x; constants are added; a set attribute "swap" is dropped with the operands exchanged.
static MlirLogicalResult fold_add(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                  MlirxFoldResult *results) {
  int64_t a, b;
  if (n != 2)
    return ok(false);
  if (is_integer(operands[1], &b) && b == 0) {
    results[0].value = mlirOperationGetOperand(op, 0);
    return ok(true);
  }
  if (is_integer(operands[0], &a) && is_integer(operands[1], &b)) {
    results[0].attribute =
        mlirIntegerAttrGet(mlirValueGetType(mlirOperationGetResult(op, 0)), a + b);
    return ok(true);
  }
  if (mlirOperationRemoveAttributeByName(op, str("swap"))) {
    MlirValue first = mlirOperationGetOperand(op, 0);
    mlirOperationSetOperand(op, 0, mlirOperationGetOperand(op, 1));
    mlirOperationSetOperand(op, 1, first);
    return ok(true);
  }
  return ok(false);
}

static MlirOperation create(const char *name, MlirLocation loc, intptr_t n,
                            const MlirValue *operands, MlirType type, MlirAttribute value) {
  MlirOperationState state = mlirOperationStateGet(str(name), loc);
  mlirOperationStateAddOperands(&state, n, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirNamedAttribute attr = {mlirIdentifierGet(mlirTypeGetContext(type), str("value")), value};
  if (value.ptr)
    mlirOperationStateAddAttributes(&state, 1, &attr);
  return mlirOperationCreate(&state);
}

static MlirOperation materialize(MlirContext ctx, MlirAttribute value, MlirType type,
                                 MlirLocation loc) {
  (void)ctx;
  if (!mlirAttributeIsAInteger(value))
    return (MlirOperation){NULL};
  return create("seam.const", loc, 0, NULL, type, value);
}

// double(x) is x + x.
static MlirLogicalResult rewrite_double(MlirRewritePattern pattern, MlirOperation op,
                                        MlirPatternRewriter rewriter, void *user) {
  (void)pattern, (void)user;
  MlirValue x = mlirOperationGetOperand(op, 0), both[] = {x, x};
  MlirOperation sum = create("seam.add", mlirOperationGetLocation(op), 2, both, mlirValueGetType(x),
                             (MlirAttribute){NULL});
  MlirRewriterBase base = mlirPatternRewriterAsBase(rewriter);
  mlirRewriterBaseInsert(base, sum);
  mlirRewriterBaseReplaceOpWithOperation(base, op, sum);
  return ok(true);
}

static void patterns_double(MlirRewritePatternSet set, MlirContext ctx) {
  MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = rewrite_double};
  mlirRewritePatternSetAdd(
      set, mlirOpRewritePatternCreate(str("seam.double"), 1, ctx, callbacks, NULL, 0, NULL));
}

static MlirLogicalResult verify_needs(MlirOperation op) {
  MlirAttribute range = mlirOperationGetAttributeByName(op, str("range"));
  if (!range.ptr || !mlirxAttrIsA(range, &seam_range))
    return mlirxEmitError(op, "needs attribute '%s', a #seam.range", "range");
  if (mlirOperationGetNumOperands(op) != 1)
    return mlirxEmitErrorWithNote(op, mlirOperationGetLocation(op), "the range applies to it",
                                  "takes %d operand, got %d", 1,
                                  (int)mlirOperationGetNumOperands(op));
  if (!mlirxTypeIsA(mlirValueGetType(mlirOperationGetOperand(op, 0)), &seam_pair))
    return mlirxEmitError(op, "operand #0 must be a !seam.pair");
  return ok(true);
}

// Memory

static void effects_load(MlirOperation op, MlirxEffects e) {
  mlirxEffectsRead(e, mlirOperationGetOperand(op, 0));
}
static void effects_store(MlirOperation op, MlirxEffects e) {
  mlirxEffectsWrite(e, mlirOperationGetOperand(op, 1));
}

// Regions

static void loop_successors(MlirOperation op, intptr_t from, MlirxSuccessors out) {
  (void)op, (void)from;
  mlirxSuccessorsAdd(out, 0);
  mlirxSuccessorsAdd(out, -1);
}
static void loop_entry_operands(MlirOperation op, intptr_t to, intptr_t *first, intptr_t *count) {
  (void)to;
  *first = 1;
  *count = mlirOperationGetNumOperands(op) - 1;
}
static const MlirxRegionBranch loop_branch = {.successors = loop_successors,
                                              .entryOperands = loop_entry_operands};

static void if_successors(MlirOperation op, intptr_t from, MlirxSuccessors out) {
  (void)op;
  if (from >= 0) {
    mlirxSuccessorsAdd(out, -1);
    return;
  }
  mlirxSuccessorsAdd(out, 0);
  mlirxSuccessorsAdd(out, 1);
}
static const MlirxRegionBranch if_branch = {.successors = if_successors};

static MlirLogicalResult verify_loop(MlirOperation op) {
  if (mlirOperationGetNumRegions(op) != 1 ||
      mlirOperationGetNumOperands(op) != mlirOperationGetNumResults(op) + 1)
    return mlirxEmitError(op, "takes a count and an initial value for each result");
  return ok(true);
}
static MlirLogicalResult verify_loop_regions(MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (!body.ptr || !mlirxIsA(mlirBlockGetTerminator(body), &seam_yield))
    return mlirxEmitError(op, "body must end in seam.yield");
  return ok(true);
}
static MlirLogicalResult verify_if(MlirOperation op) {
  return mlirOperationGetNumRegions(op) == 2 ? ok(true) : mlirxEmitError(op, "has two regions");
}

static bool materialize_into(MlirOperation parent, intptr_t region) {
  (void)region;
  return mlirxIsA(parent, &seam_scope);
}

// Result shape: as the operand's, the first dimension two larger.
static MlirLogicalResult reify_pad(MlirOperation op, MlirOperation before, intptr_t result,
                                   MlirxFoldResult *dims) {
  (void)result;
  MlirContext ctx = mlirOperationGetContext(op);
  MlirLocation loc = mlirOperationGetLocation(op);
  MlirBlock block = mlirOperationGetBlock(before);
  MlirType index = mlirIndexTypeGet(ctx);
  MlirValue x = mlirOperationGetOperand(op, 0);
  for (int64_t i = 0; i < mlirShapedTypeGetRank(mlirValueGetType(x)); ++i) {
    if (i > 0) {
      dims[i].attribute =
          mlirIntegerAttrGet(index, mlirShapedTypeGetDimSize(mlirValueGetType(x), i));
      continue;
    }
    MlirOperation axis =
        create("arith.constant", loc, 0, NULL, index, mlirIntegerAttrGet(index, 0));
    MlirOperation two = create("arith.constant", loc, 0, NULL, index, mlirIntegerAttrGet(index, 2));
    MlirValue dim_operands[] = {x, mlirOperationGetResult(axis, 0)};
    MlirOperation dim = create("tensor.dim", loc, 2, dim_operands, index, (MlirAttribute){NULL});
    MlirValue sum_operands[] = {mlirOperationGetResult(dim, 0), mlirOperationGetResult(two, 0)};
    MlirOperation sum = create("arith.addi", loc, 2, sum_operands, index, (MlirAttribute){NULL});
    MlirOperation made[] = {axis, two, dim, sum};
    for (int k = 0; k < 4; ++k)
      mlirBlockInsertOwnedOperationBefore(block, before, made[k]);
    dims[i].value = mlirOperationGetResult(sum, 0);
  }
  return ok(true);
}

static MlirLogicalResult verify_range(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  if (n != 3 || mlirIntegerAttrGetValueInt(params[0]) > mlirIntegerAttrGetValueInt(params[1]))
    return mlirxEmitErrorAt(loc, "range ends at %" PRId64 ", before it begins",
                            mlirIntegerAttrGetValueInt(params[1]));
  return ok(true);
}
static MlirLogicalResult verify_pair(MlirLocation loc, intptr_t n, const MlirAttribute *params) {
  if (n != 2 || mlirTypeIsANone(mlirTypeAttrGetValue(params[0])))
    return mlirxEmitErrorAt(loc, "a pair does not begin with none");
  return ok(true);
}

static MlirLogicalResult verify_attribute(MlirOperation op, intptr_t arg, MlirNamedAttribute attr) {
  MlirStringRef name = mlirIdentifierStr(attr.name);
  if (mlirStringRefEqual(name, str("seam.mark")) && !mlirAttributeIsAUnit(attr.attribute))
    return mlirxEmitError(op, "'seam.mark' on %s must be a unit attribute",
                          arg < 0 ? "an op" : "an argument");
  return ok(true);
}

#define OP(id, op_name, ...) const MlirxOp id = {.name = "seam." op_name, __VA_ARGS__}
OP(seam_const, "const", .traits = MLIRX_CONSTANT_LIKE | MLIRX_PURE, .fold = fold_const,
   .parse = seam_parse_const, .print = seam_print_const);
OP(seam_add, "add", .traits = MLIRX_PURE | MLIRX_COMMUTATIVE, .fold = fold_add);
static const char *const double_attrs[] = {"n", NULL};
OP(seam_double, "double", .traits = MLIRX_PURE, .attrNames = double_attrs,
   .patterns = patterns_double);
OP(seam_load, "load", .effects = effects_load);
OP(seam_store, "store", .effects = effects_store);
OP(seam_opaque, "opaque", .data = "opaque");
OP(seam_once, "once", .traits = MLIRX_PURE | MLIRX_NO_SPECULATION);
OP(seam_loop, "loop", .traits = MLIRX_SINGLE_BLOCK | MLIRX_RECURSIVE_EFFECTS, .verify = verify_loop,
   .verifyRegions = verify_loop_regions, .parse = seam_parse_loop, .print = seam_print_loop,
   .regionBranch = &loop_branch, .loopLike = true);
OP(seam_if, "if", .traits = MLIRX_SINGLE_BLOCK | MLIRX_RECURSIVE_EFFECTS, .verify = verify_if,
   .regionBranch = &if_branch);
OP(seam_yield, "yield", .traits = MLIRX_TERMINATOR | MLIRX_RETURN_LIKE | MLIRX_PURE,
   .parse = seam_parse_yield, .print = seam_print_yield, .regionTerminator = true);
OP(seam_module, "module",
   .traits = MLIRX_ISOLATED_FROM_ABOVE | MLIRX_SYMBOL_TABLE | MLIRX_NO_TERMINATOR |
             MLIRX_SINGLE_BLOCK);
OP(seam_symbol, "symbol", .traits = MLIRX_SYMBOL);
OP(seam_scope, "scope",
   .traits = MLIRX_AFFINE_SCOPE | MLIRX_NO_TERMINATOR | MLIRX_SINGLE_BLOCK |
             MLIRX_RECURSIVE_EFFECTS);
OP(seam_pad, "pad", .traits = MLIRX_PURE, .reify = reify_pad);
OP(seam_words, "words", .parse = seam_parse_words, .print = seam_print_words);
static const char *const needs_attrs[] = {"range", NULL};
OP(seam_needs, "needs", .attrNames = needs_attrs, .verify = verify_needs);

const MlirxType seam_box = {.name = "box", .memrefElement = true};
const MlirxType seam_pair = {
    .name = "pair", .verify = verify_pair, .parse = seam_parse_pair, .print = seam_print_pair};
static const MlirxType *const types[] = {&seam_box, &seam_pair, NULL};
const MlirxAttr seam_range = {.name = "range",
                              .typed = true,
                              .verify = verify_range,
                              .parse = seam_parse_range,
                              .print = seam_print_range};
static const MlirxAttr *const attrs[] = {&seam_range, NULL};

// The list of ops is made by prepare, as a dialect with a generated table does.
static const MlirxOp *ops[16];
static void prepare(MlirxDialect *self) {
  const MlirxOp *const all[] = {&seam_const, &seam_add,    &seam_double, &seam_load,
                                &seam_store, &seam_opaque, &seam_once,   &seam_loop,
                                &seam_if,    &seam_yield,  &seam_module, &seam_symbol,
                                &seam_scope, &seam_pad,    &seam_words,  &seam_needs};
  memcpy(ops, all, sizeof all);
  self->ops = ops;
  self->numOps = sizeof all / sizeof all[0];
}

static const char *const dependent[] = {"arith", "tensor", NULL};
MlirxDialect seam_dialect = {.name = "seam",
                             .prepare = prepare,
                             .types = types,
                             .attrs = attrs,
                             .dependentDialects = dependent,
                             .materializeConstant = materialize,
                             .inlinable = true,
                             .materializeInto = materialize_into,
                             .verifyAttribute = verify_attribute};
