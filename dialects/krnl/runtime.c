//===- runtime.c - Entry points, calls, scalar functions, strings and sequences -------------===//
//
// Ops in generic form. Which runtime functions they become is the business of the lowerings.
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/internal.h"

static MlirLogicalResult check_string(MlirOperation op, const char *name) {
  MlirAttribute a = attr(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return mlirxEmitError(op, "expected a string attribute '%s'", name);
  return ok();
}

static MlirLogicalResult verify_entry_point(MlirOperation op) {
  TRY(krnl_check_counts(op, 0, 0));
  MlirAttribute func = attr(op, "func");
  if (mlirAttributeIsNull(func) || !mlirAttributeIsASymbolRef(func))
    return mlirxEmitError(op, "expected a symbol attribute 'func'");
  const char *const numbers[] = {"numInputs", "numOutputs"};
  for (int i = 0; i < 2; ++i) {
    MlirAttribute a = attr(op, numbers[i]);
    if (!mlirAttributeIsNull(a) &&
        (!mlirAttributeIsAInteger(a) || mlirIntegerAttrGetValueInt(a) < 0))
      return mlirxEmitError(op, "attribute '%s': expected a number", numbers[i]);
  }
  MlirAttribute signature = attr(op, "signature");
  if (!mlirAttributeIsNull(signature) && !mlirAttributeIsAString(signature))
    return mlirxEmitError(op, "attribute 'signature': expected a string");
  return ok();
}

static const char *const entry_attrs[] = {"func", "numInputs", "numOutputs", "signature", NULL};
const MlirxOp krnl_entry_point = {
    .name = "krnl.entry_point", .attrNames = entry_attrs, .verify = verify_entry_point};

static MlirLogicalResult verify_call(MlirOperation op) {
  TRY(check_string(op, "funcName"));
  int64_t outputs = krnl_int_attr(op, "numOfOutput", 1);
  if (outputs < 0 || outputs > mlirOperationGetNumOperands(op))
    return mlirxEmitError(op, "numOfOutput: expected a number of operands, found %lld",
                          (long long)outputs);
  return ok();
}

static const char *const call_attrs[] = {"funcName", "numOfOutput", NULL};
const MlirxOp krnl_call = {.name = "krnl.call", .attrNames = call_attrs, .verify = verify_call};

static MlirLogicalResult verify_no_value(MlirOperation op) {
  TRY(krnl_check_counts(op, 0, 1));
  MlirType t = mlirValueGetType(mlirOperationGetResult(op, 0));
  return mlirTypeIsANone(t)
             ? ok()
             : mlirxEmitError(op, "result: expected none, found %s", krnl_type_text(t));
}

static const char *const value_attrs[] = {"value", NULL};
const MlirxOp krnl_no_value = {.name = "krnl.noValue",
                               .traits = MLIRX_PURE,
                               .attrNames = value_attrs,
                               .verify = verify_no_value};

//===----------------------------------------------------------------------===//
// Scalar functions: float in, float out of the same type (or i1)
//===----------------------------------------------------------------------===//

static bool is_float(MlirType t) {
  return mlirTypeIsAFloat(mlirTypeIsAVector(t) ? mlirShapedTypeGetElementType(t) : t);
}

static MlirLogicalResult verify_scalar_function(MlirOperation op) {
  TRY(krnl_check_counts(op, 1, 1));
  MlirType in = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType out = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!is_float(in))
    return mlirxEmitError(op, "operand: expected a float, found %s", krnl_type_text(in));
  if (!mlirTypeEqual(in, out))
    return mlirxEmitError(op, "result: expected %s, the operand's type, found %s",
                          krnl_type_text(in), krnl_type_text(out));
  return ok();
}

static MlirLogicalResult verify_classification(MlirOperation op) {
  TRY(krnl_check_counts(op, 1, 1));
  MlirType in = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType out = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!is_float(in))
    return mlirxEmitError(op, "operand: expected a float, found %s", krnl_type_text(in));
  if (!mlirTypeIsAInteger(out) || mlirIntegerTypeGetWidth(out) != 1)
    return mlirxEmitError(op, "result: expected i1, found %s", krnl_type_text(out));
  return ok();
}

#define SCALAR_FUNCTIONS(X)                                                                        \
  X(erf, erf)                                                                                      \
  X(acos, acos)                                                                                    \
  X(acosh, acosh) X(asin, asin) X(asinh, asinh) X(atan, atan) X(atanh, atanh) X(tan, tan)          \
      X(sinh, sinh) X(cosh, cosh) X(tanh, tanh) X(exp, exp) X(log, log) X(round_even, roundeven)

// data: the op of math that does the same.
#define DEFINE_SCALAR(n, math)                                                                     \
  static const MlirxOp krnl_##n = {.name = "krnl." #n,                                             \
                                   .traits = MLIRX_PURE,                                           \
                                   .data = "math." #math,                                          \
                                   .verify = verify_scalar_function};
SCALAR_FUNCTIONS(DEFINE_SCALAR)

const char *krnl_math_name(MlirOperation op) {
  const MlirxOp *d = mlirxOperationGetDescriptor(op);
  return d && d->verify == verify_scalar_function ? d->data : NULL;
}

static const char *const isinf_attrs[] = {"detectPosInf", "detectNegInf", NULL};
const MlirxOp krnl_isinf = {.name = "krnl.isinf",
                            .traits = MLIRX_PURE,
                            .attrNames = isinf_attrs,
                            .verify = verify_classification};
const MlirxOp krnl_isnan = {
    .name = "krnl.isnan", .traits = MLIRX_PURE, .verify = verify_classification};

//===----------------------------------------------------------------------===//
// Sequences, strings and what else is a call of the runtime
//===----------------------------------------------------------------------===//

struct shape_of_op { // operands at least, results
  int operands, results;
};

static MlirLogicalResult verify_counts(MlirOperation op) {
  const struct shape_of_op *shape = mlirxOperationGetDescriptor(op)->data;
  if (mlirOperationGetNumOperands(op) < shape->operands)
    return mlirxEmitError(op, "expected %d operands at least, found %d", shape->operands,
                          (int)mlirOperationGetNumOperands(op));
  return krnl_check_counts(op, -1, shape->results);
}

#define RUNTIME_OPS(X)                                                                             \
  X(seqalloc, 0, 1)                                                                                \
  X(seqdealloc, 1, 0)                                                                              \
  X(seqextract, 2, 1) X(seqinsert, 3, 1) X(seqstore, 3, 0) X(strlen, 1, 1) X(strncmp, 3, 1)        \
      X(find_index, 3, 1) X(random_normal, 5, 0) X(print, 0, 0) X(print_tensor, 1, 0)              \
          X(runtime_instrument, 0, 0)

#define DEFINE_RUNTIME(n, in, out)                                                                 \
  static const struct shape_of_op shape_##n = {in, out};                                           \
  static const MlirxOp krnl_##n = {.name = "krnl." #n, .data = &shape_##n, .verify = verify_counts};
RUNTIME_OPS(DEFINE_RUNTIME)

#define ADDRESS(n, ...) &krnl_##n,
const MlirxOp *const krnl_runtime_ops[] = {
    &krnl_entry_point, &krnl_call,  &krnl_no_value,
    &krnl_isinf,       &krnl_isnan, SCALAR_FUNCTIONS(ADDRESS) RUNTIME_OPS(ADDRESS) NULL};
