#include "runtime/parts.h"

#include "runtime/error.h"
#include "runtime/pack.h"
#include "runtime/strings.h"
#include "runtime/value.h"

#include <stdlib.h>
#include <string.h>

//===-- What a type is made of --------------------------------------------------------------===//

static bool is_tensor(const onyx_type *type) {
  return type->kind == ONYX_VALUE_TENSOR || type->kind == ONYX_VALUE_STRINGS;
}

int onyx_parts(const onyx_type *type, int ranks[ONYX_MAX_PARTS]) {
  switch (type->kind) {
  case ONYX_VALUE_TENSOR:
  case ONYX_VALUE_STRINGS:
    ranks[0] = type->rank;
    return type->rank >= 0;
  case ONYX_VALUE_MAP:
    ranks[0] = ranks[1] = 1;
    return 2;
  case ONYX_VALUE_SEQUENCE: {
    int n = type->of->kind == ONYX_VALUE_MAP ? 2 : is_tensor(type->of) ? 1 : 0;
    for (int i = 0; i < n; i++)
      ranks[i] = 1;
    ranks[n] = 2;
    return n ? n + 1 : 0;
  }
  case ONYX_VALUE_OPTIONAL: {
    if (type->of->kind == ONYX_VALUE_OPTIONAL)
      return 0;
    ranks[0] = 0;
    int n = onyx_parts(type->of, ranks + 1);
    return n ? n + 1 : 0;
  }
  default:
    return 0;
  }
}

size_t onyx_parts_words(const onyx_type *type) {
  int ranks[ONYX_MAX_PARTS];
  size_t words = 0;
  for (int i = 0, n = onyx_parts(type, ranks); i < n; i++)
    words += onyx_desc_words(ranks[i]);
  return words;
}

void onyx_value_drop(const onyx_type *type, int64_t *desc) {
  int ranks[ONYX_MAX_PARTS];
  for (int i = 0, n = onyx_parts(type, ranks); i < n; i++) {
    free((void *)(intptr_t)desc[ONYX_DESC_ALLOCATED]);
    desc[ONYX_DESC_ALLOCATED] = 0;
    desc += onyx_desc_words(ranks[i]);
  }
}

const int64_t *onyx_value_shape(const onyx_value *value) {
  return value->kind == ONYX_VALUE_TENSOR    ? value->tensor->shape
         : value->kind == ONYX_VALUE_STRINGS ? value->strings.shape
                                             : NULL;
}

//===-- Inputs ------------------------------------------------------------------------------===//

typedef struct slot {
  const onyx_parameter *param;
  size_t index;
  onyx_error *error;
} slot;

static bool refuse(const slot *at, const char *what) {
  return onyx_rt_fail(at->error, ONYX_BAD_ARGUMENT, "input %zu \"%.100s\": expected %.150s, %s",
                      at->index, at->param->name, at->param->text, what);
}

static bool short_of_memory(const slot *at, const char *side) {
  return onyx_rt_fail(at->error, ONYX_OUT_OF_MEMORY, "%s %zu \"%.100s\": no memory", side,
                      at->index, at->param->name);
}

// Records and their addresses in one block.
static int64_t *copy_strings(const onyx_bytes *items, int64_t count) {
  size_t bytes = (size_t)count * sizeof(int64_t);
  for (int64_t i = 0; i < count; i++)
    bytes += sizeof(int64_t) + ((items[i].size + 7) & ~(size_t)7);
  int64_t *block = malloc(bytes ? bytes : 8);
  if (!block)
    return NULL;
  char *next = (char *)(block + count);
  for (int64_t i = 0; i < count; i++) {
    block[i] = (int64_t)(intptr_t)next;
    *(int64_t *)next = (int64_t)items[i].size;
    if (items[i].size)
      memcpy(next + sizeof(int64_t), items[i].data, items[i].size);
    next += sizeof(int64_t) + ((items[i].size + 7) & ~(size_t)7);
  }
  return block;
}

static bool prepare_strings(const slot *at, const onyx_type *type, const onyx_value *value,
                            int64_t *desc, void **copy) {
  const onyx_strings *s = &value->strings;
  int64_t count;
  if (value->kind != ONYX_VALUE_STRINGS)
    return refuse(at, "found another kind of value");
  if (s->rank != type->rank || (s->rank && !s->shape) || !onyx_volume(s->shape, s->rank, &count) ||
      (count && !s->items))
    return refuse(at, "found another rank or a bad shape");
  for (int i = 0; i < s->rank; i++)
    if (type->dims[i].size >= 0 && type->dims[i].size != s->shape[i])
      return refuse(at, "found another shape");
  *copy = copy_strings(s->items, count);
  if (!*copy)
    return short_of_memory(at, "input");
  onyx_desc_fill(desc, *copy, s->shape, s->rank);
  return true;
}

// Bytes of one element in memory: an address for strings, one for packed types.
static size_t element_bytes(const onyx_type *type) {
  return type->kind == ONYX_VALUE_STRINGS ? sizeof(int64_t)
         : type->dtype.bits < 8           ? 1
                                          : type->dtype.bits / 8u;
}

// One value of a sequence or side of a map as dense elements: checked against `type` (rank -1:
// any).
static bool prepare_item(const slot *at, const onyx_type *type, const onyx_value *value,
                         int64_t *desc, void **copy) {
  onyx_parameter inner = {at->param->name, *type, at->param->text};
  onyx_dim open[16];
  int rank = value->kind == ONYX_VALUE_STRINGS                   ? value->strings.rank
             : value->kind == ONYX_VALUE_TENSOR && value->tensor ? value->tensor->ndim
                                                                 : -1;
  if (rank < 0 || rank > 8)
    return refuse(at, "found an element of another kind or of rank over 8");
  for (int i = 0; i < rank; i++)
    open[i] = (onyx_dim){-1, NULL};
  if (inner.type.rank < 0) {
    inner.type.rank = rank;
    inner.type.dims = open;
  }
  if (type->kind == ONYX_VALUE_STRINGS)
    return prepare_strings(at, &inner.type, value, desc, copy);
  return onyx_input_prepare(&inner, at->index, value, desc, copy, at->error);
}

static int64_t rank_of(const onyx_value *value) {
  return value->kind == ONYX_VALUE_STRINGS ? value->strings.rank : value->tensor->ndim;
}

// All items' elements one after another, and how many each has.
static bool gather(const slot *at, const onyx_type *type, const onyx_value *const *items,
                   size_t count, void **data, int64_t *total, int64_t *rows, size_t width) {
  size_t size = element_bytes(type), used = 0, room = 0;
  char *block = malloc(8);
  *total = 0;
  for (size_t i = 0; block && i < count; i++) {
    int64_t desc[3 + 2 * 8], n = 1;
    void *copy = NULL;
    if (!prepare_item(at, type, items[i], desc, &copy)) {
      free(copy);
      free(block);
      return false;
    }
    int64_t rank = rank_of(items[i]);
    for (int64_t d = 0; d < rank; d++)
      n *= desc[ONYX_DESC_SIZES + d];
    if (used + (size_t)n * size > room) {
      room = 2 * (used + (size_t)n * size);
      char *bigger = realloc(block, room);
      if (!bigger)
        free(block);
      block = bigger;
    }
    if (block && n)
      memcpy(block + used, (void *)(intptr_t)desc[ONYX_DESC_ALIGNED], (size_t)n * size);
    if (rows) {
      memset(rows + i * width, 0, width * sizeof *rows);
      rows[i * width] = *total;
      rows[i * width + 1] = width == 2 ? n : rank;
      for (int64_t d = 0; width > 2 && d < rank; d++)
        rows[i * width + 2 + (size_t)d] = desc[ONYX_DESC_SIZES + d];
    }
    used += (size_t)n * size;
    *total += n;
    if (type->kind == ONYX_VALUE_STRINGS && copy)
      onyx_strings_adopt(copy); // the records stay
    else
      free(copy);
  }
  *data = block;
  return block || short_of_memory(at, "input");
}

static const onyx_type *side_type(const onyx_type *map, bool key, onyx_type *scratch) {
  static const onyx_dim open = {-1, NULL};
  *scratch = key ? (onyx_type){.kind = map->element == ONYX_STRING ? ONYX_VALUE_STRINGS
                                                                   : ONYX_VALUE_TENSOR,
                               .element = map->element,
                               .dtype = map->dtype}
                 : *map->of;
  scratch->rank = 1;
  scratch->dims = &open;
  return scratch;
}

static bool prepare_sequence(const slot *at, const onyx_type *type, const onyx_value *value,
                             int64_t *desc, void **copies) {
  if (value->kind != ONYX_VALUE_SEQUENCE)
    return refuse(at, "found another kind of value");
  size_t count = value->sequence.count;
  bool maps = type->of->kind == ONYX_VALUE_MAP;
  size_t width = maps ? 2 : ONYX_TABLE_WIDTH;
  int64_t *rows = calloc(count + 1, width * sizeof *rows), total,
          table[] = {(int64_t)count, (int64_t)width};
  const onyx_value **items = calloc(count + 1, sizeof *items);
  bool ok = rows && items;
  for (int side = 0; ok && side < (maps ? 2 : 1); side++) {
    onyx_type scratch;
    for (size_t i = 0; ok && i < count; i++) {
      const onyx_value *item = &value->sequence.items[i];
      ok = !maps || (item->kind == ONYX_VALUE_MAP && item->map.keys && item->map.values);
      items[i] = !ok ? NULL : !maps ? item : side ? item->map.values : item->map.keys;
    }
    const onyx_type *element = maps ? side_type(type->of, side == 0, &scratch) : type->of;
    ok = ok && gather(at, element, items, count, &copies[side], &total, rows, width);
    if (ok) {
      onyx_desc_fill(desc, copies[side], &total, 1);
      desc += onyx_desc_words(1);
    }
  }
  free(items);
  copies[maps ? 2 : 1] = rows;
  if (ok)
    onyx_desc_fill(desc, rows, table, 2);
  if (!ok && !at->error->code)
    refuse(at, rows && items ? "found an item of another kind"
                             : "found more items than memory can hold");
  return ok;
}

static bool prepare_map(const slot *at, const onyx_type *type, const onyx_value *value,
                        int64_t *desc, void **copies) {
  if (value->kind != ONYX_VALUE_MAP || !value->map.keys || !value->map.values)
    return refuse(at, "found another kind of value");
  for (int side = 0; side < 2; side++) {
    onyx_type scratch;
    int64_t total;
    const onyx_value *item = side ? value->map.values : value->map.keys;
    if (!gather(at, side_type(type, side == 0, &scratch), &item, 1, &copies[side], &total, NULL, 0))
      return false;
    onyx_desc_fill(desc, copies[side], &total, 1);
    desc += onyx_desc_words(1);
  }
  if (desc[-2] != desc[-2 - (int)onyx_desc_words(1)])
    return refuse(at, "found a map with keys and values of different number");
  return true;
}

static bool prepare_value(const slot *at, const onyx_type *type, const onyx_value *value,
                          int64_t *desc, void **copies);

static bool prepare_optional(const slot *at, const onyx_type *type, const onyx_value *value,
                             int64_t *desc, void **copies) {
  static const uint8_t flags[2] = {0, 1};
  int ranks[ONYX_MAX_PARTS], n = onyx_parts(type, ranks);
  static const int64_t nothing[16];
  // A value of the inner type is an optional that is there.
  const onyx_value *inner = value->kind == ONYX_VALUE_OPTIONAL ? value->optional : value;
  bool absent = !inner || inner->kind == ONYX_VALUE_NONE;
  onyx_desc_fill(desc, &flags[!absent], NULL, 0);
  desc += onyx_desc_words(0);
  if (!absent)
    return prepare_value(at, type->of, inner, desc, copies + 1);
  for (int i = 1; i < n; i++) {
    onyx_desc_fill(desc, nothing, nothing, ranks[i]);
    if (ranks[i] == 2)
      desc[ONYX_DESC_SIZES + 1] = desc[ONYX_DESC_SIZES + 2] = ONYX_TABLE_WIDTH;
    desc += onyx_desc_words(ranks[i]);
  }
  return true;
}

static bool prepare_value(const slot *at, const onyx_type *type, const onyx_value *value,
                          int64_t *desc, void **copies) {
  onyx_parameter inner = {at->param->name, *type, at->param->text};
  switch (type->kind) {
  case ONYX_VALUE_STRINGS:
    return prepare_strings(at, type, value, desc, copies);
  case ONYX_VALUE_SEQUENCE:
    return prepare_sequence(at, type, value, desc, copies);
  case ONYX_VALUE_MAP:
    return prepare_map(at, type, value, desc, copies);
  case ONYX_VALUE_OPTIONAL:
    return prepare_optional(at, type, value, desc, copies);
  default:
    return onyx_input_prepare(&inner, at->index, value, desc, copies, at->error);
  }
}

bool onyx_value_prepare(const onyx_parameter *param, size_t index, const onyx_value *value,
                        int64_t *desc, void **copies, onyx_error *error) {
  slot at = {param, index, error};
  return prepare_value(&at, &param->type, value, desc, copies);
}

//===-- Results -----------------------------------------------------------------------------===//

static bool broken(const slot *at, const char *what) {
  return onyx_rt_fail(at->error, ONYX_BAD_MODEL, "output %zu \"%.100s\": %s", at->index,
                      at->param->name, what);
}

static const char *data_of(const int64_t *desc, size_t size) {
  const char *data = (const char *)(intptr_t)desc[ONYX_DESC_ALIGNED];
  return data ? data + (size_t)desc[ONYX_DESC_OFFSET] * size : NULL;
}

static bool make_strings(const int64_t *addresses, const int64_t *shape, int rank,
                         onyx_value *value) {
  int64_t count;
  if (!onyx_volume(shape, rank, &count) || (count && !addresses) ||
      !onyx_strings_make(shape, rank, value))
    return false;
  for (int64_t i = 0; i < count; i++) {
    size_t size;
    const char *bytes = onyx_string_bytes(addresses[i], &size);
    if (!onyx_strings_set(value, i, bytes, size)) {
      onyx_value_release(value);
      return false;
    }
  }
  return true;
}

// A value of its own from elements that stand in a sequence's data.
static bool make_item(const slot *at, const onyx_type *type, const char *data, int64_t at_element,
                      int64_t available, const int64_t *shape, int rank, onyx_value *value) {
  int64_t count;
  size_t bytes;
  if (!onyx_volume(shape, rank, &count) || at_element < 0 || count > available - at_element)
    return broken(at, "the model made a sequence with an element out of its data");
  if (type->kind == ONYX_VALUE_STRINGS)
    return make_strings((const int64_t *)data + at_element, shape, rank, value) ||
           short_of_memory(at, "output");
  const onyx_element *element = onyx_element_of(type->element);
  if (!element || !onyx_packed_bytes(count, element->dtype.bits, &bytes) ||
      !onyx_tensor_make(element, shape, rank, value))
    return short_of_memory(at, "output");
  const uint8_t *from = (const uint8_t *)data + (size_t)at_element * element_bytes(type);
  if (element->dtype.bits < 8)
    onyx_pack(from, count, element->dtype.bits, value->tensor->data);
  else if (bytes)
    memcpy(value->tensor->data, from, bytes);
  return true;
}

static bool make_map(const slot *at, const onyx_type *type, const int64_t *keys,
                     const int64_t *values, int64_t first, int64_t count, onyx_value *value) {
  onyx_type key_scratch, value_scratch;
  const onyx_type *key = side_type(type, true, &key_scratch),
                  *of = side_type(type, false, &value_scratch);
  onyx_value k = {.kind = ONYX_VALUE_NONE}, v = k;
  bool ok = make_item(at, key, data_of(keys, element_bytes(key)), first, keys[ONYX_DESC_SIZES],
                      &count, 1, &k) &&
            make_item(at, of, data_of(values, element_bytes(of)), first, values[ONYX_DESC_SIZES],
                      &count, 1, &v);
  if (ok)
    return onyx_map_make(&k, &v, value) || short_of_memory(at, "output");
  onyx_value_release(&k);
  onyx_value_release(&v);
  return false;
}

static bool make_sequence(const slot *at, const onyx_type *type, const int64_t *desc,
                          onyx_value *value) {
  bool maps = type->of->kind == ONYX_VALUE_MAP;
  size_t step = onyx_desc_words(1), width = maps ? 2 : ONYX_TABLE_WIDTH;
  const int64_t *table = desc + (maps ? 2 : 1) * step;
  const int64_t *rows = (const int64_t *)data_of(table, sizeof *rows);
  int64_t count = table[ONYX_DESC_SIZES];
  if (count < 0 || table[ONYX_DESC_SIZES + 1] != (int64_t)width || (count && !rows))
    return broken(at, "the model made a sequence without a table");
  if (!onyx_sequence_make((size_t)count, value))
    return short_of_memory(at, "output");
  bool ok = true;
  for (int64_t i = 0; ok && i < count; i++) {
    const int64_t *row = rows + (size_t)i * width;
    onyx_value *item = &onyx_sequence_items(value)[i];
    if (maps)
      ok = make_map(at, type->of, desc, desc + step, row[0], row[1], item);
    else if (row[1] < 0 || row[1] > 8)
      ok = broken(at, "the model made a sequence with an element of rank over 8");
    else
      ok = make_item(at, type->of, data_of(desc, element_bytes(type->of)), row[0],
                     desc[ONYX_DESC_SIZES], row + 2, (int)row[1], item);
  }
  if (!ok)
    onyx_value_release(value);
  return ok;
}

static bool make_value(const slot *at, const onyx_type *type, int64_t *desc, onyx_value *value);

static bool make_optional(const slot *at, const onyx_type *type, int64_t *desc, onyx_value *value) {
  const char *flag = data_of(desc, 1);
  onyx_value inner = {.kind = ONYX_VALUE_NONE};
  if (!flag || !*flag)
    return onyx_optional_make(NULL, value) || short_of_memory(at, "output");
  if (!make_value(at, type->of, desc + onyx_desc_words(0), &inner))
    return false;
  return onyx_optional_make(&inner, value) || short_of_memory(at, "output");
}

static bool make_value(const slot *at, const onyx_type *type, int64_t *desc, onyx_value *value) {
  onyx_parameter inner = {at->param->name, *type, at->param->text};
  switch (type->kind) {
  case ONYX_VALUE_STRINGS:
    return make_strings((const int64_t *)data_of(desc, sizeof(int64_t)), desc + ONYX_DESC_SIZES,
                        type->rank, value) ||
           short_of_memory(at, "output");
  case ONYX_VALUE_SEQUENCE:
    return make_sequence(at, type, desc, value);
  case ONYX_VALUE_MAP:
    return make_map(at, type, desc, desc + onyx_desc_words(1), 0, desc[ONYX_DESC_SIZES], value);
  case ONYX_VALUE_OPTIONAL:
    return make_optional(at, type, desc, value);
  default:
    return onyx_output_take(&inner, at->index, desc, value, at->error);
  }
}

bool onyx_value_take(const onyx_parameter *param, size_t index, int64_t *desc, onyx_value *value,
                     onyx_error *error) {
  slot at = {param, index, error};
  bool ok = make_value(&at, &param->type, desc, value);
  onyx_value_drop(&param->type, desc); // a tensor has taken its buffer already
  return ok;
}
