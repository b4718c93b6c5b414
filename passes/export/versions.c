// Which version of an operator can say what an op says. Ops are at the newest version; an older row
// of the schema table serves as long as it has the operands, results, attributes and types that the
// op uses.
#include "passes/export/export.h"

#include <string.h>

// Versions that changed a meaning without changing what the row shows: an older row is not taken.
static const struct {
  const char *name;
  int since;
} changed_meaning[] = {
    {"Attention", 24},          // the mask is added after the soft cap
    {"DFT", 20},                // default axis
    {"GridSample", 20},         // names of the modes
    {"GroupNormalization", 21}, // scale and bias one a channel
    {"RoiAlign", 16},           // half_pixel by default
    {"Upsample", 10},
};

// Values of attributes that older versions do not know.
static const struct {
  const char *name, *attr, *value;
  int since;
} new_values[] = {
    {"Pad", "mode", "wrap", 19},
    {"Resize", "coordinate_transformation_mode", "half_pixel_symmetric", 19},
    {"ScatterElements", "reduction", "max", 18},
    {"ScatterElements", "reduction", "min", 18},
    {"ScatterND", "reduction", "max", 18},
    {"ScatterND", "reduction", "min", 18},
};

static bool name_is(MlirStringRef s, const char *text) {
  return s.length == strlen(text) && !memcmp(s.data, text, s.length);
}

static bool keeps_meaning(const onyx_schema *row, MlirOperation op,
                          const struct export_inverse *inverse) {
  for (size_t i = 0; !inverse && i < sizeof changed_meaning / sizeof *changed_meaning; i++)
    if (!strcmp(changed_meaning[i].name, row->name) && row->since < changed_meaning[i].since)
      return false;
  for (size_t i = 0; i < sizeof new_values / sizeof *new_values; i++) {
    if (strcmp(new_values[i].name, row->name) || row->since >= new_values[i].since)
      continue;
    MlirAttribute a =
        mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(new_values[i].attr));
    if (!mlirAttributeIsNull(a) && mlirAttributeIsAString(a) &&
        name_is(mlirStringAttrGetValue(a), new_values[i].value))
      return false;
  }
  return true;
}

// Operands (results) in use: what is `none` at the end does not count.
static intptr_t used_operands(MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  while (n && onnx_is_none(mlirOperationGetOperand(op, n - 1)))
    n--;
  return n;
}
static intptr_t used_results(MlirOperation op) {
  intptr_t n = mlirOperationGetNumResults(op);
  while (n && onnx_is_none(mlirOperationGetResult(op, n - 1)))
    n--;
  return n;
}

static bool counts_fit(intptr_t n, int least, int most) {
  return n >= least && (most == ONYX_UNBOUNDED || n <= most);
}

static bool type_fits(const onyx_schema *row, const onyx_schema_param *p, MlirValue v) {
  if (onnx_is_none(v))
    return p->optional || p->variadic;
  int type = onnx_schema_type_index(mlirValueGetType(v));
  return type >= 0 && onyx_type_set_has(&row->constraints[p->constraint].types, type);
}

static bool values_fit(const onyx_schema *row, MlirOperation op, intptr_t operands,
                       intptr_t results) {
  for (intptr_t i = 0; i < operands; i++) {
    const onyx_schema_param *p = onyx_schema_input(row, (int)i);
    if (!p || !type_fits(row, p, mlirOperationGetOperand(op, i)))
      return false;
  }
  for (intptr_t i = 0; i < results; i++) {
    const onyx_schema_param *p = onyx_schema_output(row, (int)i);
    if (!p || !type_fits(row, p, mlirOperationGetResult(op, i)))
      return false;
  }
  return true;
}

static bool same_default(const onyx_schema_attr *a, const onyx_schema_attr *b) {
  if (a->has_default != b->has_default || a->default_int != b->default_int ||
      a->default_float != b->default_float || a->num_defaults != b->num_defaults)
    return false;
  if (a->default_string && b->default_string)
    return !strcmp(a->default_string, b->default_string);
  return !a->default_string && !b->default_string;
}

static bool present(MlirOperation op, const char *attr) {
  return !mlirAttributeIsNull(
      mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(attr)));
}

static bool inverted(const struct export_inverse *inverse, const char *attr) {
  if (!inverse)
    return false;
  for (int i = 0; i < 3; i++)
    if (inverse->dropped[i] && !strcmp(inverse->dropped[i], attr))
      return true;
  return inverse->attr && !strcmp(inverse->attr, attr);
}

// Regions are attributes of the standard too.
static bool attrs_fit(const onyx_schema *row, const onyx_schema *newest, MlirOperation op,
                      const struct export_inverse *inverse) {
  for (int i = 0; i < newest->num_attrs; i++) {
    const onyx_schema_attr *now = &newest->attrs[i], *then = onyx_schema_attr_find(row, now->name);
    if (now->kind == ONYX_ATTR_GRAPH || inverted(inverse, now->name))
      continue;
    bool has = present(op, now->name);
    if (has && (!then || then->kind != now->kind))
      return false;
    if (!has && then && !same_default(then, now))
      return false;
  }
  for (int i = 0; i < row->num_attrs; i++)
    if (row->attrs[i].required && row->attrs[i].kind != ONYX_ATTR_GRAPH &&
        !present(op, row->attrs[i].name))
      return false;
  return true;
}

bool export_axes_attribute(MlirOperation op, MlirAttribute *axes) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  *axes = mlirAttributeGetNull();
  if (name.length < 11 || memcmp(name.data, "onnx.Reduce", 11) ||
      present(op, "noop_with_empty_axes"))
    return false;
  MlirValue operand = onnx_operand_or_null(op, 1);
  if (mlirValueIsNull(operand))
    return true;
  MlirAttribute value = onnx_value_constant(operand);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value))
    return false;
  MlirContext ctx = mlirOperationGetContext(op);
  MlirAttribute list[64];
  int64_t n = mlirElementsAttrGetNumElements(value);
  bool splat = n > 0 && mlirDenseElementsAttrIsSplat(value);
  if (n > 64)
    return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t axis = splat ? mlirDenseElementsAttrGetInt64SplatValue(value)
                         : mlirDenseElementsAttrGetInt64Value(value, i);
    list[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), axis);
  }
  if (n)
    *axes = mlirArrayAttrGet(ctx, n, list);
  return true;
}

static bool row_fits(const onyx_schema *row, const onyx_schema *newest, MlirOperation op,
                     const struct export_inverse *inverse) {
  MlirAttribute axes;
  intptr_t operands = used_operands(op), results = used_results(op);
  if (row->deprecated && row != newest)
    return false;
  if (inverse)
    operands = inverse->operands;
  else if (operands > 1 && onyx_schema_attr_find(row, "axes") &&
           !onyx_schema_attr_find(newest, "axes") && export_axes_attribute(op, &axes))
    operands = 1;
  intptr_t kept = inverse && inverse->replaced == operands - 1 ? operands - 1 : operands;
  return keeps_meaning(row, op, inverse) &&
         counts_fit(operands, row->min_inputs, row->max_inputs) &&
         counts_fit(results, row->min_outputs, row->max_outputs) &&
         values_fit(row, op, kept, results) && attrs_fit(row, newest, op, inverse);
}

static bool row_fits_inverted(const onyx_schema *row, const onyx_schema *newest, MlirOperation op,
                              struct export_inverse *inverse) {
  return export_invert(op, row, inverse) && row_fits(row, newest, op, inverse);
}

int export_oldest_version(MlirOperation op, bool inverse) {
  const onyx_schema *newest = onnx_schema_of(op);
  struct export_inverse how;
  if (!newest)
    return 1;
  int floor = newest->domain[0] ? 1 : EXPORT_OLDEST_OPSET, version = newest->since;
  const onyx_schema *row = newest;
  while (version > floor) {
    const onyx_schema *older = onyx_schema_at(newest->domain, newest->name, row->since - 1);
    if (!older || (!row_fits(older, newest, op, NULL) &&
                   !(inverse && row_fits_inverted(older, newest, op, &how))))
      break;
    row = older;
    version = row->since;
  }
  return version > floor ? version : floor;
}

bool export_needs_inverse(MlirOperation op, int opset, struct export_inverse *out) {
  const onyx_schema *newest = onnx_schema_of(op), *row = export_row(op, opset);
  return row && row != newest && !row_fits(row, newest, op, NULL) &&
         row_fits_inverted(row, newest, op, out);
}

const onyx_schema *export_row(MlirOperation op, int opset) {
  const onyx_schema *newest = onnx_schema_of(op);
  return newest ? onyx_schema_at(newest->domain, newest->name, opset) : NULL;
}

int export_ir_version(int opset) {
  static const struct {
    int opset, ir;
  } releases[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {0, 7}};
  for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
    if (opset >= releases[i].opset)
      return releases[i].ir;
  return 7;
}
