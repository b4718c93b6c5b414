// Scalar laws that hold for every value, NaN, infinities and signed zeros included.
#include "dialects/onnx/rules.h"

#include <math.h>

// x * 1, x / 1, x - 0, x + -0: x itself, where broadcasting does not change its shape.
static MlirLogicalResult neutral(MlirOperation op, MlirRewriterBase rw, int side, double value) {
  double v;
  MlirValue x = operand(op, 1 - side);
  if (!constant_splat(operand(op, side), &v) || v != value || signbit(v) != signbit(value))
    return failure();
  if (!same_type(x, result(op, 0)))
    return failure();
  return replace_by_value(op, rw, x);
}

static MlirLogicalResult multiply_by_one(MlirOperation op, MlirRewriterBase rw) {
  return failed(neutral(op, rw, 1, 1.0)) ? neutral(op, rw, 0, 1.0) : success();
}
static MlirLogicalResult divide_by_one(MlirOperation op, MlirRewriterBase rw) {
  return neutral(op, rw, 1, 1.0);
}
static MlirLogicalResult subtract_zero(MlirOperation op, MlirRewriterBase rw) {
  return neutral(op, rw, 1, 0.0);
}
static MlirLogicalResult add_zero(MlirOperation op, MlirRewriterBase rw) {
  return failed(neutral(op, rw, 1, -0.0)) ? neutral(op, rw, 0, -0.0) : success();
}

// Pow with exponent 1 or 2: C's pow(x, 2) is x * x rounded once, as the product is.
static MlirLogicalResult small_power(MlirOperation op, MlirRewriterBase rw) {
  double exponent;
  MlirValue x = operand(op, 0);
  onyx_elem elem = elem_of(x);
  if (!constant_splat(operand(op, 1), &exponent) || (elem != ONYX_F32 && elem != ONYX_F64) ||
      !same_type(x, result(op, 0)))
    return failure();
  if (exponent == 1.0)
    return replace_by_value(op, rw, x);
  if (exponent != 2.0)
    return failure();
  MlirValue operands[] = {x, x};
  onnx_builder b = builder_at(rw, op);
  MlirAttribute name = attribute(op, "onnx_node_name");
  const onnx_named attrs[] = {{mlirAttributeIsNull(name) ? NULL : "onnx_node_name", name}, {0}};
  return replace_by_value(op, rw, make_op(&b, "Mul", type_of(x), 2, operands, attrs));
}

// f(f(x)) = x for Neg and Not, and f(x) for Relu, Abs, Floor, Ceil, Round and Sign.
static MlirLogicalResult involution(MlirOperation op, MlirRewriterBase rw) {
  MlirOperation before = defined_by(operand(op, 0), onnx_schema_of(op)->name);
  return mlirOperationIsNull(before) ? failure() : replace_by_value(op, rw, operand(before, 0));
}
static MlirLogicalResult idempotent(MlirOperation op, MlirRewriterBase rw) {
  MlirOperation before = defined_by(operand(op, 0), onnx_schema_of(op)->name);
  return mlirOperationIsNull(before) ? failure() : replace_by_value(op, rw, operand(op, 0));
}

// Does every value of `from` survive in `to`?
static bool keeps_all_values(onyx_elem from, onyx_elem to) {
  int small = onyx_elem_bits(from), large = onyx_elem_bits(to);
  if (from == ONYX_BOOL)
    return onyx_elem_is_int(to) || onyx_elem_is_float(to);
  if (onyx_elem_is_int(from) && onyx_elem_is_int(to))
    return large > small && (onyx_elem_is_signed(to) || onyx_elem_is_unsigned(from));
  if (onyx_elem_is_int(from))
    return (to == ONYX_F64 && small <= 32) || (to == ONYX_F32 && small <= 16) ||
           (to == ONYX_F16 && small <= 8);
  if (from == ONYX_F16 || from == ONYX_BF16)
    return to == ONYX_F32 || to == ONYX_F64;
  return from == ONYX_F32 && to == ONYX_F64;
}

// A cast to a wider type and back. Only between types that hold NaN and infinities alike.
static MlirLogicalResult cast_and_back(MlirOperation op, MlirRewriterBase rw) {
  MlirOperation before = defined_by(operand(op, 0), "Cast");
  if (mlirOperationIsNull(before))
    return failure();
  MlirValue x = operand(before, 0);
  if (elem_of(x) != elem_of(result(op, 0)) ||
      !keeps_all_values(elem_of(x), elem_of(operand(op, 0))))
    return failure();
  return replace_by_value(op, rw, x);
}

const onnx_rule onnx_rules_math[] = {{"Mul", "multiply-by-one", multiply_by_one},
                                     {"Div", "divide-by-one", divide_by_one},
                                     {"Sub", "subtract-zero", subtract_zero},
                                     {"Add", "add-zero", add_zero},
                                     {"Pow", "small-power", small_power},
                                     {"Neg", "involution", involution},
                                     {"Not", "involution", involution},
                                     {"Relu", "idempotent", idempotent},
                                     {"Abs", "idempotent", idempotent},
                                     {"Floor", "idempotent", idempotent},
                                     {"Ceil", "idempotent", idempotent},
                                     {"Round", "idempotent", idempotent},
                                     {"Sign", "idempotent", idempotent},
                                     {"Cast", "cast-and-back", cast_and_back},
                                     {0}};
