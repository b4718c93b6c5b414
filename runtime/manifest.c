#include "runtime/manifest.h"

#include "runtime/error.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 5 };

// A line taken apart: field 0 is the record's name; names are decoded.
typedef struct record {
  int number; // of the line, from 1
  int count;
  const char *field[MAX_FIELDS];
} record;

typedef struct parser {
  onyx_pool *pool;
  onyx_manifest_data *data;
  onyx_error *error;
  onyx_parameter *in, *out;
  int num_in, num_out;
} parser;

static bool bad(parser *p, const record *r, const char *what) {
  return onyx_rt_fail(p->error, ONYX_BAD_MODEL, "manifest line %d (%s): %s", r->number, r->field[0],
                      what);
}

static bool no_memory(parser *p) {
  return onyx_rt_fail(p->error, ONYX_OUT_OF_MEMORY, "no memory for the model's manifest");
}

static bool read_number(const char *text, int base, uint64_t max, uint64_t *value) {
  *value = 0;
  if (!*text)
    return false;
  for (; *text; text++) {
    int digit = *text >= '0' && *text <= '9'   ? *text - '0'
                : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
                                               : 99;
    if (digit >= base || *value > (max - (uint64_t)digit) / (uint64_t)base)
      return false;
    *value = *value * (uint64_t)base + (uint64_t)digit;
  }
  return true;
}

static int hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

// In place: %XX becomes a byte, a lone '%' the empty text. False for a bad escape or %00.
static bool decode(char *text) {
  if (!strcmp(text, "%")) {
    *text = 0;
    return true;
  }
  char *to = text;
  for (char *at = text; *at; at++) {
    if (*at == '%') {
      int high = hex(at[1]), low = high < 0 ? -1 : hex(at[2]);
      if (low < 0 || high * 16 + low == 0)
        return false;
      *to++ = (char)(high * 16 + low);
      at += 2;
    } else {
      *to++ = *at;
    }
  }
  *to = 0;
  return true;
}

static bool add_parameter(parser *p, const record *r, onyx_parameter *list, int *count) {
  onyx_parameter *param = &list[(*count)++];
  param->name = r->field[1];
  param->text = r->field[2];
  if (!onyx_type_parse(p->pool, param->text, &param->type))
    return bad(p, r, "no type that a graph can have, or no memory");
  bool tensor = param->type.kind == ONYX_VALUE_TENSOR || param->type.kind == ONYX_VALUE_STRINGS;
  return !tensor || param->type.rank >= 0 || bad(p, r, "the rank is unknown");
}

static bool read_in(parser *p, const record *r) {
  return add_parameter(p, r, p->in, &p->num_in);
}
static bool read_out(parser *p, const record *r) {
  return add_parameter(p, r, p->out, &p->num_out);
}

static bool read_dim_name(parser *p, const record *r) {
  bool in = !strcmp(r->field[1], "in");
  if (!in && strcmp(r->field[1], "out"))
    return bad(p, r, "expected in or out");
  onyx_parameter *list = in ? p->in : p->out;
  uint64_t index, axis;
  if (!read_number(r->field[2], 10, INT32_MAX, &index) ||
      index >= (uint64_t)(in ? p->num_in : p->num_out))
    return bad(p, r, "no such input or output above");
  onyx_type *type = &list[index].type;
  if (!read_number(r->field[3], 10, INT32_MAX, &axis) || !type->dims ||
      axis >= (uint64_t)type->rank)
    return bad(p, r, "no such axis");
  ((onyx_dim *)type->dims)[axis].name = r->field[4]; // the pool's own memory
  return true;
}

static bool read_hidden_into(parser *p, const record *r, onyx_hidden_list *list, bool init) {
  static const char *const kinds[] = {"status", "weights", "constants", "arena"};
  for (int kind = 0; kind < (init ? 3 : 4); kind++) {
    if (strcmp(r->field[1], kinds[kind]))
      continue;
    uint64_t number = 0;
    bool wants_number = kind != ONYX_HIDDEN_STATUS;
    if ((r->count == 3) != wants_number ||
        (wants_number && !read_number(r->field[2], 10, PTRDIFF_MAX, &number)))
      return bad(p, r, "bad number");
    list->items[list->count++] = (onyx_hidden){(onyx_hidden_kind)kind, (int64_t)number};
    return true;
  }
  return bad(p, r, "unknown kind of argument");
}

static bool read_hidden(parser *p, const record *r) {
  return read_hidden_into(p, r, &p->data->entry_hidden, false);
}
static bool read_init_hidden(parser *p, const record *r) {
  return read_hidden_into(p, r, &p->data->init_hidden, true);
}

static bool read_entry(parser *p, const record *r) {
  p->data->signature.entry = r->field[1];
  return true;
}
static bool read_producer(parser *p, const record *r) {
  p->data->signature.producer = r->field[1];
  return true;
}
static bool read_init(parser *p, const record *r) {
  (void)r;
  p->data->has_init = true;
  return true;
}

static bool read_weights_file(parser *p, const record *r) {
  uint64_t index, size, fingerprint;
  if (!read_number(r->field[1], 10, INT32_MAX, &index) || index >= (uint64_t)p->data->num_files ||
      p->data->files[index].name)
    return bad(p, r, "bad index");
  if (!read_number(r->field[3], 10, PTRDIFF_MAX, &size))
    return bad(p, r, "bad size");
  if (strlen(r->field[4]) != 16 || !read_number(r->field[4], 16, UINT64_MAX, &fingerprint))
    return bad(p, r, "bad fingerprint");
  p->data->files[index] = (onyx_weights_file){r->field[2], size, fingerprint};
  return true;
}

static bool read_node(parser *p, const record *r) {
  uint64_t id;
  if (!read_number(r->field[1], 10, INT64_MAX, &id))
    return bad(p, r, "bad number");
  p->data->nodes[p->data->num_nodes++] = (onyx_node){(int64_t)id, r->field[2], r->field[3]};
  return true;
}

static bool read_version(parser *p, const record *r) {
  if (r->number != 1 || strcmp(r->field[1], "1"))
    return bad(p, r, "made for another version of the runtime");
  return true;
}

typedef enum record_kind {
  VERSION,
  PRODUCER,
  ENTRY,
  IN,
  DIM,
  OUT,
  HIDDEN,
  INIT,
  INIT_HIDDEN,
  FILE_,
  NODE,
  NUM_KINDS
} record_kind;

static const struct {
  const char *name;
  int min_fields, max_fields; // with the name
  bool (*read)(parser *, const record *);
} kinds[NUM_KINDS] = {
    [VERSION] = {"onyx-model", 2, 2, read_version},
    [PRODUCER] = {"producer", 2, 2, read_producer},
    [ENTRY] = {"entry", 2, 2, read_entry},
    [IN] = {"in", 3, 3, read_in},
    [DIM] = {"dim", 5, 5, read_dim_name},
    [OUT] = {"out", 3, 3, read_out},
    [HIDDEN] = {"hidden", 2, 3, read_hidden},
    [INIT] = {"init", 2, 2, read_init},
    [INIT_HIDDEN] = {"init-hidden", 2, 3, read_init_hidden},
    [FILE_] = {"weights_file", 5, 5, read_weights_file},
    [NODE] = {"node", 4, 4, read_node},
};

static int find_kind(const char *name, size_t length) {
  for (int kind = 0; kind < NUM_KINDS; kind++)
    if (strlen(kinds[kind].name) == length && !memcmp(kinds[kind].name, name, length))
      return kind;
  return -1;
}

// Makes room for as many of each as the text has lines that declare one.
static bool make_room(parser *p, const char *text) {
  size_t counts[NUM_KINDS + 1] = {0};
  for (const char *line = text; *line;) {
    counts[find_kind(line, strcspn(line, " \n")) + 1]++;
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  for (int i = 0; i <= NUM_KINDS; i++)
    if (counts[i] > INT32_MAX)
      return onyx_rt_fail(p->error, ONYX_BAD_MODEL, "manifest with too many records");
  onyx_manifest_data *d = p->data;
  p->in = onyx_pool_alloc(p->pool, counts[IN + 1], sizeof *p->in);
  p->out = onyx_pool_alloc(p->pool, counts[OUT + 1], sizeof *p->out);
  d->entry_hidden.items = onyx_pool_alloc(p->pool, counts[HIDDEN + 1], sizeof(onyx_hidden));
  d->init_hidden.items = onyx_pool_alloc(p->pool, counts[INIT_HIDDEN + 1], sizeof(onyx_hidden));
  d->files = onyx_pool_alloc(p->pool, counts[FILE_ + 1], sizeof *d->files);
  d->nodes = onyx_pool_alloc(p->pool, counts[NODE + 1], sizeof *d->nodes);
  d->num_files = (int)counts[FILE_ + 1];
  return (p->in && p->out && d->entry_hidden.items && d->init_hidden.items && d->files &&
          d->nodes) ||
         no_memory(p);
}

static bool read_line(parser *p, char *line, int number) {
  record r = {.number = number};
  for (char *at = line; at; r.count++) {
    if (r.count == MAX_FIELDS) {
      r.field[0] = line;
      return bad(p, &r, "too many fields");
    }
    r.field[r.count] = at;
    at = strchr(at, ' ');
    if (at)
      *at++ = 0;
  }
  int kind = find_kind(line, strlen(line));
  if (kind < 0)
    return bad(p, &r, "unknown record");
  if (r.count < kinds[kind].min_fields || r.count > kinds[kind].max_fields)
    return bad(p, &r, "wrong number of fields");
  for (int i = 1; i < r.count; i++)
    if (!decode((char *)r.field[i]))
      return bad(p, &r, "bad escape");
  return kinds[kind].read(p, &r);
}

// What no single line can tell.
static bool check_whole(parser *p) {
  onyx_manifest_data *d = p->data;
  if (!d->signature.entry)
    return onyx_rt_fail(p->error, ONYX_BAD_MODEL, "manifest without an entry");
  if (!d->signature.producer)
    d->signature.producer = "";
  const onyx_hidden_list *lists[] = {&d->entry_hidden, &d->init_hidden};
  int64_t bytes[2] = {0, 0}; // of constants, as the entry and as init has them
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < lists[l]->count; i++) {
      const onyx_hidden *h = &lists[l]->items[i];
      if (h->kind == ONYX_HIDDEN_WEIGHTS &&
          (h->number >= d->num_files || !d->files[h->number].name))
        return onyx_rt_fail(p->error, ONYX_BAD_MODEL, "manifest: no weights file %lld",
                            (long long)h->number);
      if (h->kind == ONYX_HIDDEN_CONSTANTS)
        bytes[l] = h->number;
    }
  if (bytes[0] != bytes[1] && bytes[0])
    return onyx_rt_fail(p->error, ONYX_BAD_MODEL,
                        "manifest: init does not make the constants that the entry reads");
  if (d->init_hidden.count && !d->has_init)
    return onyx_rt_fail(p->error, ONYX_BAD_MODEL,
                        "manifest: arguments of an init that is not there");
  return true;
}

bool onyx_manifest_parse(onyx_pool *pool, const char *text, onyx_manifest_data *data,
                         onyx_error *error) {
  parser p = {.pool = pool, .data = data, .error = error};
  memset(data, 0, sizeof *data);
  if (!make_room(&p, text))
    return false;
  size_t length = strlen(text);
  char *copy = onyx_pool_alloc(pool, length + 1, 1);
  if (!copy)
    return no_memory(&p);
  memcpy(copy, text, length);
  int number = 0;
  for (char *line = copy; line && *line;) {
    char *end = strchr(line, '\n');
    if (end)
      *end++ = 0;
    number++;
    if (number == 1 && strncmp(line, "onyx-model ", 11))
      return onyx_rt_fail(error, ONYX_BAD_MODEL, "not the manifest of a compiled model");
    if (!read_line(&p, line, number))
      return false;
    line = end;
  }
  if (!number)
    return onyx_rt_fail(error, ONYX_BAD_MODEL, "empty manifest");
  data->signature.num_inputs = (size_t)p.num_in;
  data->signature.num_outputs = (size_t)p.num_out;
  data->signature.inputs = p.in;
  data->signature.outputs = p.out;
  return check_whole(&p);
}
