// Create, run, destroy: what a compiled model links against its onyx_manifest and onyx_entry.
#include "onyx/model.h"

#include "runtime/error.h"
#include "runtime/manifest.h"
#include "runtime/parts.h"
#include "runtime/strings.h"
#include "runtime/weights.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Made by the compiler; hidden, so that two models in one process never see each other's.
#define HIDDEN __attribute__((visibility("hidden")))
extern const char onyx_manifest[] HIDDEN;
extern void onyx_entry(void **args, void *results) HIDDEN;
extern void onyx_init(void **args, void *results) HIDDEN __attribute__((weak));
// Made by onyx-compile: where the weights are, seen from the .so's folder.
extern const char onyx_weights_hint[] HIDDEN __attribute__((weak));
// OpenMP's, where the model uses it.
extern void omp_set_num_threads(int) __attribute__((weak));
extern int omp_get_max_threads(void) __attribute__((weak));

enum { ALIGNMENT = 64, STATUS_WORDS = 4 };

// What one run needs and the next can use again.
typedef struct context {
  struct context *next;
  int64_t status[STATUS_WORDS];
  void *arena;
  void **args;    // of the entry: inputs, then hidden
  void **copies;  // ONYX_MAX_PARTS an input, NULL or memory of this run
  int64_t *descs; // of the arguments
  int64_t *results;
} context;

struct onyx_model {
  onyx_pool pool;
  onyx_manifest_data manifest;
  onyx_weights *weights;
  void *constants;
  size_t constants_bytes; // of the mapping
  int64_t arena_bytes;
  size_t desc_words, result_words;
  int num_threads;
  pthread_mutex_t lock; // guards idle
  context *idle;
};

//===-- Contexts ----------------------------------------------------------------------------===//

static void context_free(context *c) {
  if (!c)
    return;
  free(c->arena);
  free(c->args);
  free(c->copies);
  free(c->descs);
  free(c->results);
  free(c);
}

// Descriptor of rank 1 for a hidden argument; returns its end.
static int64_t *hidden_desc(int64_t *desc, void *data, int64_t size) {
  onyx_desc_fill(desc, data, &size, 1);
  return desc + onyx_desc_words(1);
}

static int64_t *fill_hidden(const onyx_model *m, const onyx_hidden_list *list, int64_t *status,
                            void *arena, void **args, int64_t *desc) {
  for (int i = 0; i < list->count; i++) {
    const onyx_hidden *h = &list->items[i];
    args[i] = desc;
    switch (h->kind) {
    case ONYX_HIDDEN_STATUS:
      desc = hidden_desc(desc, status, STATUS_WORDS);
      break;
    case ONYX_HIDDEN_WEIGHTS:
      desc =
          hidden_desc(desc, m->weights[h->number].base, (int64_t)m->manifest.files[h->number].size);
      break;
    case ONYX_HIDDEN_CONSTANTS:
      desc = hidden_desc(desc, m->constants, h->number);
      break;
    case ONYX_HIDDEN_ARENA:
      desc = hidden_desc(desc, arena, h->number);
      break;
    }
  }
  return desc;
}

static void *alloc_aligned(int64_t bytes) {
  size_t size = bytes > 0 ? (size_t)bytes : 1;
  if (size > PTRDIFF_MAX - ALIGNMENT)
    return NULL;
  return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void fill_args(const onyx_model *m, context *c) {
  const onyx_signature *sig = &m->manifest.signature;
  int64_t *desc = c->descs;
  void **arg = c->args;
  for (size_t i = 0; i < sig->num_inputs; i++) {
    int ranks[ONYX_MAX_PARTS], parts = onyx_parts(&sig->inputs[i].type, ranks);
    for (int k = 0; k < parts; k++) {
      *arg++ = desc;
      desc += onyx_desc_words(ranks[k]);
    }
  }
  fill_hidden(m, &m->manifest.entry_hidden, c->status, c->arena, arg, desc);
}

static context *context_new(const onyx_model *m) {
  size_t inputs = m->manifest.signature.num_inputs;
  context *c = calloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->arena = alloc_aligned(m->arena_bytes);
  c->args =
      calloc(inputs * ONYX_MAX_PARTS + (size_t)m->manifest.entry_hidden.count + 1, sizeof *c->args);
  c->copies = calloc(inputs * ONYX_MAX_PARTS + 1, sizeof *c->copies);
  c->descs = calloc(m->desc_words + 1, sizeof *c->descs);
  c->results = calloc(m->result_words + 1, sizeof *c->results);
  if (!c->arena || !c->args || !c->copies || !c->descs || !c->results) {
    context_free(c);
    return NULL;
  }
  fill_args(m, c);
  return c;
}

static context *context_take(onyx_model *m) {
  pthread_mutex_lock(&m->lock);
  context *c = m->idle;
  if (c)
    m->idle = c->next;
  pthread_mutex_unlock(&m->lock);
  return c ? c : context_new(m);
}

static void context_give(onyx_model *m, context *c) {
  pthread_mutex_lock(&m->lock);
  c->next = m->idle;
  m->idle = c;
  pthread_mutex_unlock(&m->lock);
}

//===-- Status ------------------------------------------------------------------------------===//

static const onyx_node *find_node(const onyx_model *m, int64_t id) {
  for (int i = 0; i < m->manifest.num_nodes; i++)
    if (m->manifest.nodes[i].id == id)
      return &m->manifest.nodes[i];
  return NULL;
}

static void describe_status(char *to, size_t size, const int64_t *status) {
  long long found = status[2], limit = status[3];
  switch (status[0]) {
  case ONYX_INDEX_OUT_OF_RANGE:
    snprintf(to, size, "index %lld is out of range for size %lld", found, limit);
    return;
  case ONYX_DIVISION_BY_ZERO:
    snprintf(to, size, "integer division by zero");
    return;
  case ONYX_SHAPES_DISAGREE:
    snprintf(to, size, "shapes do not agree: found dimension %lld, expected %lld", found, limit);
    return;
  case ONYX_BAD_RESHAPE:
    snprintf(to, size, "reshape to %lld elements, the input has %lld", found, limit);
    return;
  case ONYX_BAD_AXIS:
    snprintf(to, size, "axis %lld does not fit rank %lld", found, limit);
    return;
  case ONYX_BAD_SIZE:
    snprintf(to, size, "value %lld is not allowed here (limit %lld)", found, limit);
    return;
  case ONYX_OUT_OF_MEMORY:
    snprintf(to, size, "no memory for %lld bytes", found);
    return;
  default:
    snprintf(to, size, "error %lld (found %lld, limit %lld)", (long long)status[0], found, limit);
  }
}

static bool check_status(const onyx_model *m, const int64_t *status, onyx_error *error) {
  if (!status[0])
    return true;
  int code = status[0] > 0 && status[0] <= ONYX_OTHER ? (int)status[0] : ONYX_OTHER;
  const onyx_node *node = find_node(m, status[1]);
  char text[256];
  describe_status(text, sizeof text, status);
  if (!node)
    onyx_rt_fail(error, code, "node %lld: %s", (long long)status[1], text);
  else
    onyx_rt_fail(error, code, "%.60s \"%.150s\": %s", node->op, node->name, text);
  if (!error)
    return false;
  error->found = status[2];
  error->limit = status[3];
  if (node) {
    onyx_copy_text(error->node, sizeof error->node, node->name);
    onyx_copy_text(error->op, sizeof error->op, node->op);
  }
  return false;
}

//===-- Create ------------------------------------------------------------------------------===//

static bool no_memory(onyx_error *error, const char *what) {
  return onyx_rt_fail(error, ONYX_OUT_OF_MEMORY, "no memory for %s", what);
}

static void measure(onyx_model *m) {
  const onyx_signature *sig = &m->manifest.signature;
  for (size_t i = 0; i < sig->num_inputs; i++)
    m->desc_words += onyx_parts_words(&sig->inputs[i].type);
  for (size_t i = 0; i < sig->num_outputs; i++)
    m->result_words += onyx_parts_words(&sig->outputs[i].type);
  m->desc_words += (size_t)m->manifest.entry_hidden.count * onyx_desc_words(1);
  for (int i = 0; i < m->manifest.entry_hidden.count; i++)
    if (m->manifest.entry_hidden.items[i].kind == ONYX_HIDDEN_ARENA)
      m->arena_bytes = m->manifest.entry_hidden.items[i].number;
}

static bool check_signature(const onyx_model *m, onyx_error *error) {
  const onyx_signature *sig = &m->manifest.signature;
  for (int out = 0; out < 2; out++) {
    const onyx_parameter *params = out ? sig->outputs : sig->inputs;
    for (size_t i = 0; i < (out ? sig->num_outputs : sig->num_inputs); i++) {
      int ranks[ONYX_MAX_PARTS];
      if (!onyx_parts(&params[i].type, ranks))
        return onyx_rt_fail(error, ONYX_UNSUPPORTED,
                            "%s %zu \"%.100s\": a value of type %.150s cannot be passed",
                            out ? "output" : "input", i, params[i].name, params[i].text);
    }
  }
  return true;
}

// A file whose constants were all folded into the code is not needed.
static bool is_read(const onyx_model *m, int file) {
  const onyx_hidden_list *lists[] = {&m->manifest.entry_hidden, &m->manifest.init_hidden};
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < lists[l]->count; i++)
      if (lists[l]->items[i].kind == ONYX_HIDDEN_WEIGHTS && lists[l]->items[i].number == file)
        return true;
  return false;
}

static bool open_weights(onyx_model *m, const onyx_options *options, onyx_error *error) {
  int count = m->manifest.num_files;
  m->weights = onyx_pool_alloc(&m->pool, (size_t)count, sizeof *m->weights);
  if (!m->weights)
    return no_memory(error, "weights files");
  Dl_info info;
  onyx_weights_search search = {
      .given = options->weights_dir,
      .so_path = dladdr((void *)onyx_manifest, &info) ? info.dli_fname : NULL,
      .hint = onyx_weights_hint,
      .flags = options->flags,
  };
  for (int i = 0; i < count; i++)
    if (is_read(m, i) &&
        !onyx_weights_open(&search, &m->manifest.files[i], i, &m->weights[i], error))
      return false;
  return true;
}

static bool alloc_constants(onyx_model *m, onyx_error *error) {
  int64_t bytes = 0;
  for (int i = 0; i < m->manifest.init_hidden.count; i++)
    if (m->manifest.init_hidden.items[i].kind == ONYX_HIDDEN_CONSTANTS)
      bytes = m->manifest.init_hidden.items[i].number;
  m->constants_bytes = bytes > 0 ? (size_t)bytes : 1;
  void *block =
      mmap(NULL, m->constants_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return onyx_rt_fail(error, ONYX_OUT_OF_MEMORY, "no memory for %lld bytes of constants",
                        (long long)bytes);
  m->constants = block;
  return true;
}

static bool run_init(onyx_model *m, onyx_error *error) {
  if (!m->manifest.has_init)
    return true;
  if (!onyx_init)
    return onyx_rt_fail(error, ONYX_BAD_MODEL,
                        "the manifest names an init function that is not there");
  size_t count = (size_t)m->manifest.init_hidden.count;
  int64_t status[STATUS_WORDS] = {0};
  void **args = calloc(count + 1, sizeof *args);
  int64_t *descs = calloc(count + 1, onyx_desc_words(1) * sizeof *descs);
  if (args && descs) {
    fill_hidden(m, &m->manifest.init_hidden, status, NULL, args, descs);
    onyx_init(args, NULL);
  }
  bool ok = args && descs ? check_status(m, status, error) : no_memory(error, "init");
  free(args);
  free(descs);
  if (ok)
    mprotect(m->constants, m->constants_bytes, PROT_READ);
  return ok;
}

static bool read_options(onyx_model *m, const onyx_options *given, onyx_options *options,
                         onyx_error *error) {
  memset(options, 0, sizeof *options);
  if (given) {
    if (given->size < offsetof(onyx_options, num_threads) + sizeof given->num_threads)
      return onyx_rt_fail(error, ONYX_BAD_ARGUMENT,
                          "onyx_options.size is %zu, expected sizeof(onyx_options), %zu",
                          given->size, sizeof *given);
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
  }
  if (options->flags & ~(uint32_t)(ONYX_SKIP_VERIFY | ONYX_COPY_WEIGHTS))
    return onyx_rt_fail(error, ONYX_BAD_ARGUMENT, "onyx_options.flags has unknown bits: 0x%x",
                        options->flags);
  if (options->num_threads < 0)
    return onyx_rt_fail(error, ONYX_BAD_ARGUMENT, "onyx_options.num_threads is negative: %d",
                        options->num_threads);
  m->num_threads = options->num_threads;
  return true;
}

onyx_model *onyx_model_create(const onyx_options *given, onyx_error *error) {
  if (error)
    memset(error, 0, sizeof *error);
  onyx_model *m = calloc(1, sizeof *m);
  if (!m || pthread_mutex_init(&m->lock, NULL)) {
    free(m);
    no_memory(error, "a model");
    return NULL;
  }
  onyx_options options;
  bool ok = read_options(m, given, &options, error) &&
            onyx_manifest_parse(&m->pool, onyx_manifest, &m->manifest, error) &&
            check_signature(m, error);
  if (ok) {
    measure(m);
    ok = open_weights(m, &options, error) && alloc_constants(m, error) && run_init(m, error);
  }
  if (!ok) {
    onyx_model_destroy(m);
    return NULL;
  }
  return m;
}

void onyx_model_destroy(onyx_model *m) {
  if (!m)
    return;
  while (m->idle) {
    context *c = m->idle;
    m->idle = c->next;
    context_free(c);
  }
  for (int i = 0; m->weights && i < m->manifest.num_files; i++)
    onyx_weights_close(&m->weights[i]);
  if (m->constants)
    munmap(m->constants, m->constants_bytes);
  pthread_mutex_destroy(&m->lock);
  onyx_pool_free(&m->pool);
  free(m);
}

const onyx_signature *onyx_model_signature(const onyx_model *m) {
  return &m->manifest.signature;
}

//===-- Run ---------------------------------------------------------------------------------===//

// Exporters also write these for dimensions that have nothing in common.
static bool means_nothing(const char *name) {
  return !*name || !strcmp(name, "?") || !strcmp(name, "None");
}

// Looks back for an earlier axis of that name: few inputs have many.
static bool check_symbol(const onyx_model *m, const onyx_value *in, size_t input, int axis,
                         onyx_error *error) {
  const onyx_parameter *params = m->manifest.signature.inputs;
  const char *name = params[input].type.dims[axis].name;
  int64_t size = onyx_value_shape(&in[input])[axis];
  for (size_t i = 0; i <= input; i++)
    for (int a = 0; onyx_value_shape(&in[i]) && a < (i == input ? axis : params[i].type.rank);
         a++) {
      const char *other = params[i].type.dims[a].name;
      if (!other || strcmp(name, other))
        continue;
      int64_t found = onyx_value_shape(&in[i])[a];
      if (found == size)
        return true;
      return onyx_rt_fail(error, ONYX_BAD_ARGUMENT,
                          "input %zu \"%.100s\": axis %d (%.100s) has size %lld, but axis %d of "
                          "input %zu \"%.100s\" has %lld",
                          input, params[input].name, axis, name, (long long)size, a, i,
                          params[i].name, (long long)found);
    }
  return true;
}

static bool check_symbols(const onyx_model *m, const onyx_value *in, onyx_error *error) {
  const onyx_signature *sig = &m->manifest.signature;
  for (size_t i = 0; i < sig->num_inputs; i++)
    for (int a = 0; onyx_value_shape(&in[i]) && a < sig->inputs[i].type.rank; a++) {
      const char *name = sig->inputs[i].type.dims[a].name;
      if (name && !means_nothing(name) && !check_symbol(m, in, i, a, error))
        return false;
    }
  return true;
}

static bool prepare_inputs(const onyx_model *m, context *c, const onyx_value *in,
                           onyx_error *error) {
  const onyx_signature *sig = &m->manifest.signature;
  int64_t *desc = c->descs;
  for (size_t i = 0; i < sig->num_inputs; i++) {
    if (!onyx_value_prepare(&sig->inputs[i], i, &in[i], desc, &c->copies[i * ONYX_MAX_PARTS],
                            error))
      return false;
    desc += onyx_parts_words(&sig->inputs[i].type);
  }
  return check_symbols(m, in, error);
}

static void call_entry(const onyx_model *m, context *c) {
  memset(c->status, 0, sizeof c->status);
  memset(c->results, 0, m->result_words * sizeof *c->results);
  int threads_before = 0;
  if (m->num_threads && omp_set_num_threads && omp_get_max_threads) {
    threads_before = omp_get_max_threads();
    omp_set_num_threads(m->num_threads);
  }
  onyx_entry(c->args, c->results);
  if (threads_before)
    omp_set_num_threads(threads_before);
}

// Every buffer in the results ends in out or is freed.
static bool take_results(const onyx_model *m, context *c, bool ok, onyx_value *out,
                         onyx_error *error) {
  const onyx_signature *sig = &m->manifest.signature;
  int64_t *desc = c->results;
  for (size_t i = 0; i < sig->num_outputs; i++) {
    if (ok)
      ok = onyx_value_take(&sig->outputs[i], i, desc, &out[i], error);
    else
      onyx_value_drop(&sig->outputs[i].type, desc);
    desc += onyx_parts_words(&sig->outputs[i].type);
  }
  for (size_t i = 0; !ok && i < sig->num_outputs; i++)
    onyx_value_release(&out[i]);
  return ok;
}

int onyx_model_run(onyx_model *m, const onyx_value *in, onyx_value *out, onyx_error *error) {
  onyx_error own; // the code is returned even to who wants no message
  error = error ? error : &own;
  memset(error, 0, sizeof *error);
  const onyx_signature *sig = &m->manifest.signature;
  for (size_t i = 0; out && i < sig->num_outputs; i++)
    out[i] = (onyx_value){.kind = ONYX_VALUE_NONE};
  if ((!in && sig->num_inputs) || (!out && sig->num_outputs)) {
    onyx_rt_fail(error, ONYX_BAD_ARGUMENT, "no inputs or no room for outputs");
    return error->code;
  }
  context *c = context_take(m);
  if (!c) {
    onyx_rt_fail(error, ONYX_OUT_OF_MEMORY, "no memory for a run (arena of %lld bytes)",
                 (long long)m->arena_bytes);
    return error->code;
  }
  onyx_string_block *strings = onyx_strings_begin();
  if (prepare_inputs(m, c, in, error)) {
    call_entry(m, c);
    take_results(m, c, check_status(m, c->status, error), out, error);
  }
  onyx_strings_end(strings);
  for (size_t i = 0; i < sig->num_inputs * ONYX_MAX_PARTS; i++) {
    free(c->copies[i]);
    c->copies[i] = NULL;
  }
  context_give(m, c);
  return error->code;
}
