// Operators that move elements or rename shapes: what does nothing goes, chains become one.
#include "dialects/onnx/rules.h"

//===----------------------------------------------------------------------===//
// Renaming: Reshape, Squeeze, Unsqueeze, Flatten
//===----------------------------------------------------------------------===//

// Static shape in, the same static shape out: nothing is renamed. A chain that returns to its first
// shape is undone in the same way.
static MlirLogicalResult renaming_chain(MlirOperation op, MlirRewriterBase rw) {
  MlirValue out = result(op, 0), in = operand(op, 0);
  if (!is_static(type_of(out)))
    return failure();
  for (int depth = 0; depth < 8; depth++) {
    if (same_type(in, out))
      return replace_by_value(op, rw, in);
    MlirOperation before = defined_by_renaming(in);
    if (mlirOperationIsNull(before))
      return failure();
    in = operand(before, 0);
  }
  return failure();
}

// A target without 0 (which copies a dim of the input) does not care what the elements were called
// before.
static bool copies_dims(MlirOperation reshape) {
  int64_t target[ONYX_MAX_RANK];
  int n = constant_ints(operand(reshape, 1), target, ONYX_MAX_RANK);
  if (n < 0)
    return true;
  for (int i = 0; i < n; i++)
    if (target[i] == 0)
      return true;
  return false;
}

static MlirLogicalResult reshape_of_renaming(MlirOperation op, MlirRewriterBase rw) {
  MlirOperation before = defined_by_renaming(operand(op, 0));
  if (mlirOperationIsNull(before) || copies_dims(op))
    return failure();
  MlirValue operands[] = {operand(before, 0), operand(op, 1)};
  return replace_by_op(op, rw, "Reshape", 2, operands, 1);
}

// A Reshape to a known shape says so by its target: computing it is not needed, and zeros and -1
// are gone.
static MlirLogicalResult reshape_to_static(MlirOperation op, MlirRewriterBase rw) {
  MlirType type = type_of(result(op, 0));
  if (!is_static(type) || is_constant(operand(op, 1)) || int_attr(op, "allowzero", 0))
    return failure();
  int64_t shape[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; i++)
    if ((shape[i] = mlirShapedTypeGetDimSize(type, i)) == 0)
      return failure();
  onnx_builder b = builder_at(rw, op);
  MlirValue operands[] = {operand(op, 0), make_ints(&b, (int)rank, shape)};
  return replace_by_op(op, rw, "Reshape", 2, operands, 1);
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

// The permutation; the default reverses. -1 where the rank is not known.
static int permutation(MlirOperation op, int64_t *perm) {
  int n = ints_attr(op, "perm", perm, ONYX_MAX_RANK);
  int64_t rank = rank_of(operand(op, 0));
  if (n >= 0)
    return n;
  if (rank < 0 || rank > ONYX_MAX_RANK)
    return -1;
  for (int64_t i = 0; i < rank; i++)
    perm[i] = rank - 1 - i;
  return (int)rank;
}

static MlirLogicalResult transpose_identity(MlirOperation op, MlirRewriterBase rw) {
  int64_t perm[ONYX_MAX_RANK];
  int n = permutation(op, perm);
  for (int i = 0; i < n; i++)
    if (perm[i] != i)
      return failure();
  return n < 0 ? failure() : replace_by_value(op, rw, operand(op, 0));
}

static MlirLogicalResult transpose_of_transpose(MlirOperation op, MlirRewriterBase rw) {
  MlirOperation before = defined_by(operand(op, 0), "Transpose");
  int64_t first[ONYX_MAX_RANK], second[ONYX_MAX_RANK], both[ONYX_MAX_RANK];
  if (mlirOperationIsNull(before))
    return failure();
  int n = permutation(before, first);
  if (n < 0 || permutation(op, second) != n)
    return failure();
  for (int i = 0; i < n; i++) {
    if (second[i] < 0 || second[i] >= n)
      return failure();
    both[i] = first[second[i]];
  }
  onnx_builder b = builder_at(rw, op);
  MlirValue x = operand(before, 0);
  const onnx_named attrs[] = {{"perm", ints_array(b.ctx, n, both)}, {0}};
  return replace_by_value(op, rw, make_op(&b, "Transpose", type_of(result(op, 0)), 1, &x, attrs));
}

// A Transpose that moves axes of size 1 only leaves every element in its place.
static MlirLogicalResult transpose_of_ones(MlirOperation op, MlirRewriterBase rw) {
  MlirValue x = operand(op, 0);
  int64_t perm[ONYX_MAX_RANK], shape[ONYX_MAX_RANK], last = -1;
  int n = permutation(op, perm), dynamic = 0;
  MlirType type = type_of(result(op, 0));
  if (n < 1 || !mlirTypeIsARankedTensor(type) || rank_of(x) != n)
    return failure();
  for (int i = 0; i < n; i++) {
    if (perm[i] < 0 || perm[i] >= n)
      return failure();
    shape[i] = size_of(x, perm[i]);
    if (shape[i] == 0)
      return failure();
    dynamic += shape[i] < 0;
    if (shape[i] == 1)
      continue;
    if (perm[i] < last)
      return failure();
    last = perm[i];
  }
  if (dynamic > 1)
    return failure();
  onnx_builder b = builder_at(rw, op);
  MlirValue operands[] = {x, make_ints(&b, n, shape)};
  return replace_by_value(op, rw, make_op(&b, "Reshape", type, 2, operands, NULL));
}

//===----------------------------------------------------------------------===//
// What does nothing
//===----------------------------------------------------------------------===//

// Expand and Tile that keep a static shape copy each element to its own place.
static MlirLogicalResult same_shape(MlirOperation op, MlirRewriterBase rw) {
  MlirValue x = operand(op, 0);
  if (!is_static(type_of(x)) || !same_type(x, result(op, 0)))
    return failure();
  for (int64_t i = 0; i < rank_of(x); i++)
    if (size_of(x, i) == 0)
      return failure();
  return replace_by_value(op, rw, x);
}

// Slice (13) that keeps a static shape, unless it runs backwards.
static MlirLogicalResult slice_all(MlirOperation op, MlirRewriterBase rw) {
  MlirValue x = operand(op, 0), steps = onnx_operand_or_null(op, 4);
  int64_t step[ONYX_MAX_RANK];
  if (!is_static(type_of(x)) || !same_type(x, result(op, 0)))
    return failure();
  int n = mlirValueIsNull(steps) ? 0 : constant_ints(steps, step, ONYX_MAX_RANK);
  for (int i = 0; i < n; i++)
    if (step[i] != 1)
      return failure();
  return n < 0 ? failure() : replace_by_value(op, rw, x);
}

static MlirLogicalResult pad_nothing(MlirOperation op, MlirRewriterBase rw) {
  int64_t pads[ONYX_MAX_RANK * 2];
  int n = constant_ints(operand(op, 1), pads, ONYX_MAX_RANK * 2);
  for (int i = 0; i < n; i++)
    if (pads[i] != 0)
      return failure();
  return n < 0 ? failure() : replace_by_value(op, rw, operand(op, 0));
}

// Concat, Sum, Max, Min and Mean of one tensor.
static MlirLogicalResult one_operand(MlirOperation op, MlirRewriterBase rw) {
  return mlirOperationGetNumOperands(op) == 1 ? replace_by_value(op, rw, operand(op, 0))
                                              : failure();
}

// Dropout (13) without training: its input, and a mask of true that nobody wants here.
static MlirLogicalResult dropout(MlirOperation op, MlirRewriterBase rw) {
  MlirValue mode = onnx_operand_or_null(op, 2);
  if (!mlirValueIsNull(mode)) {
    MlirAttribute a = onnx_value_constant(mode);
    if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseElements(a) ||
        mlirElementsAttrGetNumElements(a) != 1 || mlirDenseElementsAttrGetBoolValue(a, 0))
      return failure();
  }
  intptr_t n = mlirOperationGetNumResults(op);
  if (is_unused(result(op, 0)) || (n > 1 && !is_unused(result(op, 1))))
    return failure();
  MlirValue x = operand(op, 0), values[] = {x, x};
  if (!same_type(x, result(op, 0)))
    return failure();
  if (n > 1) {
    onnx_builder b = builder_at(rw, op);
    values[1] = make_none(&b);
    if (!same_type(values[1], result(op, 1)))
      return mlirRewriterBaseReplaceAllUsesWith(rw, result(op, 0), x), success();
  }
  mlirRewriterBaseReplaceOpWithValues(rw, op, n, values);
  return success();
}

const onnx_rule onnx_rules_shape[] = {
    {"Reshape", "renaming-chain", renaming_chain},
    {"Squeeze", "renaming-chain", renaming_chain},
    {"Unsqueeze", "renaming-chain", renaming_chain},
    {"Flatten", "renaming-chain", renaming_chain},
    {"Reshape", "reshape-of-renaming", reshape_of_renaming},
    {"Reshape", "reshape-to-static", reshape_to_static},
    {"Transpose", "transpose-identity", transpose_identity},
    {"Transpose", "transpose-of-transpose", transpose_of_transpose},
    {"Transpose", "transpose-of-ones", transpose_of_ones},
    {"Expand", "same-shape", same_shape},
    {"Tile", "same-shape", same_shape},
    {"Slice", "slice-all", slice_all},
    {"Pad", "pad-nothing", pad_nothing},
    {"Concat", "one-operand", one_operand},
    {"Sum", "one-operand", one_operand},
    {"Max", "one-operand", one_operand},
    {"Min", "one-operand", one_operand},
    {"Mean", "one-operand", one_operand},
    {"Dropout", "dropout", dropout},
    {0}};
