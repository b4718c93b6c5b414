// onnx-set-dims fixes symbolic dims of a function's arguments; onnx-make-dynamic does the reverse,
// for tests. Both leave what follows from it to shape-inference.
#include "dialects/onnx/onnx.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

// --- function types

static MlirBlock body_of(MlirOperation function) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
}

// Takes the arguments' types from the block and the results' from what is returned.
static void update_function(MlirOperation function) {
  MlirBlock body = body_of(function);
  MlirOperation end = mlirBlockGetTerminator(body);
  intptr_t n = mlirBlockGetNumArguments(body), m = mlirOperationGetNumOperands(end);
  MlirType *types = malloc(sizeof *types * (size_t)(n + m + 1));
  if (!types)
    abort();
  for (intptr_t i = 0; i < n; i++)
    types[i] = mlirValueGetType(mlirBlockGetArgument(body, i));
  for (intptr_t i = 0; i < m; i++)
    types[n + i] = mlirValueGetType(mlirOperationGetOperand(end, i));
  MlirType type = mlirFunctionTypeGet(mlirOperationGetContext(function), n, types, m, types + n);
  mlirOperationSetAttributeByName(function, str("function_type"), mlirTypeAttrGet(type));
  free(types);
}

static MlirType with_dim(MlirType type, int64_t axis, int64_t size) {
  int64_t shape[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; i++)
    shape[i] = i == axis ? size : mlirShapedTypeGetDimSize(type, i);
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(type),
                                 mlirRankedTensorTypeGetEncoding(type));
}

static bool is_ranked(MlirType t) {
  return mlirTypeIsARankedTensor(t) && mlirShapedTypeGetRank(t) <= ONYX_MAX_RANK;
}

// --- onnx-set-dims

struct setting {
  MlirStringRef name;
  int64_t size;
  bool used;
};

struct settings {
  MlirxPass pass;
  struct setting *list;
  intptr_t count;
};

static bool same_text(MlirStringRef a, MlirStringRef b) {
  return mlirStringRefEqual(a, b);
}

static MlirLogicalResult read_settings(MlirOperation op, struct settings *s) {
  s->count = mlirxPassGetListSize(s->pass, 0);
  s->list = calloc((size_t)s->count + 1, sizeof *s->list);
  if (!s->list)
    abort();
  if (s->count == 0)
    return mlirxEmitError(op, "onnx-set-dims: expected dims=NAME=N,...");
  for (intptr_t i = 0; i < s->count; i++) {
    MlirStringRef text = mlirxPassGetListString(s->pass, 0, i);
    const char *equal = memchr(text.data, '=', text.length);
    char number[24] = "", *end = number;
    if (equal) {
      size_t n = text.length - (size_t)(equal + 1 - text.data);
      memcpy(number, equal + 1, n < sizeof number - 1 ? n : sizeof number - 1);
    }
    int64_t size = strtoll(number, &end, 10);
    if (!equal || !*number || *end || size < 0)
      return mlirxEmitError(op, "onnx-set-dims: expected NAME=N, found '%.*s'", (int)text.length,
                            text.data);
    s->list[i] = (struct setting){{text.data, (size_t)(equal - text.data)}, size, false};
  }
  return mlirLogicalResultSuccess();
}

static struct setting *find(struct settings *s, MlirStringRef name) {
  for (intptr_t i = 0; i < s->count; i++)
    if (same_text(s->list[i].name, name))
      return &s->list[i];
  return NULL;
}

static MlirStringRef dim_params(MlirOperation function, intptr_t argument) {
  MlirAttribute all = mlirOperationGetAttributeByName(function, str("arg_attrs"));
  if (mlirAttributeIsNull(all) || argument >= mlirArrayAttrGetNumElements(all))
    return str("");
  MlirAttribute a = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, argument),
                                                       str("onnx.dim_params"));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? str("") : mlirStringAttrGetValue(a);
}

// "0:batch,1:seq": calls for each entry.
static MlirType apply_params(struct settings *s, MlirType type, MlirStringRef params) {
  for (size_t i = 0; i < params.length;) {
    int64_t axis = 0;
    for (; i < params.length && params.data[i] >= '0' && params.data[i] <= '9'; i++)
      axis = axis * 10 + (params.data[i] - '0');
    if (i == params.length || params.data[i] != ':')
      break;
    const char *name = params.data + ++i;
    while (i < params.length && params.data[i] != ',')
      i++;
    struct setting *set = find(s, (MlirStringRef){name, (size_t)(params.data + i - name)});
    i++;
    if (!set || axis >= mlirShapedTypeGetRank(type) || !mlirShapedTypeIsDynamicDim(type, axis))
      continue;
    set->used = true;
    type = with_dim(type, axis, set->size);
  }
  return type;
}

static MlirLogicalResult set_function(MlirOperation function, void *user) {
  MlirBlock body = body_of(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
    MlirValue v = mlirBlockGetArgument(body, i);
    if (is_ranked(mlirValueGetType(v)))
      mlirValueSetType(v, apply_params(user, mlirValueGetType(v), dim_params(function, i)));
  }
  update_function(function);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run_set(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct settings s = {.pass = pass};
  MlirLogicalResult ok = read_settings(op, &s);
  if (mlirLogicalResultIsSuccess(ok))
    ok = for_each_function(op, set_function, &s);
  for (intptr_t i = 0; mlirLogicalResultIsSuccess(ok) && i < s.count; i++)
    if (!s.list[i].used)
      ok = mlirxEmitError(op, "onnx-set-dims: no argument has a dim named '%.*s'",
                          (int)s.list[i].name.length, s.list[i].name.data);
  free(s.list);
  return ok;
}

static const MlirxOption set_options[] = {
    {"dims", MLIRX_OPT_STRING_LIST, NULL, "NAME=N: dims named so in onnx.dim_params become N"},
    {0}};

const MlirxPassDescriptor onnx_set_dims_pass = {.argument = "onnx-set-dims",
                                                .description =
                                                    "Give symbolic dims of arguments a size",
                                                .options = set_options,
                                                .run = run_set};

// --- onnx-make-dynamic

static MlirType unranked(MlirType t) {
  if (!mlirTypeIsATensor(t))
    return t;
  return mlirUnrankedTensorTypeGet(mlirShapedTypeGetElementType(t));
}

static MlirLogicalResult forget(MlirOperation op, void *user) {
  (void)user;
  if (!onnx_schema_of(op) && !mlirxIsA(op, &onnx_custom))
    return mlirLogicalResultSuccess();
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && !onnx_is(op, "Constant"); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    mlirValueSetType(v, unranked(mlirValueGetType(v)));
  }
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult forget_function(MlirOperation function, void *user) {
  int64_t axis = *(int64_t *)user;
  MlirBlock body = body_of(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
    MlirValue v = mlirBlockGetArgument(body, i);
    MlirType type = mlirValueGetType(v);
    for (intptr_t k = 0; is_ranked(type) && k < mlirShapedTypeGetRank(type); k++)
      if (axis < 0 || k == axis)
        type = with_dim(type, k, mlirShapedTypeGetDynamicSize());
    mlirValueSetType(v, type);
  }
  MlirLogicalResult ok = walk_ops(function, forget, NULL);
  update_function(function);
  return ok;
}

static MlirLogicalResult run_dynamic(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  int64_t axis = mlirxPassGetInt(pass, 0);
  return for_each_function(op, forget_function, &axis);
}

static const MlirxOption dynamic_options[] = {
    {"axis", MLIRX_OPT_INT, "0", "axis of every argument that becomes `?`; -1: all"}, {0}};

const MlirxPassDescriptor onnx_make_dynamic_pass = {
    .argument = "onnx-make-dynamic",
    .description = "Make dims of arguments dynamic and forget all other shapes",
    .options = dynamic_options,
    .run = run_dynamic};
