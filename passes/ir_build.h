//===- ir_build.h - Making ops of stock dialects from C ---------------------------===//
//
// An insertion point and one function for each op that lowerings make over and over. Functions that
// take types or values copy them. Nothing here fails: a wrong op is left to the verifier.
//
//===----------------------------------------------------------------------===//
#ifndef ONYX_PASSES_IR_BUILD_H
#define ONYX_PASSES_IR_BUILD_H

#include "mlirx/mlirx.h"

// Where ops go: into `block`, before `before` or at the end when that is null.
struct ir {
  MlirContext ctx;
  MlirLocation loc;
  MlirBlock block;
  MlirOperation before;
};

struct ir ir_before(MlirOperation op); // with op's location
struct ir ir_after(MlirOperation op);
struct ir ir_at_start(MlirBlock block, MlirLocation loc);
struct ir ir_at_end(MlirBlock block, MlirLocation loc);

static inline MlirStringRef ir_str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}
bool ir_is(MlirOperation op, const char *name); // by name, for ops of stock dialects
MlirValue ir_result(MlirOperation op, intptr_t i);

// An op as it is described. The attributes are `name, value, name, value, ..`; regions pass to the
// op.
struct ir_attr {
  const char *name;
  MlirAttribute value;
};
MlirOperation ir_op(struct ir *ir, const char *name, intptr_t num_operands,
                    const MlirValue *operands, intptr_t num_types, const MlirType *types,
                    intptr_t num_attrs, const struct ir_attr *attrs, intptr_t num_regions,
                    const MlirRegion *regions);
// Puts a detached op at the insertion point.
void ir_insert(struct ir *ir, MlirOperation op);

// Types.
MlirType ir_index_type(struct ir *ir);
MlirType ir_int_type(struct ir *ir, unsigned width);
MlirType ir_f32_type(struct ir *ir);
MlirType ir_memref(MlirType element, intptr_t rank, const int64_t *shape); // identity layout
int64_t ir_dynamic(void); // the size that stands for `?`

// Attributes.
MlirAttribute ir_i64_attr(MlirContext ctx, int64_t value);
MlirAttribute ir_index_attr(MlirContext ctx, int64_t value);
MlirAttribute ir_string_attr(MlirContext ctx, const char *text);
MlirAttribute ir_i64_array_attr(MlirContext ctx, intptr_t n, const int64_t *values);

// Constants (arith.constant). `type` is an integer, index or float type, or a vector of such
// (splat).
MlirValue ir_index(struct ir *ir, int64_t value);
MlirValue ir_int(struct ir *ir, MlirType type, int64_t value);
MlirValue ir_float(struct ir *ir, MlirType type, double value);
MlirValue ir_zero(struct ir *ir, MlirType type);
MlirValue ir_constant(struct ir *ir, MlirAttribute value, MlirType type);
// The integer that defines v (arith.constant of integer or index type); false if v is none.
bool ir_constant_int(MlirValue v, int64_t *value);

// One result of the operands' type: "arith.addf", "arith.muli", "math.exp", ...
MlirValue ir_unary(struct ir *ir, const char *name, MlirValue a);
MlirValue ir_binary(struct ir *ir, const char *name, MlirValue a, MlirValue b);
MlirValue ir_ternary(struct ir *ir, const char *name, MlirValue a, MlirValue b, MlirValue c);
// Conversions: "arith.sitofp", "arith.index_cast", "arith.truncf", ...
MlirValue ir_cast(struct ir *ir, const char *name, MlirValue a, MlirType to);
// arith.index_cast unless it is of that type already.
MlirValue ir_to_index(struct ir *ir, MlirValue v);
MlirValue ir_from_index(struct ir *ir, MlirValue v, MlirType to);

enum ir_cmpi { // arith.cmpi's numbers
  IR_EQ,
  IR_NE,
  IR_SLT,
  IR_SLE,
  IR_SGT,
  IR_SGE,
  IR_ULT,
  IR_ULE,
  IR_UGT,
  IR_UGE
};
enum ir_cmpf { // arith.cmpf's numbers
  IR_FALSE,
  IR_OEQ,
  IR_OGT,
  IR_OGE,
  IR_OLT,
  IR_OLE,
  IR_ONE,
  IR_ORD,
  IR_UEQ,
  IR_FUGT,
  IR_FUGE,
  IR_FULT,
  IR_FULE,
  IR_UNE,
  IR_UNO,
  IR_TRUE
};
MlirValue ir_cmpi(struct ir *ir, enum ir_cmpi predicate, MlirValue a, MlirValue b);
MlirValue ir_cmpf(struct ir *ir, enum ir_cmpf predicate, MlirValue a, MlirValue b);
MlirValue ir_select(struct ir *ir, MlirValue condition, MlirValue a, MlirValue b);

// Memory. `dynamic` holds one index a `?` of the type. alignment 0: none given.
MlirValue ir_alloc(struct ir *ir, MlirType type, intptr_t n, const MlirValue *dynamic,
                   int64_t alignment);
MlirValue ir_alloca(struct ir *ir, MlirType type, intptr_t n, const MlirValue *dynamic);
void ir_dealloc(struct ir *ir, MlirValue memref);
MlirValue ir_dim(struct ir *ir, MlirValue memref,
                 int64_t axis); // a constant where the type says it
MlirValue ir_load(struct ir *ir, MlirValue memref, intptr_t n, const MlirValue *indices);
void ir_store(struct ir *ir, MlirValue value, MlirValue memref, intptr_t n,
              const MlirValue *indices);
MlirValue ir_view(struct ir *ir, MlirValue bytes, MlirValue byte_offset, MlirType type, intptr_t n,
                  const MlirValue *dynamic);
MlirValue ir_memref_cast(struct ir *ir, MlirValue memref, MlirType to);
// A memref of another shape over the same elements; `sizes` one index a dim; identity layouts.
MlirValue ir_reinterpret(struct ir *ir, MlirValue memref, MlirType to, const MlirValue *sizes);
MlirValue ir_get_global(struct ir *ir, const char *symbol, MlirType type);
void ir_copy(struct ir *ir, MlirValue from, MlirValue to);

// Affine. Operands: dims, then symbols.
MlirValue ir_apply(struct ir *ir, MlirAffineMap map, intptr_t n, const MlirValue *operands);
MlirValue ir_affine_min(struct ir *ir, MlirAffineMap map, intptr_t n, const MlirValue *operands);
MlirValue ir_affine_max(struct ir *ir, MlirAffineMap map, intptr_t n, const MlirValue *operands);
MlirValue ir_affine_load(struct ir *ir, MlirValue memref, MlirAffineMap map, intptr_t n,
                         const MlirValue *operands);
void ir_affine_store(struct ir *ir, MlirValue value, MlirValue memref, MlirAffineMap map,
                     intptr_t n, const MlirValue *operands);
// affine.for; `body` is set before its terminator (affine.yield, made here when there are no inits;
// with inits the caller makes it, at body). Block arguments: the variable, then the iter_args.
MlirOperation ir_affine_for(struct ir *ir, MlirAffineMap lower, intptr_t num_lower,
                            const MlirValue *lower_operands, MlirAffineMap upper,
                            intptr_t num_upper, const MlirValue *upper_operands, int64_t step,
                            intptr_t num_inits, const MlirValue *inits, struct ir *body);

// scf. As affine.for above: the terminator scf.yield is made here when there are no results.
MlirOperation ir_for(struct ir *ir, MlirValue lower, MlirValue upper, MlirValue step,
                     intptr_t num_inits, const MlirValue *inits, struct ir *body);
// `otherwise` may be NULL when there are no results: no else region then.
MlirOperation ir_if(struct ir *ir, MlirValue condition, intptr_t num_types, const MlirType *types,
                    struct ir *then, struct ir *otherwise);
// Arguments of both regions are of the inits' types. Caller makes scf.condition and scf.yield.
MlirOperation ir_while(struct ir *ir, intptr_t n, const MlirValue *inits, struct ir *before,
                       struct ir *after);
void ir_yield(struct ir *ir, const char *name, intptr_t n,
              const MlirValue *values);              // "scf.yield", ..
MlirValue ir_arg(const struct ir *body, intptr_t i); // argument of the block that body points into

MlirOperation ir_call(struct ir *ir, const char *callee, intptr_t n, const MlirValue *operands,
                      intptr_t num_types, const MlirType *types);

// Name of the nearest symbol-holding op's child: the op in `module`'s body with this sym_name, or
// null.
MlirOperation ir_lookup_symbol(MlirOperation module, MlirStringRef name);

#endif // ONYX_PASSES_IR_BUILD_H
