// export-onnx: a module as a .onnx file. Weights that live in files are copied from their mapping
// to the new file when it is written, never into memory of ours.
#include "dialects/onnx/weights.h"
#include "passes/export/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_PATH, OPT_OPSET, OPT_EXTERNAL, OPT_ROOT };

enum {
  MODEL_IR = 1,
  MODEL_PRODUCER = 2,
  MODEL_PRODUCER_VERSION = 3,
  MODEL_DOMAIN = 4,
  MODEL_VERSION = 5,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8,
  MODEL_METADATA = 14,
  OPSET_DOMAIN = 1,
  OPSET_VERSION = 2
};

static const uint64_t most_bytes = (1ull << 31) - 1; // of a protobuf message

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

// --- opsets

static struct export_domain *domain_of(struct exporter *e, MlirStringRef name) {
  MlirAttribute key = mlirStringAttrGet(e->ctx, name);
  struct export_domain *d = ptr_map_get(&e->domains, key.ptr);
  if (d)
    return d;
  d = ONYX_NEW(e->arena, struct export_domain);
  d->name = onyx_arena_printf(e->arena, "%.*s", (int)name.length, name.data);
  d->opset = name.length ? 1 : EXPORT_OLDEST_OPSET;
  d->next = e->first_domain;
  e->first_domain = d;
  ptr_map_set(&e->domains, key.ptr, d);
  return d;
}

static MlirStringRef domain_name(MlirOperation op) {
  const onyx_schema *row = onnx_schema_of(op);
  if (row)
    return str(row->domain);
  MlirAttribute a = mlirOperationGetAttributeByName(op, str("domain_name"));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? str("") : mlirStringAttrGetValue(a);
}

int export_opset(struct exporter *e, MlirOperation op) {
  return domain_of(e, domain_name(op))->opset;
}

static MlirWalkResult note_version(MlirOperation op, void *user) {
  struct exporter *e = user;
  if (onnx_is(op, "Constant") || (!onnx_schema_of(op) && !mlirxIsA(op, &onnx_custom)))
    return MlirWalkResultAdvance;
  struct export_domain *d = domain_of(e, domain_name(op));
  int version = export_oldest_version(op);
  if (version > d->opset) {
    d->opset = version;
    d->needs = op;
  }
  return MlirWalkResultAdvance;
}

// The lowest opsets that express everything, or the one asked for.
static bool choose_opsets(struct exporter *e, MlirOperation function, int64_t asked) {
  struct export_domain *main = domain_of(e, str(""));
  mlirOperationWalk(function, note_version, e, MlirWalkPreOrder);
  if (asked == 0)
    return true;
  if (asked < EXPORT_OLDEST_OPSET || asked > onyx_schema_newest_opset) {
    export_fail(e, function, "opset: expected %d to %d, found %lld", EXPORT_OLDEST_OPSET,
                onyx_schema_newest_opset, (long long)asked);
    return false;
  }
  if (asked < main->opset) {
    export_fail(e, main->needs, "needs opset %d as it is used; opset %lld was asked for",
                main->opset, (long long)asked);
    return false;
  }
  main->opset = (int)asked;
  return true;
}

// --- the model

static void put_string(struct wire *model, int field, MlirOperation module, const char *name) {
  MlirAttribute a = mlirOperationGetAttributeByName(module, str(name));
  if (!mlirAttributeIsNull(a) && mlirAttributeIsAString(a))
    wire_bytes(model, field, mlirStringAttrGetValue(a).data, mlirStringAttrGetValue(a).length);
}

static void put_opsets(struct exporter *e, struct wire *model) {
  for (struct export_domain *d = e->first_domain; d; d = d->next) {
    struct wire o = wire_begin(e->arena);
    wire_text(&o, OPSET_DOMAIN, d->name);
    wire_int(&o, OPSET_VERSION, d->opset);
    wire_message(model, MODEL_OPSET, &o);
  }
}

static void put_metadata(struct exporter *e, struct wire *model, MlirOperation module) {
  MlirAttribute all = mlirOperationGetAttributeByName(module, str("onnx.metadata_props"));
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all))
    return;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all); i++) {
    MlirAttribute entry = mlirArrayAttrGetElement(all, i);
    struct wire pair = wire_begin(e->arena);
    static const char *const names[] = {"key", "value"};
    for (int k = 0; k < 2 && mlirAttributeIsADictionary(entry); k++) {
      MlirAttribute text = mlirDictionaryAttrGetElementByName(entry, str(names[k]));
      if (!mlirAttributeIsNull(text) && mlirAttributeIsAString(text))
        wire_bytes(&pair, 1 + k, mlirStringAttrGetValue(text).data,
                   mlirStringAttrGetValue(text).length);
    }
    wire_message(model, MODEL_METADATA, &pair);
  }
}

static struct wire export_model(struct exporter *e, MlirOperation module, MlirOperation function) {
  struct wire model = wire_begin(e->arena);
  int opset = domain_of(e, str(""))->opset;
  MlirAttribute name = mlirOperationGetAttributeByName(module, str("onnx.graph_name"));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  const char *graph_name = "main_graph";
  if (!mlirAttributeIsNull(name) && mlirAttributeIsAString(name))
    graph_name = onyx_arena_printf(e->arena, "%.*s", (int)mlirStringAttrGetValue(name).length,
                                   mlirStringAttrGetValue(name).data);
  wire_int(&model, MODEL_IR, export_ir_version(opset));
  put_string(&model, MODEL_PRODUCER, module, "onnx.producer_name");
  put_string(&model, MODEL_PRODUCER_VERSION, module, "onnx.producer_version");
  put_string(&model, MODEL_DOMAIN, module, "onnx.domain");
  MlirAttribute version = mlirOperationGetAttributeByName(module, str("onnx.model_version"));
  if (!mlirAttributeIsNull(version) && mlirAttributeIsAInteger(version))
    wire_int(&model, MODEL_VERSION, mlirIntegerAttrGetValueInt(version));
  struct wire graph = export_graph(e, body, function, graph_name);
  wire_message(&model, MODEL_GRAPH, &graph);
  put_opsets(e, &model);
  put_metadata(e, &model, module);
  return model;
}

// --- files: written beside the target and renamed, so that none is left half-written

static FILE *open_beside(struct exporter *e, const char *path, char **temporary) {
  *temporary = onyx_arena_printf(e->arena, "%s.%ld.tmp", path, (long)getpid());
  return fopen(*temporary, "wb");
}

static bool finish(struct exporter *e, MlirOperation module, FILE *f, bool ok,
                   const char *temporary, const char *path) {
  ok &= fflush(f) == 0;
  ok &= fclose(f) == 0;
  if (ok && rename(temporary, path) == 0)
    return true;
  export_fail(e, module, "cannot write %s: %s", path, strerror(errno));
  unlink(temporary);
  return false;
}

static char *beside(struct exporter *e, const char *path, MlirStringRef name) {
  const char *slash = strrchr(path, '/');
  return onyx_arena_printf(e->arena, "%.*s%.*s", slash ? (int)(slash - path + 1) : 0, path,
                           (int)name.length, name.data);
}

// Writes the model with its weights inside, or beside it in the file `external`.
static void write_model(struct exporter *e, MlirOperation module, MlirOperation function,
                        const char *path, MlirStringRef external) {
  char *temporary, *data_temporary = NULL, *data_path = NULL;
  if (external.length) {
    data_path = beside(e, path, external);
    e->external.name = onyx_arena_printf(e->arena, "%.*s", (int)external.length, external.data);
    if (!(e->external.stream = open_beside(e, data_path, &data_temporary))) {
      export_fail(e, module, "cannot write %s: %s", data_path, strerror(errno));
      return;
    }
  }
  struct wire model = export_model(e, module, function);
  if (!e->failed && model.size > most_bytes)
    export_fail(
        e, module,
        "the model takes %llu bytes, more than a protobuf message may: use external-data=FILE",
        (unsigned long long)model.size);
  FILE *f = e->failed ? NULL : open_beside(e, path, &temporary);
  if (!e->failed && !f)
    export_fail(e, module, "cannot write %s: %s", path, strerror(errno));
  if (e->external.stream) {
    bool ok = !e->failed && !e->external.failed;
    if (ok) {
      finish(e, module, e->external.stream, true, data_temporary, data_path);
    } else {
      if (e->external.failed)
        export_fail(e, module, "cannot write %s: %s", data_path, strerror(errno));
      fclose(e->external.stream);
      unlink(data_temporary);
    }
  }
  if (f)
    finish(e, module, f, wire_write(&model, f), temporary, path);
}

// --- the pass

// The function that the entry point names, else the only one.
static MlirOperation find_function(MlirOperation module) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirOperation found = {NULL};
  MlirAttribute entry = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirxIsA(op, &onnx_entry_point))
      entry = mlirOperationGetAttributeByName(op, str("func"));
  int count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("func.func")))
      continue;
    MlirStringRef name =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, str("sym_name")));
    bool named = !mlirAttributeIsNull(entry) && mlirAttributeIsAFlatSymbolRef(entry) &&
                 mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(entry), name);
    if (named || mlirAttributeIsNull(entry)) {
      found = op;
      count++;
    }
  }
  return count == 1 && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(found, 0)))
             ? found
             : (MlirOperation){NULL};
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation module, void *state) {
  (void)state;
  MlirStringRef path = mlirxPassGetString(pass, OPT_PATH),
                root = mlirxPassGetString(pass, OPT_ROOT);
  if (!path.length)
    return mlirxEmitError(module, "export-onnx: the option path=FILE is missing");
  MlirOperation function = find_function(module);
  if (mlirOperationIsNull(function))
    return mlirxEmitError(module,
                          "export-onnx: expected an onnx.EntryPoint or one function with a body");
  struct exporter e = {.ctx = mlirOperationGetContext(module),
                       .arena = onyx_arena_create(),
                       .views = view_scope_create(module, VIEW_INFER, root),
                       .weights = weights_cache_create(module, root)};
  view_scope_set_expand(e.views, 1 << 26);
  char *text = onyx_arena_printf(e.arena, "%.*s", (int)path.length, path.data);
  if (choose_opsets(&e, function, mlirxPassGetInt(pass, OPT_OPSET)))
    write_model(&e, module, function, text, mlirxPassGetString(pass, OPT_EXTERNAL));
  ptr_map_free(&e.names);
  ptr_map_free(&e.taken);
  ptr_map_free(&e.nodes);
  ptr_map_free(&e.domains);
  weights_cache_destroy(e.weights);
  view_scope_destroy(e.views);
  onyx_arena_destroy(e.arena);
  return e.failed ? mlirLogicalResultFailure() : mlirLogicalResultSuccess();
}

static const MlirxOption options[] = {
    [OPT_PATH] = {"path", MLIRX_OPT_STRING, NULL, "the .onnx file to write"},
    [OPT_OPSET] = {"opset", MLIRX_OPT_INT, "0",
                   "opset of ai.onnx; 0: the lowest that expresses every op"},
    [OPT_EXTERNAL] =
        {"external-data", MLIRX_OPT_STRING, NULL,
         "file beside the model for weights of 1024 bytes and more; empty: they go inside"},
    [OPT_ROOT] = {"weights-root", MLIRX_OPT_STRING, NULL,
                  "folder that #onnx.file names are relative to"},
    {NULL, MLIRX_OPT_BOOL, NULL, NULL},
};

static const char *const anchors[] = {"builtin.module", NULL};

const MlirxPassDescriptor export_onnx_pass = {
    .argument = "export-onnx",
    .description = "Write the module as a .onnx file",
    .anchors = anchors,
    .options = options,
    .run = run,
};
