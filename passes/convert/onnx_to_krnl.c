//===- onnx_to_krnl.c - The pass convert-onnx-to-krnl --------------------------------===//
#include "passes/convert/lower.h"

#include "dialects/onnx/schema/fingerprint.h"
#include "passes/convert/convert.h"
#include "passes/convert/entry.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Weights files
//===----------------------------------------------------------------------===//

static MlirAttribute weights_files(struct lower *l) {
  return mlirOperationGetAttributeByName(l->module, ir_str("onnx.weights_files"));
}

static MlirStringRef root_of(struct lower *l) {
  MlirStringRef option = mlirxPassGetString(l->pass, 0);
  if (option.length)
    return option;
  MlirAttribute root = mlirOperationGetAttributeByName(l->module, ir_str("onnx.weights_root"));
  return mlirAttributeIsNull(root) || !mlirAttributeIsAString(root) ? (MlirStringRef){"", 0}
                                                                    : mlirStringAttrGetValue(root);
}

static bool is_listed(struct lower *l, MlirStringRef name) {
  MlirAttribute files = weights_files(l);
  intptr_t n = mlirAttributeIsNull(files) ? 0 : mlirArrayAttrGetNumElements(files);
  for (intptr_t i = 0; i < n; ++i) {
    MlirAttribute listed =
        mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(files, i), ir_str("name"));
    if (!mlirAttributeIsNull(listed) && mlirStringRefEqual(mlirStringAttrGetValue(listed), name))
      return true;
  }
  return false;
}

// A file that the module names but does not list (text written by hand): listed as it is now.
static void list_file(struct lower *l, MlirOperation op, MlirStringRef name) {
  MlirStringRef root = root_of(l);
  const char *path = root.length ? onyx_arena_printf(l->arena, "%.*s/%.*s", (int)root.length,
                                                     root.data, (int)name.length, name.data)
                                 : onyx_arena_printf(l->arena, "%.*s", (int)name.length, name.data);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  uint64_t print = ok ? onyx_fingerprint_fd(fd, (uint64_t)st.st_size, &ok) : 0;
  if (fd >= 0)
    close(fd);
  if (!ok) {
    lower_error(l, op, "the weights file '%s' cannot be read", path);
    return;
  }
  char hex[17];
  snprintf(hex, sizeof hex, "%016" PRIx64, print);
  MlirNamedAttribute entry[] = {
      mlirNamedAttributeGet(mlirIdentifierGet(l->ctx, ir_str("fingerprint")),
                            ir_string_attr(l->ctx, hex)),
      mlirNamedAttributeGet(mlirIdentifierGet(l->ctx, ir_str("name")),
                            mlirStringAttrGet(l->ctx, name)),
      mlirNamedAttributeGet(mlirIdentifierGet(l->ctx, ir_str("size")),
                            ir_i64_attr(l->ctx, (int64_t)st.st_size))};
  MlirAttribute files = weights_files(l);
  intptr_t n = mlirAttributeIsNull(files) ? 0 : mlirArrayAttrGetNumElements(files);
  MlirAttribute *all = lower_alloc(l, sizeof(MlirAttribute) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    all[i] = mlirArrayAttrGetElement(files, i);
  all[n] = mlirDictionaryAttrGet(l->ctx, 3, entry);
  mlirOperationSetAttributeByName(l->module, ir_str("onnx.weights_files"),
                                  mlirArrayAttrGet(l->ctx, n + 1, all));
}

static void list_files(struct lower *l, MlirOperation op) {
  struct onnx_file file;
  MlirAttribute value = onnx_is(op, "Constant") ? onnx_constant_value(op) : mlirAttributeGetNull();
  if (!mlirAttributeIsNull(value) && onnx_file_read(value, &file) && !is_listed(l, file.name))
    list_file(l, op, file.name);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      for (MlirOperation inner = mlirBlockGetFirstOperation(b); !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        list_files(l, inner);
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static bool has_body(MlirOperation op) {
  return ir_is(op, "func.func") &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static bool is_shaped(MlirType t) {
  return mlirTypeIsATensor(t);
}

// Does the function belong to the conversion: any onnx op, or a tensor in its signature?
static bool concerns(MlirOperation func) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    if (is_shaped(mlirValueGetType(mlirBlockGetArgument(block, i))))
      return true;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (onnx_is_onnx(op))
      return true;
  return false;
}

static MlirOperation first_op(struct lower *l) {
  return mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(l->module, 0)));
}

static intptr_t collect(struct lower *l, MlirOperation **functions) {
  intptr_t n = 0;
  for (MlirOperation op = first_op(l); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++n;
  *functions = lower_alloc(l, sizeof(MlirOperation) * (size_t)(n + 1));
  n = 0;
  for (MlirOperation op = first_op(l); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (has_body(op) && concerns(op))
      (*functions)[n++] = op;
  return n;
}

static MlirOperation entry_point(struct lower *l) {
  for (MlirOperation op = first_op(l); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirxIsA(op, &onnx_entry_point))
      return op;
  return (MlirOperation){NULL};
}

static MlirStringRef symbol_name(MlirOperation func) {
  return mlirStringAttrGetValue(mlirOperationGetAttributeByName(func, ir_str("sym_name")));
}

// The init function is named after the entry, or the first function.
static const char *name_init(struct lower *l, MlirOperation entry, MlirOperation first) {
  MlirStringRef base = symbol_name(first);
  if (!mlirOperationIsNull(entry))
    base = mlirFlatSymbolRefAttrGetValue(mlirOperationGetAttributeByName(entry, ir_str("func")));
  return onyx_arena_printf(l->arena, "%.*s_init", (int)base.length, base.data);
}

// onyx.nodes: "NAME\tOP" by node ID.
static void name_nodes(struct lower *l) {
  MlirAttribute *names = malloc(sizeof(MlirAttribute) * (size_t)(l->num_plans + 1));
  for (intptr_t i = 0; i < l->num_plans; ++i) {
    MlirStringRef op = mlirIdentifierStr(mlirOperationGetName(l->list[i]->op));
    MlirStringRef node = onnx_node_name(l->list[i]->op);
    size_t skip = op.length > 5 && !memcmp(op.data, "onnx.", 5) ? 5 : 0;
    names[i] = ir_string_attr(l->ctx,
                              onyx_arena_printf(l->arena, "%.*s\t%.*s", (int)node.length, node.data,
                                                (int)(op.length - skip), op.data + skip));
  }
  mlirOperationSetAttributeByName(l->module, ir_str("onyx.nodes"),
                                  mlirArrayAttrGet(l->ctx, l->num_plans, names));
  free(names);
}

static void set_c_interface(struct lower *l, MlirOperation func) {
  mlirOperationSetDiscardableAttributeByName(func, ir_str("llvm.emit_c_interface"),
                                             mlirUnitAttrGet(l->ctx));
}

static void lower_entry_point(struct lower *l, MlirOperation entry, struct lower_function *init) {
  MlirAttribute func = mlirOperationGetAttributeByName(entry, ir_str("func"));
  MlirOperation old = {NULL};
  struct lower_function *f = NULL;
  for (MlirOperation op = first_op(l); !mlirOperationIsNull(op) && !f;
       op = mlirOperationGetNextInBlock(op))
    if (has_body(op) && mlirStringRefEqual(symbol_name(op), mlirFlatSymbolRefAttrGetValue(func)))
      f = ptr_map_get(&l->functions, (old = op).ptr);
  if (!f) {
    lower_error(l, entry, "the entry point names no function with a body");
    return;
  }
  char *signature = onyx_signature_text(old);
  MlirType type =
      mlirTypeAttrGetValue(mlirOperationGetAttributeByName(old, ir_str("function_type")));
  struct ir ir = ir_before(entry);
  struct ir_attr attrs[] = {
      {"func", func},
      {"numInputs", ir_i64_attr(l->ctx, mlirFunctionTypeGetNumInputs(type))},
      {"numOutputs", ir_i64_attr(l->ctx, mlirFunctionTypeGetNumResults(type))},
      {"signature", ir_string_attr(l->ctx, signature)},
      {"init",
       init ? mlirFlatSymbolRefAttrGet(l->ctx, ir_str(l->init_name)) : mlirAttributeGetNull()}};
  ir_op(&ir, "krnl.entry_point", 0, NULL, 0, NULL, init ? 5 : 4, attrs, 0, NULL);
  free(signature);
  set_c_interface(l, f->func);
  if (init)
    set_c_interface(l, init->func);
  mlirOperationDestroy(entry);
}

static void emit_module(struct lower *l, intptr_t n, MlirOperation *functions) {
  MlirOperation entry = entry_point(l);
  struct lower_function *init = NULL;
  if (l->constants_bytes) {
    l->init_name = name_init(l, entry, functions[0]);
    init = lower_function_create(l, functions[0], l->init_name);
  }
  struct lower_function **made = lower_alloc(l, sizeof(*made) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i) {
    made[i] = lower_function_create(l, functions[i], NULL);
    ptr_map_set(&l->functions, functions[i].ptr, made[i]);
  }
  if (init)
    lower_init_emit(l, init);
  for (intptr_t i = 0; i < n; ++i)
    lower_function_emit(made[i]);
  name_nodes(l);
  if (!mlirOperationIsNull(entry))
    lower_entry_point(l, entry, init);
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation module, void *state) {
  (void)state;
  struct lower l = {.pass = pass, .module = module, .ctx = mlirOperationGetContext(module)};
  l.views = view_scope_create(module, VIEW_CODE, mlirxPassGetString(pass, 0));
  l.arena = view_scope_arena(l.views);
  view_scope_set_expand(l.views, (int64_t)1 << 28);
  MlirOperation *functions;
  intptr_t n = collect(&l, &functions);
  list_files(&l, module);
  for (intptr_t i = 0; i < n; ++i)
    lower_plan_function(&l, functions[i]);
  MlirAttribute files = weights_files(&l);
  l.num_weights = mlirAttributeIsNull(files) ? 0 : (int)mlirArrayAttrGetNumElements(files);
  if (!l.failed && n) {
    emit_module(&l, n, functions);
    for (intptr_t i = 0; i < n; ++i)
      mlirOperationDestroy(functions[i]);
  }
  ptr_map_free(&l.plans);
  ptr_map_free(&l.copied);
  ptr_map_free(&l.functions);
  free(l.list);
  free(l.copies);
  view_scope_destroy(l.views);
  return l.failed ? mlirLogicalResultFailure() : mlirLogicalResultSuccess();
}

static const char *const anchors[] = {"builtin.module", NULL};
static const char *const dialects[] = {"affine", "arith",  "complex", "func", "krnl",
                                       "math",   "memref", "scf",     NULL};
static const MlirxOption options[] = {
    {"weights-root", MLIRX_OPT_STRING, NULL, "folder of the files that #onnx.file names"},
    {NULL, MLIRX_OPT_BOOL, NULL, NULL}};

const MlirxPassDescriptor convert_onnx_to_krnl = {
    .argument = "convert-onnx-to-krnl",
    .description = "Lower ONNX operators on tensors to krnl loops on memrefs",
    .anchors = anchors,
    .dependentDialects = dialects,
    .options = options,
    .run = run};
