// com.microsoft: fused activations, normalizations, convolutions and products.
//
// What they compute is described in onnxruntime's ContribOperators.md; each has its own names for
// the inputs, given here in order.
#include "passes/onnx/decompose.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static MlirValue gelu(composite *c, MlirValue x, const char *approximate) {
  const onnx_named attrs[] = {{"approximate", string_value(c, approximate)}, {0}};
  return call(c, "Gelu", elem_type(x), 1, &x, attrs);
}

static MlirLogicalResult one_result(composite *c, MlirValue v) {
  return replace_results(c, 1, &v);
}

// Gelu(X)
static MlirLogicalResult exact_gelu(composite *c) {
  return one_result(c, gelu(c, in(c, 0), "none"));
}

// BiasGelu(A, B)
static MlirLogicalResult bias_gelu(composite *c) {
  return one_result(c, gelu(c, binary(c, "Add", in(c, 0), in(c, 1)), "none"));
}

// FastGelu(X, bias?): the tanh form
static MlirLogicalResult fast_gelu(composite *c) {
  MlirValue x = has(c, 1) ? binary(c, "Add", in(c, 0), in(c, 1)) : in(c, 0);
  return one_result(c, gelu(c, x, "tanh"));
}

// QuickGelu(X): x * sigmoid(alpha * x)
static MlirLogicalResult quick_gelu(composite *c) {
  MlirValue x = in(c, 0), alpha = number(c, elem_type(x), float_attr(c->op, "alpha", 1.702));
  return one_result(c, binary(c, "Mul", x, unary(c, "Sigmoid", binary(c, "Mul", x, alpha))));
}

// BiasSplitGelu(X, bias): halves of the last axis, the first times gelu of the second
static MlirLogicalResult bias_split_gelu(composite *c) {
  int64_t channels = size_of(in(c, 1), 0);
  if (channels <= 0 || channels % 2)
    return failure();
  MlirValue x = binary(c, "Add", in(c, 0), in(c, 1));
  MlirValue left = slice(c, x, -1, 0, channels / 2),
            right = slice(c, x, -1, channels / 2, channels);
  return one_result(c, binary(c, "Mul", left, gelu(c, right, "none")));
}

// BiasAdd(X, bias, skip)
static MlirLogicalResult bias_add(composite *c) {
  return one_result(c, binary(c, "Add", binary(c, "Add", in(c, 0), in(c, 1)), in(c, 2)));
}

//===----------------------------------------------------------------------===//
// Convolution and products
//===----------------------------------------------------------------------===//

// Attribute k of `names` where the op has it.
static void keep(const composite *c, const char *const *names, onnx_named *out) {
  int n = 0;
  for (; *names; names++) {
    MlirAttribute a = attribute(c->op, *names);
    if (!mlirAttributeIsNull(a))
      out[n++] = (onnx_named){*names, a};
  }
  out[n] = (onnx_named){0};
}

static double parameter(const composite *c, const char *list, intptr_t i, double otherwise) {
  MlirAttribute a = attribute(c->op, list);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAArray(a) || i >= mlirArrayAttrGetNumElements(a) ||
      !mlirAttributeIsAFloat(mlirArrayAttrGetElement(a, i)))
    return otherwise;
  return mlirFloatAttrGetValueDouble(mlirArrayAttrGetElement(a, i));
}

// FusedConv(X, W, B?, Z?): Conv, plus Z, then an activation
static MlirLogicalResult fused_conv(composite *c) {
  static const char *const names[] = {"auto_pad",       "dilations", "group",   "kernel_shape",
                                      "onnx_node_name", "pads",      "strides", NULL};
  onnx_named attrs[8];
  int kind = activation_kind(attribute(c->op, "activation"));
  if (kind == UNKNOWN_ACTIVATION)
    return failure();
  keep(c, names, attrs);
  MlirValue operands[] = {in(c, 0), in(c, 1), in(c, 2)};
  MlirValue y = call(c, "Conv", elem_type(in(c, 0)), has(c, 2) ? 3 : 2, operands, attrs);
  if (has(c, 3))
    y = binary(c, "Add", y, in(c, 3));
  return one_result(c, activation(c, y, kind, parameter(c, "activation_params", 0, 0.01),
                                  parameter(c, "activation_params", 1, 0.0)));
}

// FusedGemm(A, B, C?)
static MlirLogicalResult fused_gemm(composite *c) {
  static const char *const names[] = {"alpha", "beta", "onnx_node_name", "transA", "transB", NULL};
  onnx_named attrs[8];
  int kind = activation_kind(attribute(c->op, "activation"));
  if (kind == UNKNOWN_ACTIVATION)
    return failure();
  keep(c, names, attrs);
  MlirValue operands[] = {in(c, 0), in(c, 1), in(c, 2)};
  MlirValue y = call(c, "Gemm", elem_type(in(c, 0)), has(c, 2) ? 3 : 2, operands, attrs);
  return one_result(c, activation(c, y, kind, float_attr(c->op, "activation_alpha", 0.01),
                                  float_attr(c->op, "activation_beta", 0.0)));
}

// The last two axes of a matrix or a batch of them change places; null where the rank is not known.
static MlirValue transpose_matrix(composite *c, MlirValue x) {
  int64_t perm[ONYX_MAX_RANK], rank = rank_of(x);
  if (rank < 2)
    return rank == 1 ? x : (MlirValue){0};
  for (int64_t i = 0; i < rank; i++)
    perm[i] = i;
  perm[rank - 2] = rank - 1;
  perm[rank - 1] = rank - 2;
  return transpose(c, x, (int)rank, perm);
}

// FusedMatMul(A, B): alpha * A' * B'; the batch axis of a transposed batch comes last but one
static MlirLogicalResult fused_matmul(composite *c) {
  MlirValue a = in(c, 0), b = in(c, 1);
  if (int_attr(c->op, "transBatchA", 0) || int_attr(c->op, "transBatchB", 0))
    return failure();
  bool trans_a = int_attr(c->op, "transA", 0), trans_b = int_attr(c->op, "transB", 0);
  if ((trans_a && rank_of(a) < 1) || (trans_b && rank_of(b) < 1))
    return failure();
  a = trans_a ? transpose_matrix(c, a) : a;
  b = trans_b ? transpose_matrix(c, b) : b;
  MlirValue y = binary(c, "MatMul", a, b);
  double alpha = float_attr(c->op, "alpha", 1.0);
  return one_result(c, alpha == 1.0 ? y : binary(c, "Mul", y, number(c, elem_type(y), alpha)));
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

// LayerNormalization over the last axis: output, and mean and inverse deviation where they are
// asked for.
static void layer_norm(composite *c, MlirValue x, MlirValue scale, MlirValue shift, double epsilon,
                       MlirValue *results) {
  MlirValue operands[] = {x, scale, shift};
  MlirType any = mlirUnrankedTensorTypeGet(elem_type(x)),
           f32 = mlirUnrankedTensorTypeGet(mlirF32TypeGet(c->b.ctx));
  MlirOperationState state =
      mlirOperationStateGet(str("onnx.LayerNormalization"), mlirOperationGetLocation(c->op));
  mlirOperationStateAddOperands(&state, mlirValueIsNull(shift) ? 2 : 3, operands);
  MlirType types[] = {any, f32, f32};
  mlirOperationStateAddResults(&state, 3, types);
  MlirNamedAttribute attrs[] = {
      mlirNamedAttributeGet(mlirIdentifierGet(c->b.ctx, str("axis")), int_value(c, -1)),
      mlirNamedAttributeGet(mlirIdentifierGet(c->b.ctx, str("epsilon")), float_value(c, epsilon))};
  mlirOperationStateAddAttributes(&state, 2, attrs);
  MlirOperation op = mlirOperationCreate(&state);
  mlirRewriterBaseInsert(c->b.rw, op);
  for (int i = 0; i < 3; i++)
    results[i] = mlirOperationGetResult(op, i);
}

static MlirValue rms_norm(composite *c, MlirValue x, MlirValue scale, int64_t axis,
                          double epsilon) {
  MlirValue operands[] = {x, scale};
  const onnx_named attrs[] = {
      {"axis", int_value(c, axis)}, {"epsilon", float_value(c, epsilon)}, {0}};
  return call(c, "RMSNormalization", elem_type(x), 2, operands, attrs);
}

// SkipLayerNormalization(input, skip, gamma, beta?, bias?): results output, mean, inv_std_var, sum
static MlirLogicalResult skip_layer_norm(composite *c) {
  MlirValue sum = binary(c, "Add", in(c, 0), in(c, 1)), results[4];
  if (has(c, 4))
    sum = binary(c, "Add", sum, in(c, 4));
  layer_norm(c, sum, in(c, 2), in(c, 3), float_attr(c->op, "epsilon", 1e-12), results);
  results[3] = sum;
  return replace_results(c, 4, results);
}

// SkipSimplifiedLayerNormalization(input, skip, gamma, bias?)
static MlirLogicalResult skip_rms_norm(composite *c) {
  MlirValue sum = binary(c, "Add", in(c, 0), in(c, 1));
  if (has(c, 3))
    sum = binary(c, "Add", sum, in(c, 3));
  MlirValue results[] = {
      rms_norm(c, sum, in(c, 2), -1, float_attr(c->op, "epsilon", 1e-12)), {0}, {0}, sum};
  return replace_results(c, 4, results);
}

// SimplifiedLayerNormalization(X, scale): the root of the mean square, no mean
static MlirLogicalResult simplified_layer_norm(composite *c) {
  return one_result(c, rms_norm(c, in(c, 0), in(c, 1), int_attr(c->op, "axis", -1),
                                float_attr(c->op, "epsilon", 1e-5)));
}

// EmbedLayerNormalization(input_ids, segment_ids?, word, position, segment?, gamma, beta, mask?,
// position_ids?): results output, mask_index, embedding_sum
static MlirLogicalResult embed_layer_norm(composite *c) {
  MlirValue ids = in(c, 0), word = in(c, 2), position = in(c, 3), results[3];
  const onnx_named rows[] = {{"axis", int_value(c, 0)}, {0}};
  MlirType elem = elem_type(word);
  MlirValue sum = call(c, "Gather", elem, 2, (MlirValue[]){word, ids}, rows), place;
  if (has(c, 8)) {
    place = call(c, "Gather", elem, 2, (MlirValue[]){position, in(c, 8)}, rows);
  } else { // the first rows, as many as there are ids in a sequence
    const int64_t zero = 0;
    MlirValue start = ints(c, 1, &zero), operands[] = {position, start, sizes(c, ids, 1, 2), start};
    place = call(c, "Slice", elem, 4, operands, NULL);
  }
  sum = binary(c, "Add", sum, place);
  if (has(c, 1) && has(c, 4))
    sum =
        binary(c, "Add", sum, call(c, "Gather", elem, 2, (MlirValue[]){in(c, 4), in(c, 1)}, rows));
  MlirValue norm[3], counts = {0};
  layer_norm(c, sum, in(c, 5), in(c, 6), float_attr(c->op, "epsilon", 1e-12), norm);
  MlirType i32 = mlirIntegerTypeGet(c->b.ctx, 32);
  const int64_t last = 1;
  const onnx_named flat[] = {{"keepdims", int_value(c, 0)}, {0}};
  if (wanted(c, 1) && has(c, 7)) // how many ones each mask has
    counts =
        call(c, "ReduceSum", i32, 2,
             (MlirValue[]){
                 cast(c, compare(c, "Equal", in(c, 7), scalar_int(c, elem_type(in(c, 7)), 1)), i32),
                 ints(c, 1, &last)},
             flat);
  else if (wanted(c, 1)) { // without a mask: zeros
    const onnx_named zero[] = {{"value", mlirDenseElementsAttrSplatGet(tensor_type(i32, 1, &last),
                                                                       mlirIntegerAttrGet(i32, 0))},
                               {0}};
    MlirValue batch = sizes(c, ids, 0, 1);
    counts = call(c, "ConstantOfShape", i32, 1, &batch, zero);
  }
  results[0] = norm[0];
  results[1] = counts;
  results[2] = sum;
  return replace_results(c, 3, results);
}

const decompose_rule decompose_rules_contrib[] = {
    {MICROSOFT, "Gelu", exact_gelu},
    {MICROSOFT, "BiasGelu", bias_gelu},
    {MICROSOFT, "FastGelu", fast_gelu},
    {MICROSOFT, "QuickGelu", quick_gelu},
    {MICROSOFT, "BiasSplitGelu", bias_split_gelu},
    {MICROSOFT, "BiasAdd", bias_add},
    {MICROSOFT, "FusedConv", fused_conv},
    {MICROSOFT, "FusedGemm", fused_gemm},
    {MICROSOFT, "FusedMatMul", fused_matmul},
    {MICROSOFT, "TransposeMatMul", fused_matmul},
    {MICROSOFT, "SkipLayerNormalization", skip_layer_norm},
    {MICROSOFT, "SkipSimplifiedLayerNormalization", skip_rms_norm},
    {ANY_DOMAIN, "SimplifiedLayerNormalization", simplified_layer_norm},
    {MICROSOFT, "EmbedLayerNormalization", embed_layer_norm},
    {0}};
