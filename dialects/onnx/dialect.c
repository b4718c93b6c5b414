// The dialect's table: one op for each operator of the schema table, made at start-up, and helper
// ops.
#include "dialects/onnx/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Effects and traits of the standard's operators
//===----------------------------------------------------------------------===//

// An operator that draws random numbers may be dropped when unused, but two of them are not one: an
// allocation of its results says both.
static void fresh_result_effects(MlirOperation op, MlirxEffects effects) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    mlirxEffectsAllocate(effects, mlirOperationGetResult(op, i));
  if (mlirOperationGetNumResults(op) == 0)
    mlirxEffectsWrite(effects, (MlirValue){0});
}

// Dropout (12 and later) draws only when its third input, training_mode, is there and true.
static void dropout_effects(MlirOperation op, MlirxEffects effects) {
  MlirValue mode = onnx_operand_or_null(op, 2);
  if (mlirValueIsNull(mode))
    return;
  MlirAttribute value = onnx_value_constant(mode);
  if (!mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value) &&
      mlirElementsAttrGetNumElements(value) == 1 && !mlirDenseElementsAttrGetBoolValue(value, 0))
    return;
  fresh_result_effects(op, effects);
}

static bool one_of(const char *name, const char *const *names) {
  for (; *names; names++)
    if (strcmp(name, *names) == 0)
      return true;
  return false;
}

static const char *const random_operators[] = {
    "Bernoulli",         "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike", NULL};
static const char *const region_operators[] = {"If", "Loop", "Scan", "SequenceMap", NULL};
static const char *const commutative_operators[] = {
    "Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor", NULL};

static void set_effects(MlirxOp *op, const char *name) {
  if (one_of(name, random_operators))
    op->effects = fresh_result_effects;
  else if (strcmp(name, "Dropout") == 0)
    op->effects = dropout_effects;
  else
    op->traits |= one_of(name, region_operators) ? MLIRX_RECURSIVE_EFFECTS : MLIRX_PURE;
  if (one_of(name, commutative_operators))
    op->traits |= MLIRX_COMMUTATIVE;
}

//===----------------------------------------------------------------------===//
// Ops made from the schema table
//===----------------------------------------------------------------------===//

enum { max_operators = 256, max_ops = 280, name_bytes = 16384, max_attr_names = 4096 };

static MlirxOp operators[max_operators];
static MlirxOp max_pool_single_out, batch_normalization_inference;
static const MlirxOp *all_ops[max_ops];
static char names[name_bytes];
static const char *attr_names[max_attr_names];
static size_t names_used, attr_names_used;

static const char *op_name(const char *name) {
  size_t size = strlen(name) + sizeof "onnx.";
  if (names_used + size > name_bytes)
    abort(); // the table grew: so must this file
  char *out = names + names_used;
  names_used += size;
  snprintf(out, size, "onnx.%s", name);
  return out;
}

static const char *const *attr_names_of(const onyx_schema *row) {
  if (attr_names_used + (size_t)row->num_attrs + 1 > max_attr_names)
    abort();
  const char **out = attr_names + attr_names_used;
  size_t n = 0;
  for (int i = 0; i < row->num_attrs; i++)
    if (row->attrs[i].kind != ONYX_ATTR_GRAPH && row->attrs[i].kind != ONYX_ATTR_GRAPHS)
      out[n++] = row->attrs[i].name;
  out[n++] = NULL;
  attr_names_used += n;
  return out;
}

static MlirLogicalResult fold_constant(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                       MlirxFoldResult *results) {
  (void)n, (void)operands;
  MlirAttribute value = onnx_constant_value(op);
  if (mlirAttributeIsNull(value)) // sparse_value: a constant all the same
    value = attribute(op, "sparse_value");
  if (mlirAttributeIsNull(value))
    return failure();
  results[0].attribute = value;
  return success();
}

static void make_operator(MlirxOp *op, const char *name, const onyx_schema *row) {
  op->name = op_name(name);
  op->attrNames = attr_names_of(row);
  op->data = row;
  op->verify = onnx_verify_operator;
  op->verifyRegions = onnx_verify_operator_regions;
  op->fold = onnx_fold_of(name);
  op->patterns = onnx_patterns_of(name);
  set_effects(op, name);
  if (strcmp(name, "Constant") == 0) {
    op->traits |= MLIRX_CONSTANT_LIKE;
    op->fold = fold_constant;
    op->parse = onnx_parse_constant;
    op->print = onnx_print_constant;
  } else if (strcmp(name, "ConstantOfShape") == 0) {
    op->parse = onnx_parse_constant_of_shape;
    op->print = onnx_print_constant_of_shape;
  }
}

static const MlirxOp *const helper_ops[] = {&onnx_no_value,         &onnx_return, &onnx_yield,
                                            &onnx_entry_point,      &onnx_custom, &onnx_fused,
                                            &onnx_layout_transform, &onnx_dim,    &onnx_dim_group};

static void prepare(MlirxDialect *self) {
  if (self->numOps)
    return;
  size_t n = 0;
  if (onyx_num_operators > max_operators)
    abort();
  for (int i = 0; i < onyx_num_operators; i++) {
    make_operator(&operators[i], onyx_schema_newest_rows[i]->name, onyx_schema_newest_rows[i]);
    all_ops[n++] = &operators[i];
  }
  make_operator(&max_pool_single_out, "MaxPoolSingleOut", onyx_schema_by_name("MaxPool"));
  make_operator(&batch_normalization_inference, "BatchNormalizationInferenceMode",
                onyx_schema_by_name("BatchNormalization"));
  all_ops[n++] = &max_pool_single_out;
  all_ops[n++] = &batch_normalization_inference;
  for (size_t i = 0; i < sizeof helper_ops / sizeof *helper_ops; i++)
    all_ops[n++] = helper_ops[i];
  self->numOps = n;
}

//===----------------------------------------------------------------------===//
// Helper ops
//===----------------------------------------------------------------------===//

static MlirLogicalResult fold_no_value(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                       MlirxFoldResult *results) {
  (void)n, (void)operands;
  results[0].attribute = mlirUnitAttrGet(mlirOperationGetContext(op));
  return success();
}

// A dead call of an unknown operator may go; two of them are not one.
const MlirxOp onnx_custom = {
    .name = "onnx.Custom", .verify = onnx_verify_custom, .effects = fresh_result_effects};

static const char *const no_value_attrs[] = {"value", NULL};
const MlirxOp onnx_no_value = {.name = "onnx.NoValue",
                               .traits = MLIRX_PURE | MLIRX_CONSTANT_LIKE,
                               .attrNames = no_value_attrs,
                               .fold = fold_no_value,
                               .verify = onnx_verify_no_value};
const MlirxOp onnx_return = {.name = "onnx.Return",
                             .traits = MLIRX_PURE | MLIRX_TERMINATOR | MLIRX_RETURN_LIKE,
                             .verify = onnx_verify_return,
                             .regionTerminator = true,
                             .parse = onnx_parse_return,
                             .print = onnx_print_return};
const MlirxOp onnx_yield = {.name = "onnx.Yield",
                            .traits = MLIRX_PURE | MLIRX_TERMINATOR | MLIRX_RETURN_LIKE,
                            .verify = onnx_verify_yield,
                            .regionTerminator = true,
                            .parse = onnx_parse_return,
                            .print = onnx_print_return};
static const char *const entry_point_attrs[] = {"func", NULL};
const MlirxOp onnx_entry_point = {
    .name = "onnx.EntryPoint", .attrNames = entry_point_attrs, .verify = onnx_verify_entry_point};
static const char *const fused_attrs[] = {"kind", NULL};
const MlirxOp onnx_fused = {.name = "onnx.Fused",
                            .traits = MLIRX_ISOLATED_FROM_ABOVE | MLIRX_RECURSIVE_EFFECTS,
                            .attrNames = fused_attrs,
                            .verifyRegions = onnx_verify_fused};
static const char *const layout_attrs[] = {"target_layout", NULL};
const MlirxOp onnx_layout_transform = {.name = "onnx.LayoutTransform",
                                       .traits = MLIRX_PURE,
                                       .attrNames = layout_attrs,
                                       .verify = onnx_verify_layout_transform};
static const char *const dim_attrs[] = {"axis", NULL};
const MlirxOp onnx_dim = {
    .name = "onnx.Dim", .traits = MLIRX_PURE, .attrNames = dim_attrs, .verify = onnx_verify_dim};
static const char *const dim_group_attrs[] = {"axis", "group_id", NULL};
const MlirxOp onnx_dim_group = {
    .name = "onnx.DimGroup", .attrNames = dim_group_attrs, .verify = onnx_verify_dim_group};

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

static MlirOperation materialize_constant(MlirContext ctx, MlirAttribute value, MlirType type,
                                          MlirLocation loc) {
  (void)ctx;
  bool none = mlirTypeIsANone(type);
  if (none ? !mlirAttributeIsAUnit(value) : !mlirTypeIsATensor(type))
    return (MlirOperation){0};
  bool sparse = mlirAttributeIsASparseElements(value);
  if (!none && !sparse && !mlirAttributeIsADenseElements(value) &&
      !mlirxAttrIsA(value, &onnx_file_attr))
    return (MlirOperation){0};
  MlirOperationState state =
      mlirOperationStateGet(str(none ? "onnx.NoValue" : "onnx.Constant"), loc);
  MlirNamedAttribute named =
      mlirNamedAttributeGet(mlirIdentifierGet(ctx, str(sparse ? "sparse_value" : "value")), value);
  mlirOperationStateAddAttributes(&state, 1, &named);
  mlirOperationStateAddResults(&state, 1, &type);
  return mlirOperationCreate(&state);
}

static const MlirxType *const types[] = {&onnx_seq_type, &onnx_opt_type, &onnx_map_type,
                                         &onnx_string_type, NULL};
static const MlirxAttr *const attrs[] = {&onnx_file_attr, &onnx_layout_attr, NULL};

MlirxDialect onnx_dialect = {.name = "onnx",
                             .prepare = prepare,
                             .ops = all_ops,
                             .types = types,
                             .attrs = attrs,
                             .materializeConstant = materialize_constant,
                             .inlinable = true,
                             .verifyAttribute = onnx_verify_attribute};

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

static int row_index(const char *name) {
  int low = 0, high = onyx_num_operators;
  while (low < high) {
    int mid = low + (high - low) / 2, order = strcmp(name, onyx_schema_newest_rows[mid]->name);
    if (order == 0)
      return mid;
    if (order < 0)
      high = mid;
    else
      low = mid + 1;
  }
  return -1;
}

const MlirxOp *onnx_op_by_name(const char *name) {
  int i = row_index(name);
  return i < 0 ? NULL : &operators[i];
}

const MlirxOp *onnx_op(const onyx_schema *row) {
  return onnx_op_by_name(row->name);
}

// The descriptor of one of the standard's operators; no other op's descriptor lies in the array.
static const MlirxOp *operator_of(MlirOperation op) {
  const MlirxOp *d = mlirOperationGetTypeID(op).ptr;
  if (d >= operators && d < operators + onyx_num_operators)
    return d;
  return d == &max_pool_single_out || d == &batch_normalization_inference ? d : NULL;
}

const onyx_schema *onnx_schema_of(MlirOperation op) {
  const MlirxOp *d = operator_of(op);
  return d ? d->data : NULL;
}

int onnx_operator_index(MlirOperation op) {
  const MlirxOp *d = operator_of(op);
  if (d >= operators && d < operators + onyx_num_operators)
    return (int)(d - operators);
  return d ? row_index(((const onyx_schema *)d->data)->name) : -1;
}

bool onnx_is(MlirOperation op, const char *name) {
  const onyx_schema *row = onnx_schema_of(op);
  return row && strcmp(row->name, name) == 0;
}

bool onnx_is_onnx(MlirOperation op) {
  if (operator_of(op))
    return true;
  for (size_t i = 0; i < sizeof helper_ops / sizeof *helper_ops; i++)
    if (mlirxIsA(op, helper_ops[i]))
      return true;
  return false;
}

MlirStringRef onnx_node_name(MlirOperation op) {
  MlirAttribute name = attribute(op, "onnx_node_name");
  if (!mlirAttributeIsNull(name) && mlirAttributeIsAString(name))
    return mlirStringAttrGetValue(name);
  MlirLocation loc = mlirOperationGetLocation(op);
  if (mlirLocationIsAName(loc))
    return mlirIdentifierStr(mlirLocationNameGetName(loc));
  return mlirStringRefCreate("", 0);
}

const char *onnx_node_name_text(onyx_arena *arena, MlirOperation op) {
  MlirStringRef name = onnx_node_name(op);
  return onyx_arena_printf(arena, "%.*s", (int)name.length, name.data);
}

MlirLogicalResult onnx_error(MlirOperation op, const char *fmt, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, fmt);
  if (vasprintf(&text, fmt, args) < 0)
    text = NULL;
  va_end(args);
  // The operator's name is put before it: 'onnx.Conv' op ...
  MlirStringRef node = onnx_node_name(op);
  if (node.length)
    mlirxEmitError(op, "(node \"%.*s\"): %s", (int)node.length, node.data,
                   text ? text : "out of memory");
  else
    mlirxEmitError(op, "%s", text ? text : "out of memory");
  free(text);
  return failure();
}

//===----------------------------------------------------------------------===//
// Operands and constants
//===----------------------------------------------------------------------===//

bool onnx_is_none(MlirValue v) {
  return mlirTypeIsANone(mlirValueGetType(v));
}

MlirValue onnx_operand_or_null(MlirOperation op, intptr_t i) {
  if (i >= mlirOperationGetNumOperands(op))
    return (MlirValue){0};
  MlirValue v = mlirOperationGetOperand(op, i);
  return onnx_is_none(v) ? (MlirValue){0} : v;
}

static MlirType vector_of(MlirType elem, bool scalar, intptr_t n) {
  int64_t shape = n;
  return mlirRankedTensorTypeGet(scalar ? 0 : 1, &shape, elem, (MlirAttribute){0});
}

static MlirAttribute scalar_constant(MlirContext ctx, const char *form, MlirAttribute a) {
  if (strcmp(form, "value_int") == 0 && mlirAttributeIsAInteger(a)) {
    int64_t v = mlirIntegerAttrGetValueInt(a);
    if (mlirIntegerTypeIsSigned(mlirAttributeGetType(a)))
      v = mlirIntegerAttrGetValueSInt(a);
    return mlirDenseElementsAttrInt64Get(vector_of(mlirIntegerTypeGet(ctx, 64), true, 1), 1, &v);
  }
  if (strcmp(form, "value_float") == 0 && mlirAttributeIsAFloat(a)) {
    float v = (float)mlirFloatAttrGetValueDouble(a);
    return mlirDenseElementsAttrFloatGet(vector_of(mlirF32TypeGet(ctx), true, 1), 1, &v);
  }
  if (strcmp(form, "value_string") == 0 && mlirAttributeIsAString(a)) {
    MlirStringRef v = mlirStringAttrGetValue(a);
    return mlirDenseElementsAttrStringGet(vector_of(onnx_string_get(ctx), true, 1), 1, &v);
  }
  return (MlirAttribute){0};
}

static MlirAttribute list_constant(MlirContext ctx, const char *form, MlirAttribute a) {
  if (!mlirAttributeIsAArray(a))
    return (MlirAttribute){0};
  intptr_t n = mlirArrayAttrGetNumElements(a);
  MlirAttribute out = {0};
  void *buffer = calloc((size_t)(n ? n : 1), sizeof(MlirStringRef));
  int64_t *ints = buffer;
  float *floats = buffer;
  MlirStringRef *strings = buffer;
  bool good = buffer != NULL;
  char kind = form[6]; // value_[i]nts, value_[f]loats, value_[s]trings
  for (intptr_t i = 0; good && i < n; i++) {
    MlirAttribute e = mlirArrayAttrGetElement(a, i);
    if (kind == 'i' && (good = mlirAttributeIsAInteger(e)))
      ints[i] = mlirIntegerTypeIsSigned(mlirAttributeGetType(e)) ? mlirIntegerAttrGetValueSInt(e)
                                                                 : mlirIntegerAttrGetValueInt(e);
    else if (kind == 'f' && (good = mlirAttributeIsAFloat(e)))
      floats[i] = (float)mlirFloatAttrGetValueDouble(e);
    else if (kind == 's' && (good = mlirAttributeIsAString(e)))
      strings[i] = mlirStringAttrGetValue(e);
  }
  if (good && kind == 'i')
    out = mlirDenseElementsAttrInt64Get(vector_of(mlirIntegerTypeGet(ctx, 64), false, n), n, ints);
  else if (good && kind == 'f')
    out = mlirDenseElementsAttrFloatGet(vector_of(mlirF32TypeGet(ctx), false, n), n, floats);
  else if (good)
    out = mlirDenseElementsAttrStringGet(vector_of(onnx_string_get(ctx), false, n), n, strings);
  free(buffer);
  return out;
}

MlirAttribute onnx_constant_value(MlirOperation op) {
  static const char *const scalars[] = {"value_int", "value_float", "value_string"};
  static const char *const lists[] = {"value_ints", "value_floats", "value_strings"};
  const MlirAttribute null = {0};
  if (!onnx_is(op, "Constant"))
    return null;
  MlirAttribute value = attribute(op, "value");
  if (!mlirAttributeIsNull(value))
    return mlirTypeIsATensor(mlirAttributeGetType(value)) ? value : null;
  MlirContext ctx = mlirOperationGetContext(op);
  for (int i = 0; i < 3; i++) {
    MlirAttribute scalar = attribute(op, scalars[i]), list = attribute(op, lists[i]);
    if (!mlirAttributeIsNull(scalar))
      return scalar_constant(ctx, scalars[i], scalar);
    if (!mlirAttributeIsNull(list))
      return list_constant(ctx, lists[i], list);
  }
  return null;
}

MlirAttribute onnx_value_constant(MlirValue v) {
  if (mlirValueIsNull(v) || !mlirValueIsAOpResult(v))
    return (MlirAttribute){0};
  return onnx_constant_value(mlirOpResultGetOwner(v));
}
