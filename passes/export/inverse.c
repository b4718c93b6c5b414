// Inverse upgrades: what an op says in the words of an older version of its operator, where that
// version lacks an operand, an attribute or a name of a mode. They serve when an opset is asked for
// that is older than the one which expresses the op as it is.
#include "passes/export/export.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = EXPORT_INVERSE_MOST };

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static MlirAttribute attribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, str(name));
}

static bool read_int_attr(MlirOperation op, const char *name, int64_t *out) {
  MlirAttribute a = attribute(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a))
    return false;
  MlirType type = mlirAttributeGetType(a);
  *out = mlirTypeIsAInteger(type) && mlirIntegerTypeIsSigned(type) ? mlirIntegerAttrGetValueSInt(a)
                                                                   : mlirIntegerAttrGetValueInt(a);
  return true;
}

// Elements of a constant operand of i64 or i32; false when it is none or has more than MOST.
static bool read_ints(MlirValue v, int64_t *list, intptr_t *count) {
  MlirAttribute value = onnx_value_constant(v);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value))
    return false;
  MlirType elem = mlirShapedTypeGetElementType(mlirAttributeGetType(value));
  unsigned width = mlirTypeIsAInteger(elem) ? mlirIntegerTypeGetWidth(elem) : 0;
  int64_t n = mlirElementsAttrGetNumElements(value);
  if ((width != 64 && width != 32) || n > MOST)
    return false;
  bool splat = n > 0 && mlirDenseElementsAttrIsSplat(value);
  for (int64_t i = 0; i < n; i++)
    list[i] = width == 64 ? (splat ? mlirDenseElementsAttrGetInt64SplatValue(value)
                                   : mlirDenseElementsAttrGetInt64Value(value, i))
                          : (splat ? mlirDenseElementsAttrGetInt32SplatValue(value)
                                   : mlirDenseElementsAttrGetInt32Value(value, i));
  *count = n;
  return true;
}

static bool read_floats(MlirValue v, float *list, intptr_t *count) {
  MlirAttribute value = onnx_value_constant(v);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value) ||
      !mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirAttributeGetType(value))))
    return false;
  int64_t n = mlirElementsAttrGetNumElements(value);
  if (n > MOST)
    return false;
  bool splat = n > 0 && mlirDenseElementsAttrIsSplat(value);
  for (int64_t i = 0; i < n; i++)
    list[i] = splat ? mlirDenseElementsAttrGetFloatSplatValue(value)
                    : mlirDenseElementsAttrGetFloatValue(value, i);
  *count = n;
  return true;
}

// Rank of an operand, -1 when it is not known or more than half of MOST.
static intptr_t rank_of(MlirOperation op, intptr_t operand) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand));
  if (!mlirTypeIsATensor(type) || !mlirShapedTypeHasRank(type) ||
      mlirShapedTypeGetRank(type) > MOST / 2)
    return -1;
  return mlirShapedTypeGetRank(type);
}

static int64_t size_of(MlirOperation op, intptr_t axis) { // of operand 0; -1: not known
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  return mlirShapedTypeIsDynamicDim(type, axis) ? -1 : mlirShapedTypeGetDimSize(type, axis);
}

// Axes from the back as axes from the front, each once.
static bool normal_axes(int64_t *axes, intptr_t n, intptr_t rank) {
  for (intptr_t i = 0; i < n; i++) {
    axes[i] += axes[i] < 0 ? rank : 0;
    if (axes[i] < 0 || axes[i] >= rank)
      return false;
    for (intptr_t k = 0; k < i; k++)
      if (axes[k] == axes[i])
        return false;
  }
  return true;
}

// Split-18's num_outputs: parts of the rounded-up size, the last one what is left.
static bool split(MlirOperation op, struct export_inverse *out) {
  int64_t parts, axis = 0;
  intptr_t rank = rank_of(op, 0);
  read_int_attr(op, "axis", &axis);
  if (!read_int_attr(op, "num_outputs", &parts) || rank < 0 || !normal_axes(&axis, 1, rank) ||
      parts < 1 || parts > MOST)
    return false;
  int64_t size = size_of(op, axis), part = (size + parts - 1) / parts;
  if (size < 0 || part * (parts - 1) > size)
    return false;
  for (int64_t i = 0; i < parts; i++)
    out->ints[i] = i < parts - 1 ? part : size - part * (parts - 1);
  out->count = parts;
  out->replaced = 1;
  out->operands = 2;
  out->dropped[0] = "num_outputs";
  return true;
}

// Pad-18's axes: pads of all axes, 0 for those that are not named.
static bool pad(MlirOperation op, struct export_inverse *out) {
  int64_t axes[MOST], pads[MOST];
  intptr_t rank = rank_of(op, 0), n, count;
  if (mlirOperationGetNumOperands(op) < 4 || rank < 0 ||
      !read_ints(mlirOperationGetOperand(op, 3), axes, &n) ||
      !read_ints(mlirOperationGetOperand(op, 1), pads, &count) || count != 2 * n ||
      !normal_axes(axes, n, rank))
    return false;
  memset(out->ints, 0, sizeof out->ints);
  for (intptr_t i = 0; i < n; i++) {
    out->ints[axes[i]] = pads[i];
    out->ints[rank + axes[i]] = pads[n + i];
  }
  out->count = 2 * rank;
  out->replaced = 1;
  out->operands = onnx_is_none(mlirOperationGetOperand(op, 2)) ? 2 : 3;
  return true;
}

static bool is_default(MlirOperation op, const char *name, const char *text, int64_t number) {
  MlirAttribute a = attribute(op, name);
  int64_t value;
  if (mlirAttributeIsNull(a))
    return true;
  if (mlirAttributeIsAString(a))
    return text && mlirStringRefEqual(mlirStringAttrGetValue(a), str(text));
  return !text && read_int_attr(op, name, &value) && value == number;
}

static bool read_axes_attr(MlirOperation op, int64_t *axes, intptr_t *n, intptr_t rank) {
  MlirAttribute list = attribute(op, "axes");
  if (mlirAttributeIsNull(list)) {
    for (*n = 0; *n < rank; ++*n)
      axes[*n] = *n;
    return true;
  }
  *n = mlirArrayAttrGetNumElements(list);
  if (*n > rank)
    return false;
  for (intptr_t i = 0; i < *n; i++) {
    MlirAttribute x = mlirArrayAttrGetElement(list, i);
    if (!mlirAttributeIsAInteger(x))
      return false;
    axes[i] = mlirIntegerAttrGetValueInt(x);
  }
  return normal_axes(axes, *n, rank);
}

// Resize-18's axes: scales 1, or the sizes that are there, for the others.
static bool resize(MlirOperation op, struct export_inverse *out) {
  int64_t axes[MOST], sizes[MOST];
  float scales[MOST];
  intptr_t rank = rank_of(op, 0), n, count;
  if (rank < 0 || !is_default(op, "antialias", NULL, 0) ||
      !is_default(op, "keep_aspect_ratio_policy", "stretch", 0) ||
      !mlirValueIsNull(onnx_operand_or_null(op, 1)) || !read_axes_attr(op, axes, &n, rank))
    return false;
  MlirValue scale = onnx_operand_or_null(op, 2), size = onnx_operand_or_null(op, 3);
  out->dropped[0] = "axes";
  out->dropped[1] = "antialias";
  out->dropped[2] = "keep_aspect_ratio_policy";
  out->count = rank;
  if (!mlirValueIsNull(scale)) {
    if (!read_floats(scale, scales, &count) || count != n)
      return false;
    for (intptr_t i = 0; i < rank; i++)
      out->floats[i] = 1;
    for (intptr_t i = 0; i < n; i++)
      out->floats[axes[i]] = scales[i];
    out->is_float = true;
    out->replaced = 2;
    out->operands = 3;
    return true;
  }
  if (mlirValueIsNull(size) || !read_ints(size, sizes, &count) || count != n)
    return false;
  for (intptr_t i = 0; i < rank; i++)
    out->ints[i] = size_of(op, i);
  for (intptr_t i = 0; i < n; i++)
    out->ints[axes[i]] = sizes[i];
  for (intptr_t i = 0; i < rank; i++)
    if (out->ints[i] < 0)
      return false;
  out->replaced = 3;
  out->operands = 4;
  return true;
}

// GridSample-16 knows images only, and calls linear and cubic bilinear and bicubic.
static bool grid_sample(MlirOperation op, struct export_inverse *out) {
  MlirAttribute mode = attribute(op, "mode");
  MlirStringRef name = mlirAttributeIsNull(mode) ? str("linear") : mlirStringAttrGetValue(mode);
  if (rank_of(op, 0) != 4)
    return false;
  out->attr = "mode";
  out->value = mlirStringRefEqual(name, str("linear"))  ? "bilinear"
               : mlirStringRefEqual(name, str("cubic")) ? "bicubic"
                                                        : "nearest";
  out->operands = 2;
  return true;
}

static const struct {
  const char *name;
  int before; // the version that brought what the inverse takes away
  bool (*invert)(MlirOperation op, struct export_inverse *out);
} inverses[] = {
    {"GridSample", 20, grid_sample},
    {"Pad", 18, pad},
    {"Resize", 18, resize},
    {"Split", 18, split},
};

bool export_invert(MlirOperation op, const onyx_schema *row, struct export_inverse *out) {
  for (size_t i = 0; i < sizeof inverses / sizeof *inverses; i++)
    if (!row->domain[0] && !strcmp(row->name, inverses[i].name) &&
        row->since < inverses[i].before) {
      *out = (struct export_inverse){.replaced = -1};
      return inverses[i].invert(op, out);
    }
  return false;
}
