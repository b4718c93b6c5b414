// Verifiers: an operator against its schema row, then by its own rules; the helper ops; attributes.
#include "dialects/onnx/internal.h"
#include "dialects/onnx/view_mlir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Text for messages
//===----------------------------------------------------------------------===//

typedef struct text {
  char data[1024]; // longer ones are cut
  size_t used;
} text;

static void append(MlirStringRef part, void *user) {
  text *t = user;
  size_t room = sizeof t->data - 1 - t->used, n = part.length < room ? part.length : room;
  memcpy(t->data + t->used, part.data, n);
  t->used += n;
  t->data[t->used] = '\0';
}

static const char *type_text(text *t, MlirType type) {
  t->used = 0;
  append(str("'"), t);
  mlirTypePrint(type, append, t);
  append(str("'"), t);
  return t->data;
}

static const char *attr_text(text *t, MlirAttribute a) {
  t->used = 0;
  append(str("'"), t);
  // Elements can be many megabytes of text.
  if (mlirAttributeIsADenseElements(a))
    append(str("dense<...>"), t);
  else
    mlirAttributePrint(a, append, t);
  append(str("'"), t);
  return t->data;
}

// "a tensor of f16, f32 or f64" or "seq(tensor(float)) or tensor(float)".
static const char *set_text(text *t, const onyx_type_set *set) {
  int all = 0, tensors = 0, n = 0;
  for (int i = 0; i < onyx_schema_num_types; i++)
    if (onyx_type_set_has(set, i)) {
      all++;
      tensors += onyx_schema_types[i].kind == ONYX_TYPE_TENSOR;
    }
  t->used = 0;
  append(str(tensors == all ? "a tensor of " : ""), t);
  for (int i = 0; i < onyx_schema_num_types; i++) {
    if (!onyx_type_set_has(set, i))
      continue;
    append(str(n == 0 ? "" : n == all - 1 ? " or " : ", "), t);
    append(str(tensors == all ? onyx_elem_mlir_name(onyx_schema_types[i].elem)
                              : onyx_schema_types[i].text),
           t);
    n++;
  }
  return t->data;
}

//===----------------------------------------------------------------------===//
// Operands and results against the schema
//===----------------------------------------------------------------------===//

// One side of an op: its operands or its results.
typedef struct side {
  MlirOperation op;
  const onyx_schema *row;
  const char *word; // "operand", "result"
  bool results;
} side;

static intptr_t side_count(const side *s) {
  return s->results ? mlirOperationGetNumResults(s->op) : mlirOperationGetNumOperands(s->op);
}

static MlirType side_type(const side *s, intptr_t i) {
  return mlirValueGetType(s->results ? mlirOperationGetResult(s->op, i)
                                     : mlirOperationGetOperand(s->op, i));
}

static const onyx_schema_param *side_param(const side *s, intptr_t i) {
  return s->results ? onyx_schema_output(s->row, (int)i) : onyx_schema_input(s->row, (int)i);
}

static MlirLogicalResult check_count(const side *s) {
  intptr_t n = side_count(s);
  int min = s->results ? s->row->min_outputs : s->row->min_inputs;
  int max = s->results ? s->row->max_outputs : s->row->max_inputs;
  if (n < min)
    return onnx_error(s->op, "expected at least %d %s(s), found %d", min, s->word, (int)n);
  if (max != ONYX_UNBOUNDED && n > max)
    return onnx_error(s->op, "expected at most %d %s(s), found %d", max, s->word, (int)n);
  return success();
}

// The first value that binds each constraint of the row.
typedef struct binding {
  const side *side;
  intptr_t index; // < 0: not bound
  int type;       // row of onyx_schema_types
} binding;

static MlirLogicalResult check_agreement(const side *s, intptr_t i, const onyx_schema_param *p,
                                         int type, binding *bound) {
  if (bound->index < 0) {
    *bound = (binding){s, i, type};
    return success();
  }
  if (bound->type == type)
    return success();
  text found, expected;
  return onnx_error(
      s->op, "%s %d '%s': expected the type of %s %d '%s' (constraint %s), %s, found %s", s->word,
      (int)i, p->name, bound->side->word, (int)bound->index,
      side_param(bound->side, bound->index)->name, s->row->constraints[p->constraint].name,
      type_text(&expected, side_type(bound->side, bound->index)),
      type_text(&found, side_type(s, i)));
}

// Whether the product of the known sizes, with 16 bytes an element (complex<f64>), fits 63 bits:
// memory has no more, and stock passes compute with it. A size of 0 makes the product no smaller
// here.
static bool fits_memory(MlirType type) {
  int64_t bytes = 16;
  for (int64_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    if (!mlirShapedTypeIsDynamicDim(type, i) && mlirShapedTypeGetDimSize(type, i) != 0 &&
        __builtin_mul_overflow(bytes, mlirShapedTypeGetDimSize(type, i), &bytes))
      return false;
  return true;
}

static MlirLogicalResult check_value(const side *s, intptr_t i, binding *bindings) {
  const onyx_schema_param *p = side_param(s, i);
  MlirType type = side_type(s, i);
  text found, expected;
  if (mlirTypeIsANone(type)) {
    if (p->optional || (p->variadic && s->results))
      return success();
    return onnx_error(s->op, "%s %d '%s' is required, found none", s->word, (int)i, p->name);
  }
  const onyx_schema_constraint *c = &s->row->constraints[p->constraint];
  int index = onnx_schema_type_index(type);
  if (index < 0 || !onyx_type_set_has(&c->types, index))
    return onnx_error(s->op, "%s %d '%s': expected %s, found %s", s->word, (int)i, p->name,
                      set_text(&expected, &c->types), type_text(&found, type));
  if (mlirTypeIsARankedTensor(type) && mlirShapedTypeGetRank(type) > ONYX_MAX_RANK)
    return onnx_error(s->op, "%s %d '%s': expected a rank of at most %d, found %d", s->word, (int)i,
                      p->name, ONYX_MAX_RANK, (int)mlirShapedTypeGetRank(type));
  if (mlirTypeIsARankedTensor(type) && !fits_memory(type))
    return onnx_error(s->op, "%s %d '%s': expected a size that memory can have, found %s", s->word,
                      (int)i, p->name, type_text(&found, type));
  return p->heterogeneous ? success() : check_agreement(s, i, p, index, &bindings[p->constraint]);
}

static MlirLogicalResult check_side(const side *s, binding *bindings) {
  for (intptr_t i = 0; i < side_count(s); i++)
    if (failed(check_value(s, i, bindings)))
      return failure();
  return success();
}

enum { max_constraints = 64 };

static MlirLogicalResult check_types(MlirOperation op, const onyx_schema *row) {
  const side operands = {op, row, "operand", false}, results = {op, row, "result", true};
  if (failed(check_count(&operands)) || failed(check_count(&results)))
    return failure();
  binding bindings[max_constraints];
  if (row->num_constraints > max_constraints)
    return onnx_error(op, "more than %d type constraints", max_constraints);
  for (int i = 0; i < row->num_constraints; i++)
    bindings[i].index = -1;
  return failed(check_side(&operands, bindings)) ? failure() : check_side(&results, bindings);
}

//===----------------------------------------------------------------------===//
// Attributes against the schema
//===----------------------------------------------------------------------===//

static bool all_elements(MlirAttribute a, bool (*is)(MlirAttribute)) {
  if (!mlirAttributeIsAArray(a))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(a); i++)
    if (!is(mlirArrayAttrGetElement(a, i)))
      return false;
  return true;
}

static bool is_tensor(MlirAttribute a) {
  MlirType type = mlirAttributeGetType(a);
  return !mlirTypeIsNull(type) && mlirTypeIsATensor(type);
}

static bool is_int(MlirAttribute a) {
  return mlirAttributeIsAInteger(a) || mlirAttributeIsABool(a);
}

static bool is_elem_type(const char *name, MlirAttribute a) {
  return onyx_schema_attr_is_elem_type(name) && mlirAttributeIsAType(a) &&
         onnx_elem_from_mlir(mlirTypeAttrGetValue(a)) != ONYX_ELEM_UNDEFINED;
}

static bool attr_matches(const onyx_schema_attr *row, MlirAttribute a) {
  switch (row->kind) {
  case ONYX_ATTR_FLOAT:
    return mlirAttributeIsAFloat(a);
  case ONYX_ATTR_INT:
    return is_int(a) || is_elem_type(row->name, a);
  case ONYX_ATTR_STRING:
    return mlirAttributeIsAString(a);
  case ONYX_ATTR_TENSOR:
  case ONYX_ATTR_SPARSE_TENSOR:
    return is_tensor(a);
  case ONYX_ATTR_FLOATS:
    return mlirAttributeIsADenseF32Array(a) || all_elements(a, mlirAttributeIsAFloat);
  case ONYX_ATTR_INTS:
    return mlirAttributeIsADenseI64Array(a) || all_elements(a, is_int);
  case ONYX_ATTR_STRINGS:
    return all_elements(a, mlirAttributeIsAString);
  case ONYX_ATTR_TENSORS:
  case ONYX_ATTR_SPARSE_TENSORS:
    return all_elements(a, is_tensor);
  case ONYX_ATTR_TYPE_PROTO:
    return mlirAttributeIsAType(a);
  case ONYX_ATTR_TYPE_PROTOS:
    return all_elements(a, mlirAttributeIsAType);
  default: // graphs are regions
    return false;
  }
}

static const char *kind_text(const onyx_schema_attr *row) {
  static const char *const texts[] = {
      [ONYX_ATTR_FLOAT] = "a float such as 1.0 : f32",
      [ONYX_ATTR_INT] = "an integer such as 1 : si64",
      [ONYX_ATTR_STRING] = "a string",
      [ONYX_ATTR_TENSOR] = "an elements attribute of tensor type",
      [ONYX_ATTR_FLOATS] = "an array of floats",
      [ONYX_ATTR_INTS] = "an array of integers",
      [ONYX_ATTR_STRINGS] = "an array of strings",
      [ONYX_ATTR_TENSORS] = "an array of elements attributes",
      [ONYX_ATTR_SPARSE_TENSOR] = "an elements attribute of tensor type",
      [ONYX_ATTR_SPARSE_TENSORS] = "an array of elements attributes",
      [ONYX_ATTR_TYPE_PROTO] = "a type",
      [ONYX_ATTR_TYPE_PROTOS] = "an array of types",
  };
  if (row->kind == ONYX_ATTR_INT && onyx_schema_attr_is_elem_type(row->name))
    return "an element type such as f32";
  const char *found = (size_t)row->kind < sizeof texts / sizeof *texts ? texts[row->kind] : NULL;
  return found ? found : "a region instead of an attribute";
}

static MlirLogicalResult check_attr(MlirOperation op, const onyx_schema *row,
                                    MlirNamedAttribute named) {
  MlirStringRef name = mlirIdentifierStr(named.name);
  if (memchr(name.data, '.', name.length) || mlirStringRefEqual(name, str("onnx_node_name")))
    return success();
  const onyx_schema_attr *a = onyx_schema_attr_find(row, name.data);
  if (!a)
    return onnx_error(op, "unknown attribute '%s'", name.data);
  text found;
  if (!attr_matches(a, named.attribute))
    return onnx_error(op, "attribute '%s': expected %s, found %s", a->name, kind_text(a),
                      attr_text(&found, named.attribute));
  return success();
}

static bool is_graph(const onyx_schema_attr *a) {
  return a->kind == ONYX_ATTR_GRAPH || a->kind == ONYX_ATTR_GRAPHS;
}

static MlirLogicalResult check_attrs(MlirOperation op, const onyx_schema *row) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++)
    if (failed(check_attr(op, row, mlirOperationGetAttribute(op, i))))
      return failure();
  int graphs = 0;
  for (int i = 0; i < row->num_attrs; i++) {
    const onyx_schema_attr *a = &row->attrs[i];
    graphs += is_graph(a);
    if (a->required && !is_graph(a) && mlirAttributeIsNull(attribute(op, a->name)))
      return onnx_error(op, "attribute '%s' is required: expected %s", a->name, kind_text(a));
  }
  if (mlirOperationGetNumRegions(op) != graphs)
    return onnx_error(op, "expected %d region(s), found %d", graphs,
                      (int)mlirOperationGetNumRegions(op));
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// Could a value of type a be of type b: the same but for what one of them does not know?
static bool compatible(MlirType a, MlirType b) {
  if (mlirTypeEqual(a, b))
    return true;
  bool seq = mlirxTypeIsA(a, &onnx_seq_type), opt = mlirxTypeIsA(a, &onnx_opt_type);
  if ((seq && mlirxTypeIsA(b, &onnx_seq_type)) || (opt && mlirxTypeIsA(b, &onnx_opt_type)))
    return compatible(mlirTypeAttrGetValue(mlirxTypeGetParam(a, 0)),
                      mlirTypeAttrGetValue(mlirxTypeGetParam(b, 0)));
  if (!mlirTypeIsATensor(a) || !mlirTypeIsATensor(b) ||
      !mlirTypeEqual(mlirShapedTypeGetElementType(a), mlirShapedTypeGetElementType(b)))
    return false;
  if (!mlirShapedTypeHasRank(a) || !mlirShapedTypeHasRank(b))
    return true;
  if (mlirShapedTypeGetRank(a) != mlirShapedTypeGetRank(b))
    return false;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(a); i++)
    if (!mlirShapedTypeIsDynamicDim(a, i) && !mlirShapedTypeIsDynamicDim(b, i) &&
        mlirShapedTypeGetDimSize(a, i) != mlirShapedTypeGetDimSize(b, i))
      return false;
  return true;
}

static MlirLogicalResult check_constant(MlirOperation op, const onyx_schema *row) {
  int values = 0;
  for (int i = 0; i < row->num_attrs; i++)
    values += !mlirAttributeIsNull(attribute(op, row->attrs[i].name));
  if (values != 1)
    return onnx_error(
        op,
        "expected one of value, value_int, value_ints, value_float, value_floats, value_string, "
        "value_strings and sparse_value, found %d",
        values);
  MlirAttribute value = onnx_constant_value(op);
  if (mlirAttributeIsNull(value))
    value = attribute(op, "sparse_value");
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  text found, expected;
  if (!compatible(mlirAttributeGetType(value), type))
    return onnx_error(op, "result 0 'output': expected %s, the type of its value, found %s",
                      type_text(&expected, mlirAttributeGetType(value)), type_text(&found, type));
  return success();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static MlirLogicalResult check_meaning(MlirOperation op, const onyx_schema *row) {
  const op_def *def = op_def_find(row->name);
  if (!def || !def->verify)
    return success();
  view_scope *scope = view_scope_create(op, VIEW_VERIFY, str(""));
  op_view *v = view_from_op(scope, op);
  MlirLogicalResult ok = v ? view_verify(scope, op, v) : failure();
  view_scope_destroy(scope);
  return ok;
}

MlirLogicalResult onnx_verify_operator(MlirOperation op) {
  const onyx_schema *row = onnx_schema_of(op);
  if (failed(check_types(op, row)) || failed(check_attrs(op, row)))
    return failure();
  if (strcmp(row->name, "Constant") == 0)
    return check_constant(op, row);
  // An operator with regions is looked at when they are known to be well formed.
  return mlirOperationGetNumRegions(op) ? success() : check_meaning(op, row);
}

static MlirOperation terminator_of(MlirOperation op, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return mlirBlockIsNull(block) ? (MlirOperation){0} : mlirBlockGetTerminator(block);
}

static MlirLogicalResult check_region(MlirOperation op, intptr_t r, intptr_t arguments,
                                      intptr_t yields) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return onnx_error(op, "region %d: expected one block", (int)r);
  MlirOperation end = terminator_of(op, r);
  if (mlirOperationIsNull(end) || !mlirxIsA(end, &onnx_yield))
    return onnx_error(op, "region %d: expected onnx.Yield at its end", (int)r);
  if (mlirBlockGetNumArguments(block) != arguments)
    return onnx_error(op, "region %d: expected %d argument(s), found %d", (int)r, (int)arguments,
                      (int)mlirBlockGetNumArguments(block));
  if (mlirOperationGetNumOperands(end) != yields)
    return onnx_error(op, "region %d: expected %d yielded value(s), found %d", (int)r, (int)yields,
                      (int)mlirOperationGetNumOperands(end));
  return success();
}

// Loop (ONNX 25): iteration number, condition and the N carried values go in; condition, carried
// values and scan outputs come out. Scan: all operands in, all results out. If: nothing in.
static MlirLogicalResult check_regions(MlirOperation op, const onyx_schema *row) {
  intptr_t operands = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  bool loop = strcmp(row->name, "Loop") == 0, branch = strcmp(row->name, "If") == 0;
  if (loop && results < operands - 2)
    return onnx_error(op, "expected at least %d results, one for each carried value, found %d",
                      (int)(operands - 2), (int)results);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    if (failed(check_region(op, r, branch ? 0 : operands, loop ? results + 1 : results)))
      return failure();
  return success();
}

MlirLogicalResult onnx_verify_operator_regions(MlirOperation op) {
  if (mlirOperationGetNumRegions(op) == 0)
    return success();
  const onyx_schema *row = onnx_schema_of(op);
  return failed(check_regions(op, row)) ? failure() : check_meaning(op, row);
}

//===----------------------------------------------------------------------===//
// Helper ops
//===----------------------------------------------------------------------===//

static MlirLogicalResult expect_counts(MlirOperation op, intptr_t operands, intptr_t results) {
  if (mlirOperationGetNumOperands(op) != operands)
    return onnx_error(op, "expected %d operand(s), found %d", (int)operands,
                      (int)mlirOperationGetNumOperands(op));
  if (mlirOperationGetNumResults(op) != results)
    return onnx_error(op, "expected %d result(s), found %d", (int)results,
                      (int)mlirOperationGetNumResults(op));
  return success();
}

static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}
static MlirType result_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetResult(op, i));
}

MlirLogicalResult onnx_verify_no_value(MlirOperation op) {
  text found;
  if (failed(expect_counts(op, 0, 1)))
    return failure();
  if (!mlirTypeIsANone(result_type(op, 0)))
    return onnx_error(op, "result 0: expected none, found %s",
                      type_text(&found, result_type(op, 0)));
  return success();
}

MlirLogicalResult onnx_verify_return(MlirOperation op) {
  MlirOperation function = mlirOperationGetParentOperation(op);
  MlirAttribute type =
      mlirOperationIsNull(function) ? (MlirAttribute){0} : attribute(function, "function_type");
  if (mlirAttributeIsNull(type) || !mlirAttributeIsAType(type) ||
      !mlirTypeIsAFunction(mlirTypeAttrGetValue(type)))
    return onnx_error(op, "expected a function around it");
  MlirType signature = mlirTypeAttrGetValue(type);
  intptr_t n = mlirOperationGetNumOperands(op), want = mlirFunctionTypeGetNumResults(signature);
  if (failed(expect_counts(op, want, 0)))
    return failure();
  text found, expected;
  for (intptr_t i = 0; i < n; i++)
    if (!compatible(operand_type(op, i), mlirFunctionTypeGetResult(signature, i)))
      return onnx_error(op, "operand %d: expected %s as the function returns, found %s", (int)i,
                        type_text(&expected, mlirFunctionTypeGetResult(signature, i)),
                        type_text(&found, operand_type(op, i)));
  return success();
}

// Its operands are checked by the op around it.
MlirLogicalResult onnx_verify_yield(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (mlirOperationIsNull(parent) || !onnx_is_onnx(parent))
    return onnx_error(op, "expected an onnx op with regions around it");
  return expect_counts(op, mlirOperationGetNumOperands(op), 0);
}

MlirLogicalResult onnx_verify_entry_point(MlirOperation op) {
  MlirAttribute func = attribute(op, "func");
  if (mlirAttributeIsNull(func) || !mlirAttributeIsAFlatSymbolRef(func))
    return onnx_error(
        op, "attribute 'func' is required: expected a function's symbol such as @main_graph");
  return expect_counts(op, 0, 0);
}

MlirLogicalResult onnx_verify_custom(MlirOperation op) {
  MlirAttribute name = attribute(op, "function_name"), domain = attribute(op, "domain_name");
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return onnx_error(op, "attribute 'function_name' is required: expected a string");
  if (!mlirAttributeIsNull(domain) && !mlirAttributeIsAString(domain))
    return onnx_error(op, "attribute 'domain_name': expected a string");
  return success();
}

MlirLogicalResult onnx_verify_fused(MlirOperation op) {
  MlirAttribute kind = attribute(op, "kind");
  text found, expected;
  if (mlirAttributeIsNull(kind) || !mlirAttributeIsAString(kind))
    return onnx_error(op, "attribute 'kind' is required: expected a string");
  if (mlirOperationGetNumRegions(op) != 1)
    return onnx_error(op, "expected 1 region, found %d", (int)mlirOperationGetNumRegions(op));
  intptr_t operands = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  if (failed(check_region(op, 0, operands, results)))
    return failure();
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < operands; i++) {
    MlirType argument = mlirValueGetType(mlirBlockGetArgument(block, i));
    if (!mlirTypeEqual(argument, operand_type(op, i)))
      return onnx_error(op, "region argument %d: expected %s as the operand, found %s", (int)i,
                        type_text(&expected, operand_type(op, i)), type_text(&found, argument));
  }
  MlirOperation end = terminator_of(op, 0);
  for (intptr_t i = 0; i < results; i++)
    if (!mlirTypeEqual(operand_type(end, i), result_type(op, i)))
      return onnx_error(op, "yielded value %d: expected %s as the result, found %s", (int)i,
                        type_text(&expected, result_type(op, i)),
                        type_text(&found, operand_type(end, i)));
  return success();
}

MlirLogicalResult onnx_verify_layout_transform(MlirOperation op) {
  if (failed(expect_counts(op, 1, 1)))
    return failure();
  MlirAttribute target = attribute(op, "target_layout");
  if (!mlirAttributeIsNull(target) && !mlirAttributeIsAString(target))
    return onnx_error(op, "attribute 'target_layout': expected a string");
  text found, expected;
  if (!compatible(operand_type(op, 0), result_type(op, 0)))
    return onnx_error(op, "result 0: expected the shape and elements of %s, found %s",
                      type_text(&expected, operand_type(op, 0)),
                      type_text(&found, result_type(op, 0)));
  return success();
}

static MlirLogicalResult check_axis(MlirOperation op) {
  MlirAttribute axis = attribute(op, "axis");
  text found;
  if (mlirAttributeIsNull(axis) || !mlirAttributeIsAInteger(axis))
    return onnx_error(op, "attribute 'axis' is required: expected an integer such as 0 : si64");
  MlirType type = operand_type(op, 0);
  if (!mlirTypeIsATensor(type))
    return onnx_error(op, "operand 0: expected a tensor, found %s", type_text(&found, type));
  bool is_signed = mlirTypeIsAInteger(mlirAttributeGetType(axis)) &&
                   mlirIntegerTypeIsSigned(mlirAttributeGetType(axis));
  int64_t value = is_signed ? mlirIntegerAttrGetValueSInt(axis) : mlirIntegerAttrGetValueInt(axis);
  if (value < 0 || (mlirShapedTypeHasRank(type) && value >= mlirShapedTypeGetRank(type)))
    return onnx_error(op, "attribute 'axis': expected an axis of %s, found %lld",
                      type_text(&found, type), (long long)value);
  return success();
}

MlirLogicalResult onnx_verify_dim(MlirOperation op) {
  if (failed(expect_counts(op, 1, 1)) || failed(check_axis(op)))
    return failure();
  MlirType type = result_type(op, 0);
  text found;
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) != 1 ||
      mlirShapedTypeGetDimSize(type, 0) != 1 ||
      onnx_elem_from_mlir(mlirShapedTypeGetElementType(type)) != ONYX_I64)
    return onnx_error(op, "result 0: expected 'tensor<1xi64>', found %s", type_text(&found, type));
  return success();
}

MlirLogicalResult onnx_verify_dim_group(MlirOperation op) {
  return failed(expect_counts(op, 1, 0)) ? failure() : check_axis(op);
}

//===----------------------------------------------------------------------===//
// Discardable attributes onnx.*
//===----------------------------------------------------------------------===//

MlirLogicalResult onnx_verify_attribute(MlirOperation op, intptr_t arg, MlirNamedAttribute attr) {
  static const char *const strings[] = {"onnx.name", "onnx.dim_params", "onnx.weights_root"};
  MlirStringRef name = mlirIdentifierStr(attr.name);
  text found;
  for (int i = 0; i < 3; i++)
    if (mlirStringRefEqual(name, str(strings[i])) && !mlirAttributeIsAString(attr.attribute)) {
      if (arg >= 0)
        return mlirxEmitError(op, "argument %d: attribute '%s': expected a string, found %s",
                              (int)arg, strings[i], attr_text(&found, attr.attribute));
      return mlirxEmitError(op, "attribute '%s': expected a string, found %s", strings[i],
                            attr_text(&found, attr.attribute));
    }
  return success();
}
