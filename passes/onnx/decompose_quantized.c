// com.microsoft: operators over quantized tensors, through the standard's DequantizeLinear and
// QuantizeLinear, and MatMulNBits through its unpacked weights.
#include "passes/onnx/decompose.h"

static MlirLogicalResult one_result(composite *c, MlirValue v) {
  return replace_results(c, 1, &v);
}

// (x - zero point) * scale of inputs i, i + 1, i + 2
static MlirValue dequantize(composite *c, int i) {
  MlirValue operands[] = {in(c, i), in(c, i + 1), in(c, i + 2)};
  return call(c, "DequantizeLinear", elem_type(operands[1]), has(c, i + 2) ? 3 : 2, operands, NULL);
}

// The result in the type of x, with the scale and zero point of inputs i and i + 1
static MlirLogicalResult quantize(composite *c, MlirValue y, MlirValue x, int i) {
  // Without a zero point the standard quantizes to u8.
  MlirValue zero = has(c, i + 1) ? in(c, i + 1) : scalar_int(c, elem_type(x), 0);
  MlirValue operands[] = {y, in(c, i), zero};
  return one_result(c, call(c, "QuantizeLinear", elem_type(x), 3, operands, NULL));
}

// QLinearAdd(A, A_scale, A_zero, B, B_scale, B_zero, C_scale, C_zero), QLinearMul the same
static MlirLogicalResult qlinear_add(composite *c) {
  return quantize(c, binary(c, "Add", dequantize(c, 0), dequantize(c, 3)), in(c, 0), 6);
}
static MlirLogicalResult qlinear_mul(composite *c) {
  return quantize(c, binary(c, "Mul", dequantize(c, 0), dequantize(c, 3)), in(c, 0), 6);
}

// QLinearSigmoid(X, X_scale, X_zero, Y_scale, Y_zero), QLinearLeakyRelu the same
static MlirLogicalResult qlinear_sigmoid(composite *c) {
  return quantize(c, unary(c, "Sigmoid", dequantize(c, 0)), in(c, 0), 3);
}
static MlirLogicalResult qlinear_leaky_relu(composite *c) {
  MlirValue x = dequantize(c, 0);
  const onnx_named attrs[] = {{"alpha", float_value(c, float_attr(c->op, "alpha", 0.01))}, {0}};
  return quantize(c, call(c, "LeakyRelu", elem_type(x), 1, &x, attrs), in(c, 0), 3);
}

// QLinearGlobalAveragePool(X, X_scale, X_zero, Y_scale, Y_zero)
static MlirLogicalResult qlinear_global_average_pool(composite *c) {
  if (int_attr(c->op, "channels_last", 0))
    return failure();
  return quantize(c, unary(c, "GlobalAveragePool", dequantize(c, 0)), in(c, 0), 3);
}

// QLinearAveragePool, the same inputs
static MlirLogicalResult qlinear_average_pool(composite *c) {
  static const char *const names[] = {"auto_pad",     "ceil_mode", "count_include_pad",
                                      "kernel_shape", "pads",      "strides"};
  onnx_named attrs[7];
  int n = 0;
  if (int_attr(c->op, "channels_last", 0))
    return failure();
  for (int i = 0; i < 6; i++) {
    MlirAttribute a = attribute(c->op, names[i]);
    if (!mlirAttributeIsNull(a))
      attrs[n++] = (onnx_named){names[i], a};
  }
  attrs[n] = (onnx_named){0};
  MlirValue x = dequantize(c, 0);
  return quantize(c, call(c, "AveragePool", elem_type(x), 1, &x, attrs), in(c, 0), 3);
}

// QLinearConcat(Y_scale, Y_zero, then X, X_scale, X_zero of each)
static MlirLogicalResult qlinear_concat(composite *c) {
  MlirValue parts[64];
  int n = ((int)mlirOperationGetNumOperands(c->op) - 2) / 3;
  if (n < 1 || n > 64)
    return failure();
  for (int i = 0; i < n; i++)
    parts[i] = dequantize(c, 2 + 3 * i);
  return quantize(c, concat(c, n, parts, int_attr(c->op, "axis", 0)), in(c, 2), 0);
}

// QLinearSoftmax(X, X_scale, X_zero?, Y_scale, Y_zero); before opset 13 it flattens
static MlirLogicalResult qlinear_softmax(composite *c) {
  int64_t axis = int_attr(c->op, "axis", -1);
  if (int_attr(c->op, "opset", 13) < 13 && axis != -1 && axis != rank_of(in(c, 0)) - 1)
    return failure();
  MlirValue x = dequantize(c, 0);
  const onnx_named attrs[] = {{"axis", int_value(c, axis)}, {0}};
  return quantize(c, call(c, "Softmax", elem_type(x), 1, &x, attrs), in(c, 0), 3);
}

// DequantizeLinear and QuantizeLinear of the domain: the standard's, with more element types
static MlirLogicalResult dequantize_linear(composite *c) {
  MlirValue operands[] = {in(c, 0), in(c, 1), in(c, 2)};
  const onnx_named attrs[] = {{"axis", int_value(c, int_attr(c->op, "axis", 1))}, {0}};
  return one_result(
      c, call(c, "DequantizeLinear", elem_type(in(c, 1)), has(c, 2) ? 3 : 2, operands, attrs));
}
static MlirLogicalResult quantize_linear(composite *c) {
  MlirValue operands[] = {in(c, 0), in(c, 1), in(c, 2)};
  const onnx_named attrs[] = {{"axis", int_value(c, int_attr(c->op, "axis", 1))}, {0}};
  MlirType elem = has(c, 2) ? elem_type(in(c, 2)) : mlirIntegerTypeUnsignedGet(c->b.ctx, 8);
  return one_result(c, call(c, "QuantizeLinear", elem, has(c, 2) ? 3 : 2, operands, attrs));
}

// The integer product of a and b, whose zero points may be null
static MlirValue integer_product(composite *c, MlirValue a, MlirValue b, MlirValue a_zero,
                                 MlirValue b_zero) {
  MlirType i32 = mlirIntegerTypeGet(c->b.ctx, 32);
  MlirValue missing = mlirValueIsNull(a_zero) ? none(c) : a_zero;
  MlirValue operands[] = {a, b, missing, b_zero};
  int n = !mlirValueIsNull(b_zero) ? 4 : !mlirValueIsNull(a_zero) ? 3 : 2;
  return call(c, "MatMulInteger", i32, n, operands, NULL);
}

// MatMulIntegerToFloat(A, B, a_scale, b_scale, a_zero?, b_zero?, bias?)
static MlirLogicalResult matmul_integer_to_float(composite *c) {
  MlirType elem = elem_type(in(c, 2));
  MlirValue y = cast(c, integer_product(c, in(c, 0), in(c, 1), in(c, 4), in(c, 5)), elem);
  y = binary(c, "Mul", y, binary(c, "Mul", in(c, 2), in(c, 3)));
  return one_result(c, has(c, 6) ? binary(c, "Add", y, in(c, 6)) : y);
}

// DynamicQuantizeMatMul(A, B, b_scale, b_zero?, bias?): A is quantized to u8 over its whole range
static MlirLogicalResult dynamic_quantize_matmul(composite *c) {
  MlirType elem = elem_type(in(c, 0)), any = mlirUnrankedTensorTypeGet(elem);
  MlirType u8 = mlirUnrankedTensorTypeGet(mlirIntegerTypeUnsignedGet(c->b.ctx, 8));
  MlirValue a = in(c, 0);
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.DynamicQuantizeLinear"), mlirOperationGetLocation(c->op));
  MlirType types[] = {u8, any, u8};
  mlirOperationStateAddOperands(&state, 1, &a);
  mlirOperationStateAddResults(&state, 3, types);
  MlirOperation quantized = mlirOperationCreate(&state);
  mlirRewriterBaseInsert(c->b.rw, quantized);
  MlirValue product =
      integer_product(c, result(quantized, 0), in(c, 1), result(quantized, 2), in(c, 3));
  MlirValue y =
      binary(c, "Mul", cast(c, product, elem), binary(c, "Mul", result(quantized, 1), in(c, 2)));
  return one_result(c, has(c, 4) ? binary(c, "Add", y, in(c, 4)) : y);
}

// n-bit numbers of a u8 tensor [.., bytes], low bits first, as [.., bytes * 8 / bits] of u8
static MlirValue unpack(composite *c, MlirValue bytes, int bits, int rank, const int64_t *shape) {
  MlirValue parts[4];
  MlirType u8 = mlirIntegerTypeUnsignedGet(c->b.ctx, 8);
  const onnx_named right[] = {{"direction", string_value(c, "RIGHT")}, {0}};
  const int64_t last = -1;
  for (int i = 0; i < 8 / bits; i++) {
    MlirValue shifted = bytes;
    if (i > 0)
      shifted =
          call(c, "BitShift", u8, 2, (MlirValue[]){bytes, scalar_int(c, u8, i * bits)}, right);
    shifted = binary(c, "BitwiseAnd", shifted, scalar_int(c, u8, (1 << bits) - 1));
    parts[i] = unsqueeze(c, shifted, 1, &last);
  }
  return reshape(c, concat(c, 8 / bits, parts, -1), rank, shape);
}

// MatMulNBits(A, B, scales, zero_points?, g_idx?, bias?): Y = A * W' with W[N, K] in blocks of
// block_size along K; each block has a scale and a zero point, by default the middle of the range.
static MlirLogicalResult matmul_nbits(composite *c) {
  int64_t k = int_attr(c->op, "K", 0), n = int_attr(c->op, "N", 0),
          bits = int_attr(c->op, "bits", 4);
  int64_t block = int_attr(c->op, "block_size", 0);
  MlirValue a = in(c, 0), scales = in(c, 2), zeros = in(c, 3);
  if (k <= 0 || n <= 0 || block <= 0 || (bits != 2 && bits != 4 && bits != 8) || has(c, 4))
    return failure();
  int64_t blocks = (k + block - 1) / block;
  if (k > INT32_MAX || n > INT32_MAX || block > INT32_MAX || block % (8 / bits))
    return failure();
  MlirType elem = elem_type(a);
  const int64_t whole[] = {n, blocks, block}, one_each[] = {n, blocks, 1},
                flat[] = {n, blocks * block};
  MlirValue w =
      bits == 8 ? reshape(c, in(c, 1), 3, whole) : unpack(c, in(c, 1), (int)bits, 3, whole);
  w = cast(c, w, elem);
  if (mlirValueIsNull(zeros)) {
    w = binary(c, "Sub", w, number(c, elem, (double)(1 << (bits - 1))));
  } else if (elem_of(zeros) == ONYX_U8 &&
             bits != 8) { // packed like the weights, each row in whole bytes
    int64_t in_row = (blocks * bits + 7) / 8, padded = in_row * 8 / bits;
    const int64_t rows[] = {n, in_row}, numbers[] = {n, padded};
    MlirValue z = unpack(c, reshape(c, zeros, 2, rows), (int)bits, 2, numbers);
    w = binary(c, "Sub", w, cast(c, reshape(c, slice(c, z, 1, 0, blocks), 3, one_each), elem));
  } else {
    w = binary(c, "Sub", w, cast(c, reshape(c, zeros, 3, one_each), elem));
  }
  w = reshape(c, binary(c, "Mul", w, reshape(c, cast(c, scales, elem), 3, one_each)), 2, flat);
  if (flat[1] != k)
    w = slice(c, w, 1, 0, k);
  const int64_t perm[] = {1, 0};
  MlirValue y = binary(c, "MatMul", a, transpose(c, w, 2, perm));
  return one_result(c, has(c, 5) ? binary(c, "Add", y, in(c, 5)) : y);
}

const decompose_rule decompose_rules_quantized[] = {
    {MICROSOFT, "QLinearAdd", qlinear_add},
    {MICROSOFT, "QLinearMul", qlinear_mul},
    {MICROSOFT, "QLinearSigmoid", qlinear_sigmoid},
    {MICROSOFT, "QLinearLeakyRelu", qlinear_leaky_relu},
    {MICROSOFT, "QLinearGlobalAveragePool", qlinear_global_average_pool},
    {MICROSOFT, "QLinearAveragePool", qlinear_average_pool},
    {MICROSOFT, "QLinearConcat", qlinear_concat},
    {MICROSOFT, "QLinearSoftmax", qlinear_softmax},
    {MICROSOFT, "DequantizeLinear", dequantize_linear},
    {MICROSOFT, "QuantizeLinear", quantize_linear},
    {MICROSOFT, "MatMulIntegerToFloat", matmul_integer_to_float},
    {MICROSOFT, "DynamicQuantizeMatMul", dynamic_quantize_matmul},
    {MICROSOFT, "MatMulNBits", matmul_nbits},
    {0}};
