// conv-opt-onnx: a 1x1 Conv of stride 1 without pads and groups multiplies matrices. With W as [M,
// C] and X as [N, C, positions] it is W x X, then + B as [M, 1]. The Reshapes only rename storage.
// Left alone: one channel in or one position, where no matrix is multiplied; types narrower than
// float, where Conv rounds once behind the bias and MatMul and Add would round twice; sizes other
// than the batch that are not known.
// The loop nests of this compiler take as long for either form (measured: 128 channels at 28x28,
// 512 at 7x7), so no pipeline runs it: it serves what has better code or more rules for MatMul.
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

struct optimizer {
  MlirxPass pass;
  view_scope *scope;
};

// The sizes of one such Conv; batch: as types have it, maybe dynamic.
struct product {
  int64_t batch, in, out, positions;
};

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool all_are(const onnx_attr *a, int64_t value) {
  for (int64_t i = 0; i < a->n; i++)
    if (a->ints[i] != value)
      return false;
  return true;
}

// Sizes of 0 would mean "copy" to Reshape.
static bool positive(const dim *d, int64_t *value) {
  return dim_is_const(d, value) && *value > 0;
}

static bool read_sizes(const op_view *v, struct product *p) {
  const onnx_type *x = &v->operands[0].type, *w = &v->operands[1].type;
  if (x->rank < 3 || w->rank != x->rank || (x->elem != ONYX_F32 && x->elem != ONYX_F64))
    return false;
  p->positions = 1;
  for (int i = 2; i < x->rank; i++) {
    int64_t size;
    if (!dim_is(w->dims[i], 1) || !positive(x->dims[i], &size) ||
        __builtin_mul_overflow(p->positions, size, &p->positions))
      return false;
  }
  if (!dim_is_const(x->dims[0], &p->batch))
    p->batch = mlirShapedTypeGetDynamicSize();
  return positive(x->dims[1], &p->in) && positive(w->dims[0], &p->out) && p->in > 1 &&
         dim_is(w->dims[1], p->in) && p->positions > 1;
}

static bool is_product(struct optimizer *o, MlirOperation op, struct product *p) {
  op_view *v = onnx_is(op, "Conv") ? view_from_op(o->scope, op) : NULL;
  return v && view_int(v, "group") == 1 && all_are(view_attr(v, "pads"), 0) &&
         all_are(view_attr(v, "strides"), 1) && read_sizes(v, p) &&
         mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
}

// --- building, before `at`

static MlirType tensor(MlirOperation at, intptr_t rank, const int64_t *shape) {
  MlirType x = mlirValueGetType(mlirOperationGetOperand(at, 0));
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(x),
                                 mlirAttributeGetNull());
}

static MlirValue make(MlirOperation at, const char *name, intptr_t n, const MlirValue *operands,
                      MlirNamedAttribute *attr, MlirType type) {
  MlirOperationState state = mlirOperationStateGet(str(name), mlirOperationGetLocation(at));
  mlirOperationStateAddOperands(&state, n, operands);
  if (attr)
    mlirOperationStateAddAttributes(&state, 1, attr);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(at), at, op);
  return mlirOperationGetResult(op, 0);
}

static MlirNamedAttribute named(MlirOperation at, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(mlirOperationGetContext(at), str(name)), value);
}

static MlirValue reshape(MlirOperation at, MlirValue x, int64_t n, const int64_t *target,
                         MlirType type) {
  MlirType si = mlirRankedTensorTypeGet(1, &n, mlirIntegerTypeGet(mlirOperationGetContext(at), 64),
                                        mlirAttributeGetNull());
  MlirNamedAttribute value = named(at, "value", mlirDenseElementsAttrInt64Get(si, n, target));
  MlirValue operands[] = {x, make(at, "onnx.Constant", 0, NULL, &value, si)};
  return make(at, "onnx.Reshape", 2, operands, NULL, type);
}

static void rewrite(struct optimizer *o, MlirOperation op, const struct product *p) {
  MlirValue x = mlirOperationGetOperand(op, 0), y = mlirOperationGetResult(op, 0);
  MlirValue b = onnx_operand_or_null(op, 2);
  int64_t flat[] = {p->batch, p->in, p->positions}, flat_target[] = {0, p->in, p->positions};
  int64_t weights[] = {p->out, p->in}, column[] = {p->out, 1};
  int64_t product[] = {p->batch, p->out, p->positions}, target[ONYX_MAX_RANK] = {0, p->out};
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(x));
  for (intptr_t i = 2; i < rank; i++)
    target[i] = mlirShapedTypeGetDimSize(mlirValueGetType(x), i);
  MlirValue factors[] = {
      reshape(op, mlirOperationGetOperand(op, 1), 2, weights, tensor(op, 2, weights)),
      reshape(op, x, 3, flat_target, tensor(op, 3, flat))};
  MlirStringRef name = onnx_node_name(op);
  MlirNamedAttribute node =
      named(op, "onnx_node_name", mlirStringAttrGet(mlirOperationGetContext(op), name));
  MlirValue r =
      make(op, "onnx.MatMul", 2, factors, name.length ? &node : NULL, tensor(op, 3, product));
  if (!mlirValueIsNull(b)) {
    MlirValue terms[] = {r, reshape(op, b, 2, column, tensor(op, 2, column))};
    r = make(op, "onnx.Add", 2, terms, NULL, tensor(op, 3, product));
  }
  mlirValueReplaceAllUsesOfWith(y, reshape(op, r, rank, target, mlirValueGetType(y)));
  mlirxReportHit(o->pass, "conv-1x1");
}

static MlirLogicalResult visit(MlirOperation op, void *user) {
  struct optimizer *o = user;
  struct product p;
  if (is_product(o, op, &p))
    rewrite(o, op, &p);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult optimize(MlirOperation function, void *user) {
  struct optimizer *o = user;
  o->scope = view_scope_create(function, VIEW_VERIFY, str(""));
  MlirLogicalResult ok = walk_ops(function, visit, o);
  view_scope_destroy(o->scope);
  erase_dead_ops(function);
  return ok;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct optimizer o = {.pass = pass};
  return for_each_function(op, optimize, &o);
}

const MlirxPassDescriptor onnx_conv_opt_pass = {.argument = "conv-opt-onnx",
                                                .description = "Turn 1x1 Conv into MatMul",
                                                .report = true,
                                                .run = run};
