// simplify-shape-related-ops-onnx: chains of Shape, Gather, Concat and arithmetic that compute
// sizes give way to constants and, where a size is known at run time only, to what says it
// shortest: 0 and -1 in a Reshape, or a slice of one Shape.
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include <stdlib.h>
#include <string.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

struct simplifier {
  view_scope *scope;
  MlirxPass pass;
  MlirStringRef root;
  MlirContext ctx;
};

static MlirNamedAttribute named(struct simplifier *s, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(s->ctx, str(name)), value);
}

static MlirValue insert(MlirOperation before, MlirOperationState *state) {
  MlirOperation op = mlirOperationCreate(state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  return mlirOperationGetResult(op, 0);
}

static MlirType vector_type(struct simplifier *s, int64_t n) {
  return mlirRankedTensorTypeGet(1, &n, mlirIntegerTypeGet(s->ctx, 64), mlirAttributeGetNull());
}

// onnx.Constant of this elements attribute.
static MlirValue constant(struct simplifier *s, MlirOperation before, MlirAttribute value) {
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.Constant"), mlirOperationGetLocation(before));
  MlirNamedAttribute attr = named(s, "value", value);
  MlirType type = mlirAttributeGetType(value);
  mlirOperationStateAddAttributes(&state, 1, &attr);
  mlirOperationStateAddResults(&state, 1, &type);
  return insert(before, &state);
}

static MlirValue vector(struct simplifier *s, MlirOperation before, int64_t n,
                        const int64_t *values) {
  return constant(s, before, mlirDenseElementsAttrInt64Get(vector_type(s, n), n, values));
}

// --- results that are known altogether

static bool is_constant_op(MlirOperation op) {
  return onnx_is(op, "Constant");
}

// The value's elements as an attribute of its type; null unless all are known.
static MlirAttribute known_elements(struct simplifier *s, MlirValue v) {
  MlirType type = mlirValueGetType(v);
  MlirAttribute none = mlirAttributeGetNull();
  const onnx_operand *fact = mlirTypeIsATensor(type) ? view_fact(s->scope, v) : NULL;
  if (!fact || !fact->values || fact->type.elem != ONYX_I64 ||
      fact->num_values > ONYX_MAX_SHAPE_DATA)
    return none;
  int64_t values[ONYX_MAX_SHAPE_DATA], shape[ONYX_MAX_RANK];
  for (int64_t i = 0; i < fact->num_values; i++)
    if (!dim_is_const(fact->values[i], &values[i]))
      return none;
  for (int i = 0; i < fact->type.rank; i++)
    if (!dim_is_const(fact->type.dims[i], &shape[i]))
      return none;
  MlirType exact =
      mlirRankedTensorTypeGet(fact->type.rank, shape, mlirIntegerTypeGet(s->ctx, 64), none);
  return mlirDenseElementsAttrInt64Get(exact, fact->num_values, values);
}

// The types of all users of v let it be `type`: they are onnx ops, not a terminator that states a
// type.
static bool may_retype(MlirValue v, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(v), type))
    return true;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (!onnx_schema_of(mlirOpOperandGetOwner(use)))
      return false;
  return true;
}

static bool fold_results(struct simplifier *s, MlirOperation op) {
  if (!onnx_schema_of(op) || is_constant_op(op) || mlirOperationGetNumRegions(op) ||
      !mlirxIsPure(op))
    return false;
  bool folded = false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    MlirAttribute value = onnx_is_none(v) ? mlirAttributeGetNull() : known_elements(s, v);
    if (mlirAttributeIsNull(value) || !may_retype(v, mlirAttributeGetType(value)))
      continue;
    mlirValueReplaceAllUsesOfWith(v, constant(s, op, value));
    mlirxReportHit(s->pass, "known-sizes");
    folded = true;
  }
  return folded;
}

// --- Reshape

static bool is_zero_or_absent(MlirOperation op, const char *name) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, str(name));
  return mlirAttributeIsNull(a) ||
         (mlirAttributeIsAInteger(a) && mlirIntegerAttrGetValueSInt(a) == 0);
}

// The target with 0 for a dim that stays in place and -1 for one other. -1 cannot be told when a
// dim that stays may be 0 at run time, so the two do not mix.
static void simplify_reshape(struct simplifier *s, MlirOperation op) {
  if (!onnx_is(op, "Reshape") ||
      !mlirAttributeIsNull(onnx_value_constant(mlirOperationGetOperand(op, 1))) ||
      !is_zero_or_absent(op, "allowzero"))
    return;
  const onnx_operand *x = view_fact(s->scope, mlirOperationGetOperand(op, 0));
  const onnx_operand *y = view_fact(s->scope, mlirOperationGetResult(op, 0));
  if (!x || !y || y->type.rank < 0 || x->type.kind != ONYX_TYPE_TENSOR)
    return;
  int64_t target[ONYX_MAX_RANK];
  int open = 0, kept = 0;
  for (int i = 0; i < y->type.rank; i++) {
    const dim *d = y->type.dims[i];
    if (dim_is_const(d, &target[i])) {
      if (target[i] == 0)
        return;
    } else if (i < x->type.rank && x->type.dims[i] == d) {
      target[i] = 0;
      kept++;
    } else {
      target[i] = -1;
      open++;
    }
  }
  if (open > 1 || (open && kept))
    return;
  mlirOperationSetOperand(op, 1, vector(s, op, y->type.rank, target));
  mlirxReportHit(s->pass, "reshape-target");
}

// --- other operands that are sizes: pieces of constants and of Shapes

struct piece {
  MlirValue of;         // null: constants
  int64_t first, count; // axes, or place of the constants
};

static bool is_short(MlirValue v) {
  if (!mlirValueIsAOpResult(v))
    return true;
  MlirOperation op = mlirOpResultGetOwner(v);
  if (!onnx_is(op, "Concat"))
    return onnx_is(op, "Shape") || is_constant_op(op) || !onnx_schema_of(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue x = mlirOperationGetOperand(op, i);
    if (!mlirValueIsAOpResult(x) ||
        (!onnx_is(mlirOpResultGetOwner(x), "Shape") && !is_constant_op(mlirOpResultGetOwner(x))))
      return false;
  }
  return true;
}

// Splits the elements; 0 where one of them is neither a constant nor a dim of a value that is there
// already.
static int split(struct simplifier *s, MlirOperation user, const onnx_operand *fact,
                 struct piece *pieces) {
  int n = 0;
  for (int64_t i = 0; i < fact->num_values; i++) {
    const dim *d = fact->values[i];
    view_symbol symbol;
    struct piece p = {{NULL}, i, 1};
    if (d->op == DIM_SYM) {
      if (!view_symbol_get(s->scope, d->value, &symbol) || symbol.element ||
          !mlirxProperlyDominates(symbol.value, user) ||
          !mlirTypeIsATensor(mlirValueGetType(symbol.value)))
        return 0;
      p = (struct piece){symbol.value, symbol.index, 1};
    } else if (d->op != DIM_CONST) {
      return 0;
    }
    struct piece *last = n ? &pieces[n - 1] : NULL;
    if (last && mlirValueEqual(last->of, p.of) && last->first + last->count == p.first)
      last->count++;
    else
      pieces[n++] = p;
  }
  return n;
}

static MlirValue make_piece(struct simplifier *s, MlirOperation user, const onnx_operand *fact,
                            const struct piece *p) {
  if (mlirValueIsNull(p->of)) {
    int64_t values[ONYX_MAX_SHAPE_DATA];
    for (int64_t i = 0; i < p->count; i++)
      values[i] = fact->values[p->first + i]->value;
    return vector(s, user, p->count, values);
  }
  MlirType si64 = mlirIntegerTypeSignedGet(s->ctx, 64), type = vector_type(s, p->count);
  MlirNamedAttribute attrs[] = {named(s, "start", mlirIntegerAttrGet(si64, p->first)),
                                named(s, "end", mlirIntegerAttrGet(si64, p->first + p->count))};
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.Shape"), mlirOperationGetLocation(user));
  mlirOperationStateAddOperands(&state, 1, &p->of);
  mlirOperationStateAddAttributes(&state, 2, attrs);
  mlirOperationStateAddResults(&state, 1, &type);
  return insert(user, &state);
}

static MlirValue concat(struct simplifier *s, MlirOperation user, int n, const MlirValue *parts,
                        int64_t total) {
  if (n == 1)
    return parts[0];
  MlirType type = vector_type(s, total);
  MlirNamedAttribute axis =
      named(s, "axis", mlirIntegerAttrGet(mlirIntegerTypeSignedGet(s->ctx, 64), 0));
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.Concat"), mlirOperationGetLocation(user));
  mlirOperationStateAddOperands(&state, n, parts);
  mlirOperationStateAddAttributes(&state, 1, &axis);
  mlirOperationStateAddResults(&state, 1, &type);
  return insert(user, &state);
}

// A user whose own result is sizes goes away with its chain and is not rewritten.
static bool computes_sizes(struct simplifier *s, MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1)
    return false;
  const onnx_operand *fact = view_fact(s->scope, mlirOperationGetResult(op, 0));
  return fact && fact->values;
}

static void simplify_operands(struct simplifier *s, MlirOperation op) {
  if (!onnx_schema_of(op) || computes_sizes(s, op))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (onnx_is_none(v) || is_short(v) || !mlirTypeIsATensor(mlirValueGetType(v)))
      continue;
    const onnx_operand *fact = view_fact(s->scope, v);
    struct piece pieces[ONYX_MAX_SHAPE_DATA];
    if (!fact || !fact->values || fact->type.rank != 1 || fact->type.elem != ONYX_I64 ||
        fact->num_values > 16)
      continue;
    int n = split(s, op, fact, pieces);
    MlirValue parts[16];
    for (int k = 0; k < n; k++)
      parts[k] = make_piece(s, op, fact, &pieces[k]);
    if (n == 0)
      continue;
    mlirOperationSetOperand(op, i, concat(s, op, n, parts, fact->num_values));
    mlirxReportHit(s->pass, "sizes");
  }
}

// --- the pass

static MlirLogicalResult visit(MlirOperation op, void *user) {
  struct simplifier *s = user;
  if (fold_results(s, op))
    return mlirLogicalResultSuccess();
  simplify_reshape(s, op);
  simplify_operands(s, op);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult simplify(MlirOperation function, void *user) {
  struct simplifier *s = user;
  bool changed;
  s->ctx = mlirOperationGetContext(function);
  s->scope = view_scope_create(function, VIEW_INFER, s->root);
  MlirLogicalResult ok = infer_function(s->scope, function);
  if (mlirLogicalResultIsSuccess(ok))
    ok = infer_write(s->scope, function, &changed);
  if (mlirLogicalResultIsSuccess(ok))
    ok = walk_ops(function, visit, s);
  view_scope_destroy(s->scope);
  erase_dead_ops(function);
  return ok;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct simplifier s = {.pass = pass, .root = mlirxPassGetString(pass, 0)};
  return for_each_function(op, simplify, &s);
}

static const MlirxOption options[] = {
    {"weights-root", MLIRX_OPT_STRING, NULL,
     "folder of #onnx.file names (else onnx.weights_root, else the working directory)"},
    {0}};

const MlirxPassDescriptor onnx_simplify_shape_pass = {
    .argument = "simplify-shape-related-ops-onnx",
    .description =
        "Replace chains of operators that compute sizes by constants and slices of shapes",
    .options = options,
    .report = true,
    .run = run};
