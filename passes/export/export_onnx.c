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
  MODEL_DOC = 6,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8,
  MODEL_METADATA = 14,
  MODEL_FUNCTION = 25,
  GRAPH_DOC = 10,
  GRAPH_QUANTIZATION = 14,
  FUNCTION_NAME = 1,
  FUNCTION_OPSET = 9,
  OPSET_DOMAIN = 1,
  OPSET_VERSION = 2
};

enum { IR_WITH_FUNCTIONS = 8 };

static const uint64_t most_bytes = (1ull << 31) - 1; // of a protobuf message

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

// --- opsets

static bool known_domain(MlirStringRef name) {
  for (int i = 0; i < onyx_num_operators; i++)
    if (mlirStringRefEqual(str(onyx_schema_newest_rows[i]->domain), name))
      return true;
  return false;
}

static MlirAttribute entry_of(MlirAttribute dictionary, const char *name) {
  return mlirAttributeIsADictionary(dictionary)
             ? mlirDictionaryAttrGetElementByName(dictionary, str(name))
             : mlirAttributeGetNull();
}

static MlirAttribute list_of(MlirOperation module, const char *name) {
  MlirAttribute a = mlirOperationGetAttributeByName(module, str(name));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAArray(a) ? mlirAttributeGetNull() : a;
}

// The version that the model imported of a domain that no schema describes; else the first.
static int recorded_version(struct exporter *e, MlirStringRef name) {
  MlirAttribute all = list_of(e->module, "onnx.opset_imports");
  if (mlirAttributeIsNull(all) || known_domain(name))
    return 1;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all); i++) {
    MlirAttribute domain = entry_of(mlirArrayAttrGetElement(all, i), "domain");
    MlirAttribute version = entry_of(mlirArrayAttrGetElement(all, i), "version");
    if (!mlirAttributeIsNull(domain) && mlirAttributeIsAString(domain) &&
        mlirStringRefEqual(mlirStringAttrGetValue(domain), name) && !mlirAttributeIsNull(version) &&
        mlirAttributeIsAInteger(version))
      return (int)mlirIntegerAttrGetValueInt(version);
  }
  return 1;
}

static struct export_domain *domain_of(struct exporter *e, MlirStringRef name) {
  MlirAttribute key = mlirStringAttrGet(e->ctx, name);
  struct export_domain *d = ptr_map_get(&e->domains, key.ptr);
  if (d)
    return d;
  d = ONYX_NEW(e->arena, struct export_domain);
  d->name = onyx_arena_printf(e->arena, "%.*s", (int)name.length, name.data);
  d->opset = name.length ? recorded_version(e, name) : EXPORT_OLDEST_OPSET;
  d->next = e->first_domain;
  e->first_domain = d;
  ptr_map_set(&e->domains, key.ptr, d);
  return d;
}

static MlirStringRef domain_name(struct exporter *e, MlirOperation op) {
  const onyx_schema *row = onnx_schema_of(op);
  const struct export_function *callee = export_callee(e, op);
  if (callee)
    return mlirStringAttrGetValue(callee->domain);
  if (row)
    return str(row->domain);
  MlirAttribute a = mlirOperationGetAttributeByName(op, str("domain_name"));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? str("") : mlirStringAttrGetValue(a);
}

int export_opset(struct exporter *e, MlirOperation op) {
  return domain_of(e, domain_name(e, op))->opset;
}

static MlirWalkResult note_version(MlirOperation op, void *user) {
  struct exporter *e = user;
  bool initializer = onnx_is(op, "Constant") && !export_constant_is_node(e, op);
  if (initializer || (!onnx_schema_of(op) && !mlirxIsA(op, &onnx_custom) && !export_callee(e, op)))
    return MlirWalkResultAdvance;
  struct export_domain *d = domain_of(e, domain_name(e, op));
  int version = export_oldest_version(op, e->inverse);
  if (version > d->opset) {
    d->opset = version;
    d->needs = op;
  }
  return MlirWalkResultAdvance;
}

static void note_versions(struct exporter *e, MlirOperation function) {
  mlirOperationWalk(function, note_version, e, MlirWalkPreOrder);
  e->in_function = true;
  for (struct export_function *f = e->functions; f; f = f->next) {
    domain_of(e, mlirStringAttrGetValue(f->domain));
    mlirOperationWalk(f->op, note_version, e, MlirWalkPreOrder);
  }
  e->in_function = false;
}

// The lowest opsets that express everything as it is, or the one asked for, then by inverse
// upgrades where it is older.
static bool choose_opsets(struct exporter *e, MlirOperation function, int64_t asked) {
  struct export_domain *main = domain_of(e, str(""));
  note_versions(e, function);
  if (asked == 0)
    return true;
  if (asked < EXPORT_OLDEST_OPSET || asked > onyx_schema_newest_opset) {
    export_fail(e, function, "opset: expected %d to %d, found %lld", EXPORT_OLDEST_OPSET,
                onyx_schema_newest_opset, (long long)asked);
    return false;
  }
  if (asked < main->opset) {
    e->inverse = true;
    main->opset = EXPORT_OLDEST_OPSET;
    note_versions(e, function);
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

static void put_opsets(struct exporter *e, struct wire *model, int field) {
  for (struct export_domain *d = e->first_domain; d; d = d->next) {
    struct wire o = wire_begin(e->arena);
    wire_text(&o, OPSET_DOMAIN, d->name);
    wire_int(&o, OPSET_VERSION, d->opset);
    wire_message(model, field, &o);
  }
}

static void put_text_entry(struct wire *to, int field, MlirAttribute dictionary, const char *name) {
  MlirAttribute text = entry_of(dictionary, name);
  if (!mlirAttributeIsNull(text) && mlirAttributeIsAString(text))
    wire_bytes(to, field, mlirStringAttrGetValue(text).data, mlirStringAttrGetValue(text).length);
}

// StringStringEntryProto of each dictionary in the list.
static void put_pairs(struct exporter *e, struct wire *to, int field, MlirAttribute all,
                      const char *value) {
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all))
    return;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all); i++) {
    struct wire pair = wire_begin(e->arena);
    put_text_entry(&pair, 1, mlirArrayAttrGetElement(all, i), "key");
    put_text_entry(&pair, 2, mlirArrayAttrGetElement(all, i), value);
    wire_message(to, field, &pair);
  }
}

// As recorded; a value between two nodes may have another name than it had.
static void put_quantization(struct exporter *e, struct wire *graph, MlirOperation module) {
  MlirAttribute all = list_of(module, "onnx.quantization_annotations");
  for (intptr_t i = 0; !mlirAttributeIsNull(all) && i < mlirArrayAttrGetNumElements(all); i++) {
    MlirAttribute entry = mlirArrayAttrGetElement(all, i);
    struct wire annotation = wire_begin(e->arena);
    put_text_entry(&annotation, 1, entry, "tensor");
    put_pairs(e, &annotation, 2, entry_of(entry, "parameters"), "tensor");
    wire_message(graph, GRAPH_QUANTIZATION, &annotation);
  }
}

static bool same_bytes(struct exporter *e, const struct wire *a, const struct wire *b) {
  if (a->size != b->size)
    return false;
  char *x = wire_copy(a, e->arena), *y = wire_copy(b, e->arena);
  return !memcmp(x, y, a->size);
}

// An earlier function of the same name and body: instances of one function for several types are
// one function in the file, which has no types.
static const struct export_function *earlier_same(struct exporter *e,
                                                  const struct export_function *f) {
  for (const struct export_function *g = e->functions; g != f; g = g->next)
    if (mlirAttributeEqual(g->domain, f->domain) && mlirAttributeEqual(g->base, f->base) &&
        same_bytes(e, &g->body, &f->body))
      return g;
  return NULL;
}

static void put_functions(struct exporter *e, struct wire *model) {
  for (struct export_function *f = e->functions; f && !e->failed; f = f->next) {
    f->body = export_function(e, f);
    const struct export_function *same = f->called ? NULL : earlier_same(e, f);
    if (same) {
      f->name = same->name;
      continue;
    }
    struct wire function = wire_begin(e->arena);
    char *bytes = wire_copy(&f->body, e->arena);
    MlirStringRef name = mlirStringAttrGetValue(f->name);
    wire_bytes(&function, FUNCTION_NAME, name.data, name.length);
    wire_append(&function, bytes, f->body.size);
    put_opsets(e, &function, FUNCTION_OPSET);
    wire_message(model, MODEL_FUNCTION, &function);
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
  int ir = export_ir_version(opset);
  wire_int(&model, MODEL_IR, e->functions && ir < IR_WITH_FUNCTIONS ? IR_WITH_FUNCTIONS : ir);
  put_string(&model, MODEL_PRODUCER, module, "onnx.producer_name");
  put_string(&model, MODEL_PRODUCER_VERSION, module, "onnx.producer_version");
  put_string(&model, MODEL_DOMAIN, module, "onnx.domain");
  MlirAttribute version = mlirOperationGetAttributeByName(module, str("onnx.model_version"));
  if (!mlirAttributeIsNull(version) && mlirAttributeIsAInteger(version))
    wire_int(&model, MODEL_VERSION, mlirIntegerAttrGetValueInt(version));
  put_string(&model, MODEL_DOC, module, "onnx.doc");
  put_functions(e, &model);
  struct wire graph = export_graph(e, body, function, graph_name);
  put_string(&graph, GRAPH_DOC, module, "onnx.graph_doc");
  put_quantization(e, &graph, module);
  wire_message(&model, MODEL_GRAPH, &graph);
  put_opsets(e, &model, MODEL_OPSET);
  put_pairs(e, &model, MODEL_METADATA, list_of(module, "onnx.metadata_props"), "value");
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

static MlirAttribute text_attr(MlirOperation op, const char *name) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, str(name));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAString(a) ? mlirAttributeGetNull() : a;
}

static bool function_is_named(const struct exporter *e, MlirAttribute domain, MlirAttribute name) {
  for (const struct export_function *f = e->functions; f; f = f->next)
    if (mlirAttributeEqual(f->domain, domain) && mlirAttributeEqual(f->name, name))
      return true;
  return false;
}

// The other functions with a body, in their order. A function that import kept in instances of
// several types is several functions, the later ones with a number.
static void find_functions(struct exporter *e, MlirOperation module, MlirOperation entry) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  struct export_function **end = &e->functions;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("func.func")) ||
        mlirOperationEqual(op, entry) ||
        mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))))
      continue;
    MlirAttribute domain = text_attr(op, "onnx.domain"), name = text_attr(op, "onnx.function_name");
    if (mlirAttributeIsNull(domain))
      domain = mlirStringAttrGet(e->ctx, str("local"));
    if (mlirAttributeIsNull(name))
      name = mlirOperationGetAttributeByName(op, str("sym_name"));
    MlirAttribute base_name = name;
    MlirStringRef base = mlirStringAttrGetValue(name);
    for (int i = 1; function_is_named(e, domain, name); i++)
      name = mlirStringAttrGet(
          e->ctx, str(onyx_arena_printf(e->arena, "%.*s_%d", (int)base.length, base.data, i)));
    struct export_function *f = ONYX_NEW(e->arena, struct export_function);
    *f = (struct export_function){.op = op, .domain = domain, .base = base_name, .name = name};
    *end = f;
    end = &f->next;
  }
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
                       .module = module,
                       .arena = onyx_arena_create(),
                       .views = view_scope_create(module, VIEW_INFER, root),
                       .weights = weights_cache_create(module, root)};
  find_functions(&e, module, function);
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
