// ONNX's protobuf messages for values. Field numbers are those of onnx.proto and onnx-data.proto.
#include "runtime/run/files.h"

#include "runtime/value.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw_data is little-endian");

enum { MAX_RANK = 4096, MAX_NESTING = 16 };
enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

//===-- Wire format -------------------------------------------------------------------------===//

typedef struct wire {
  const uint8_t *at, *end;
  bool bad;
} wire;

typedef struct field {
  uint32_t number;
  enum wire_type type;
  uint64_t value; // VARINT, FIXED64, FIXED32
  wire bytes;     // BYTES
} field;

static uint64_t read_varint(wire *w) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (w->at == w->end)
      break;
    uint8_t byte = *w->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  w->bad = true;
  return 0;
}

static uint64_t read_fixed(wire *w, size_t size) {
  uint64_t value = 0;
  if ((size_t)(w->end - w->at) < size) {
    w->bad = true;
    return 0;
  }
  memcpy(&value, w->at, size);
  w->at += size;
  return value;
}

// False at the end or when the message is bad.
static bool next_field(wire *w, field *f) {
  if (w->at == w->end || w->bad)
    return false;
  uint64_t key = read_varint(w);
  *f = (field){.number = (uint32_t)(key >> 3), .type = (enum wire_type)(key & 7)};
  w->bad |= key >> 3 == 0 || key >> 3 > UINT32_MAX;
  switch ((int)f->type) {
  case VARINT:
    f->value = read_varint(w);
    break;
  case FIXED64:
    f->value = read_fixed(w, 8);
    break;
  case FIXED32:
    f->value = read_fixed(w, 4);
    break;
  case BYTES: {
    uint64_t size = read_varint(w);
    if (w->bad || size > (uint64_t)(w->end - w->at)) {
      w->bad = true;
      break;
    }
    f->bytes = (wire){w->at, w->at + size, false};
    w->at += size;
    break;
  }
  default: // groups are not used by ONNX
    w->bad = true;
  }
  return !w->bad;
}

static size_t wire_size(const wire *w) {
  return (size_t)(w->end - w->at);
}

// Calls put for each number of a repeated field, packed or not.
typedef bool put_fn(void *to, uint64_t value);
static bool each_number(const field *f, enum wire_type type, put_fn *put, void *to) {
  if (f->type == type)
    return put(to, f->value);
  if (f->type != BYTES)
    return false;
  wire w = f->bytes;
  while (w.at != w.end && !w.bad) {
    uint64_t value = type == VARINT ? read_varint(&w) : read_fixed(&w, type == FIXED32 ? 4 : 8);
    if (w.bad || !put(to, value))
      return false;
  }
  return !w.bad;
}

//===-- TensorProto -------------------------------------------------------------------------===//

enum {
  T_DIMS = 1,
  T_DATA_TYPE = 2,
  T_FLOAT_DATA = 4,
  T_INT32_DATA = 5,
  T_STRING_DATA = 6,
  T_INT64_DATA = 7,
  T_RAW_DATA = 9,
  T_DOUBLE_DATA = 10,
  T_UINT64_DATA = 11,
  T_DATA_LOCATION = 14
};

// The field that holds a type's elements when it is not raw_data, and its wire type.
static uint32_t typed_field(onyx_elem elem, enum wire_type *type) {
  *type = VARINT;
  switch (elem) {
  case ONYX_F32:
  case ONYX_C64:
    *type = FIXED32;
    return T_FLOAT_DATA;
  case ONYX_F64:
  case ONYX_C128:
    *type = FIXED64;
    return T_DOUBLE_DATA;
  case ONYX_I64:
    return T_INT64_DATA;
  case ONYX_U32:
  case ONYX_U64:
    return T_UINT64_DATA;
  case ONYX_STRING:
    return T_STRING_DATA;
  default:
    return T_INT32_DATA;
  }
}

typedef struct tensor_head {
  int64_t dims[MAX_RANK];
  int rank;
  uint64_t type, location;
  bool has_raw;
  wire raw;
} tensor_head;

static bool put_dim(void *to, uint64_t value) {
  tensor_head *head = to;
  if (head->rank == MAX_RANK)
    return false;
  head->dims[head->rank++] = (int64_t)value;
  return true;
}

static bool read_head(wire w, tensor_head *head, read_error *error) {
  field f;
  while (next_field(&w, &f)) {
    if (f.number == T_DIMS && !each_number(&f, VARINT, put_dim, head))
      return read_fail(error, "TensorProto with bad dims");
    if (f.number == T_DATA_TYPE && f.type == VARINT)
      head->type = f.value;
    if (f.number == T_DATA_LOCATION && f.type == VARINT)
      head->location = f.value;
    if (f.number == T_RAW_DATA && f.type == BYTES) {
      head->has_raw = true;
      head->raw = f.bytes;
    }
  }
  if (w.bad)
    return read_fail(error, "not a TensorProto");
  if (head->location == 1)
    return read_fail(error, "TensorProto with external data");
  return true;
}

static bool count_number(void *to, uint64_t value) {
  (void)value;
  ++*(uint64_t *)to;
  return true;
}

// Numbers (or strings) that the typed field holds.
static bool count_typed(wire w, uint32_t number, enum wire_type type, bool strings,
                        uint64_t *count) {
  field f;
  *count = 0;
  while (next_field(&w, &f))
    if (f.number == number) {
      if (strings ? f.type != BYTES : !each_number(&f, type, count_number, count))
        return false;
      *count += strings;
    }
  return true;
}

typedef struct filler {
  char *at;
  size_t size; // bytes of one number
} filler;

static bool put_number(void *to, uint64_t value) {
  filler *fill = to;
  memcpy(fill->at, &value, fill->size);
  fill->at += fill->size;
  return true;
}

static bool read_strings(wire w, const tensor_head *head, int64_t count, onyx_value *value,
                         read_error *error) {
  uint64_t found;
  if (!count_typed(w, T_STRING_DATA, VARINT, true, &found) || found != (uint64_t)count)
    return read_fail(error, "TensorProto has not as many strings as its dims say (%lld)",
                     (long long)count);
  if (!onyx_strings_make(head->dims, head->rank, value))
    return read_fail(error, "no memory");
  field f;
  for (int64_t i = 0; next_field(&w, &f);)
    if (f.number == T_STRING_DATA &&
        !onyx_strings_set(value, i++, (const char *)f.bytes.at, wire_size(&f.bytes))) {
      onyx_value_release(value);
      return read_fail(error, "no memory");
    }
  return true;
}

// Numbers of a typed field: complex elements have two, sub-byte ones share one byte of a number.
static bool read_typed(wire w, const onyx_element *element, const tensor_head *head, int64_t count,
                       size_t bytes, onyx_value *value, read_error *error) {
  enum wire_type type;
  uint32_t number = typed_field(element->elem, &type);
  bool complex = onyx_elem_is_complex(element->elem);
  size_t size = element->dtype.bits < 8 ? 1 : element->dtype.bits / 8u / (complex ? 2 : 1);
  uint64_t found;
  if (!count_typed(w, number, type, false, &found) || found != bytes / size)
    return read_fail(error, "TensorProto has not as many elements as its dims say (%lld)",
                     (long long)count);
  if (!onyx_tensor_make(element, head->dims, head->rank, value))
    return read_fail(error, "no memory for %lld elements", (long long)count);
  filler fill = {value->tensor->data, size};
  field f;
  while (next_field(&w, &f))
    if (f.number == number)
      each_number(&f, type, put_number, &fill);
  return true;
}

static bool read_raw(const onyx_element *element, const tensor_head *head, size_t bytes,
                     onyx_value *value, read_error *error) {
  if (wire_size(&head->raw) != bytes)
    return read_fail(error, "TensorProto has %zu bytes of raw_data, its dims and type say %zu",
                     wire_size(&head->raw), bytes);
  if (!onyx_tensor_make(element, head->dims, head->rank, value))
    return read_fail(error, "no memory for %zu bytes", bytes);
  if (bytes)
    memcpy(value->tensor->data, head->raw.at, bytes);
  return true;
}

static bool read_tensor_with(wire w, tensor_head *head, onyx_value *value, read_error *error) {
  int64_t count;
  size_t bytes;
  if (!read_head(w, head, error))
    return false;
  if (!onyx_volume(head->dims, head->rank, &count))
    return read_fail(error, "TensorProto with a negative dim or too many elements");
  if (head->type == ONYX_STRING)
    return read_strings(w, head, count, value, error);
  const onyx_element *element = onyx_element_of(head->type <= INT32_MAX ? (int)head->type : 0);
  if (!element)
    return read_fail(error, "TensorProto with unknown data_type %llu",
                     (unsigned long long)head->type);
  if (!onyx_packed_bytes(count, element->dtype.bits, &bytes))
    return read_fail(error, "TensorProto with too many elements");
  return head->has_raw && (wire_size(&head->raw) || !bytes)
             ? read_raw(element, head, bytes, value, error)
             : read_typed(w, element, head, count, bytes, value, error);
}

static bool read_tensor(wire w, onyx_value *value, read_error *error) {
  tensor_head *head = calloc(1, sizeof *head);
  bool ok = head ? read_tensor_with(w, head, value, error) : read_fail(error, "no memory");
  free(head);
  return ok;
}

//===-- SequenceProto, OptionalProto, MapProto ----------------------------------------------===//

// onnx-data.proto: name = 1, elem_type = 2, then a field for each kind of element.
enum { V_ELEM_TYPE = 2, V_TENSOR = 3, V_SPARSE = 4, V_SEQUENCE = 5, V_MAP = 6, V_OPTIONAL = 7 };
enum { M_KEY_TYPE = 2, M_KEYS = 3, M_STRING_KEYS = 4, M_VALUES = 5 };

static bool read_any(wire w, uint32_t number, int depth, onyx_value *value, read_error *error);

// True for an element. *ok becomes false for what neither message has: a TensorProto, say.
static bool is_element(const field *f, bool *ok) {
  bool element = f->number >= V_TENSOR && f->number <= V_OPTIONAL;
  *ok &= element          ? f->type == BYTES
         : f->number == 1 ? f->type == BYTES
                          : f->number == V_ELEM_TYPE && f->type == VARINT;
  return element;
}

// Elements in the order of the file; all stand in the field of one kind.
static bool read_sequence(wire w, int depth, onyx_value *value, read_error *error) {
  size_t count = 0, i = 0;
  wire ahead = w;
  field f;
  bool ok = true;
  while (next_field(&ahead, &f))
    count += is_element(&f, &ok);
  if (ahead.bad || !ok)
    return read_fail(error, "not a SequenceProto");
  if (!onyx_sequence_make(count, value))
    return read_fail(error, "no memory");
  while (next_field(&w, &f))
    if (is_element(&f, &ok))
      if (!read_any(f.bytes, f.number, depth, &onyx_sequence_items(value)[i++], error)) {
        onyx_value_release(value);
        return false;
      }
  return true;
}

// The last one counts, as protobuf has it; none means absent.
static bool read_optional(wire w, int depth, onyx_value *value, read_error *error) {
  field f, last = {0};
  bool ok = true;
  while (next_field(&w, &f))
    if (is_element(&f, &ok))
      last = f;
  if (w.bad || !ok)
    return read_fail(error, "not an OptionalProto");
  onyx_value item = {.kind = ONYX_VALUE_NONE};
  if (last.number && !read_any(last.bytes, last.number, depth, &item, error))
    return false;
  return onyx_optional_make(last.number ? &item : NULL, value) || read_fail(error, "no memory");
}

static bool put_key(void *to, uint64_t value) {
  onyx_value *keys = to;
  // Counts up in place: the tensor's data pointer is fixed, byte_offset is not used by our readers.
  DLTensor *t = &keys->managed->dl_tensor;
  memcpy((char *)t->data + t->byte_offset, &value, 8);
  t->byte_offset += 8;
  return true;
}

static bool read_keys(wire w, onyx_value *keys, read_error *error) {
  uint64_t ints, strings;
  if (!count_typed(w, M_KEYS, VARINT, false, &ints) ||
      !count_typed(w, M_STRING_KEYS, VARINT, true, &strings) || (ints && strings))
    return read_fail(error, "MapProto with bad keys");
  int64_t count = (int64_t)(ints + strings), i = 0;
  bool made = strings ? onyx_strings_make(&count, 1, keys)
                      : onyx_tensor_make(onyx_element_of(ONYX_I64), &count, 1, keys);
  if (!made)
    return read_fail(error, "no memory");
  field f;
  while (next_field(&w, &f)) {
    if (!strings && f.number == M_KEYS)
      each_number(&f, VARINT, put_key, keys);
    if (strings && f.number == M_STRING_KEYS &&
        !onyx_strings_set(keys, i++, (const char *)f.bytes.at, wire_size(&f.bytes))) {
      onyx_value_release(keys);
      return read_fail(error, "no memory");
    }
  }
  if (!strings)
    keys->managed->dl_tensor.byte_offset = 0;
  return true;
}

static bool read_map(wire w, int depth, onyx_value *value, read_error *error) {
  onyx_value keys = {.kind = ONYX_VALUE_NONE}, values = keys;
  wire ahead = w, inner = {w.end, w.end, false};
  field f;
  while (next_field(&ahead, &f))
    if (f.number == M_VALUES && f.type == BYTES)
      inner = f.bytes;
  if (ahead.bad)
    return read_fail(error, "not a MapProto");
  if (!read_keys(w, &keys, error) || !read_sequence(inner, depth, &values, error)) {
    onyx_value_release(&keys);
    return false;
  }
  if ((int64_t)values.sequence.count != onyx_value_count(&keys)) {
    onyx_value_release(&keys);
    onyx_value_release(&values);
    return read_fail(error, "MapProto with unequal counts of keys and values");
  }
  return onyx_map_make(&keys, &values, value) || read_fail(error, "no memory");
}

static bool read_any(wire w, uint32_t number, int depth, onyx_value *value, read_error *error) {
  if (depth == MAX_NESTING)
    return read_fail(error, "values nested too deep");
  switch (number) {
  case V_TENSOR:
    return read_tensor(w, value, error);
  case V_SEQUENCE:
    return read_sequence(w, depth + 1, value, error);
  case V_MAP:
    return read_map(w, depth + 1, value, error);
  case V_OPTIONAL:
    return read_optional(w, depth + 1, value, error);
  default:
    return read_fail(error, "sparse tensors are not read");
  }
}

bool pb_read(const void *bytes, size_t size, const onyx_type *expected, onyx_value *value,
             read_error *error) {
  static const uint32_t field_of[] = {
      [ONYX_VALUE_NONE] = V_TENSOR,       [ONYX_VALUE_TENSOR] = V_TENSOR,
      [ONYX_VALUE_STRINGS] = V_TENSOR,    [ONYX_VALUE_SEQUENCE] = V_SEQUENCE,
      [ONYX_VALUE_OPTIONAL] = V_OPTIONAL, [ONYX_VALUE_MAP] = V_MAP};
  wire w = {bytes, (const uint8_t *)bytes + size, false};
  *value = (onyx_value){.kind = ONYX_VALUE_NONE};
  return read_any(w, expected ? field_of[expected->kind] : V_TENSOR, 0, value, error);
}

//===-- Writing -----------------------------------------------------------------------------===//

static void put_varint(FILE *file, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    putc((int)(value & 0x7f) | 0x80, file);
  putc((int)value, file);
}

static void put_field(FILE *file, int number, enum wire_type type) {
  put_varint(file, (uint64_t)number << 3 | type);
}

static void put_int(FILE *file, int number, uint64_t value) {
  put_field(file, number, VARINT);
  put_varint(file, value);
}

static void put_bytes(FILE *file, int number, const void *data, size_t size) {
  put_field(file, number, BYTES);
  put_varint(file, size);
  if (size)
    fwrite(data, 1, size, file);
}

static bool write_tensor(FILE *file, const onyx_value *value) {
  bool strings = value->kind == ONYX_VALUE_STRINGS;
  int rank = strings ? value->strings.rank : value->tensor->ndim;
  const int64_t *shape = strings ? value->strings.shape : value->tensor->shape;
  for (int i = 0; i < rank; i++)
    put_int(file, T_DIMS, (uint64_t)shape[i]);
  int64_t count = onyx_value_count(value);
  if (strings) {
    put_int(file, T_DATA_TYPE, ONYX_STRING);
    for (int64_t i = 0; i < count; i++)
      put_bytes(file, T_STRING_DATA, value->strings.items[i].data, value->strings.items[i].size);
    return true;
  }
  const onyx_element *element = onyx_element_of_dtype(value->tensor->dtype);
  size_t bytes;
  if (!element || !onyx_packed_bytes(count, element->dtype.bits, &bytes))
    return false;
  put_int(file, T_DATA_TYPE, element->elem);
  put_bytes(file, T_RAW_DATA, (const char *)value->tensor->data + value->tensor->byte_offset,
            bytes);
  return true;
}

static int field_of_kind(const onyx_value *value) {
  switch (value->kind) {
  case ONYX_VALUE_SEQUENCE:
    return V_SEQUENCE;
  case ONYX_VALUE_OPTIONAL:
    return V_OPTIONAL;
  case ONYX_VALUE_MAP:
    return V_MAP;
  default:
    return V_TENSOR;
  }
}

// elem_type is the number of the kind among those of onnx-data.proto, in another order than the
// fields.
static uint64_t elem_type_of_kind(const onyx_value *value) {
  static const uint64_t numbers[] = {
      [V_TENSOR] = 1, [V_SEQUENCE] = 3, [V_MAP] = 4, [V_OPTIONAL] = 5};
  return numbers[field_of_kind(value)];
}

// A message inside a message needs its length first.
static bool write_item(FILE *file, const onyx_value *item) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  bool ok = memory && pb_write(memory, item);
  if (memory && fclose(memory))
    ok = false;
  if (ok)
    put_bytes(file, field_of_kind(item), text, size);
  free(text);
  return ok;
}

static bool write_sequence(FILE *file, const onyx_sequence *sequence) {
  if (sequence->count)
    put_int(file, V_ELEM_TYPE, elem_type_of_kind(&sequence->items[0]));
  for (size_t i = 0; i < sequence->count; i++)
    if (!write_item(file, &sequence->items[i]))
      return false;
  return true;
}

static bool write_map(FILE *file, const onyx_map *map) {
  bool strings = map->keys->kind == ONYX_VALUE_STRINGS;
  int64_t count = onyx_value_count(map->keys);
  if (!strings && (map->keys->kind != ONYX_VALUE_TENSOR || map->keys->tensor->dtype.bits != 64))
    return false;
  put_int(file, M_KEY_TYPE, strings ? ONYX_STRING : ONYX_I64);
  for (int64_t i = 0; i < count; i++)
    if (strings)
      put_bytes(file, M_STRING_KEYS, map->keys->strings.items[i].data,
                map->keys->strings.items[i].size);
    else
      put_int(file, M_KEYS,
              ((const uint64_t *)((const char *)map->keys->tensor->data +
                                  map->keys->tensor->byte_offset))[i]);
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  bool ok = memory && pb_write(memory, map->values);
  if (memory && fclose(memory))
    ok = false;
  if (ok)
    put_bytes(file, M_VALUES, text, size);
  free(text);
  return ok;
}

bool pb_write(FILE *file, const onyx_value *value) {
  switch (value->kind) {
  case ONYX_VALUE_TENSOR:
  case ONYX_VALUE_STRINGS:
    return write_tensor(file, value);
  case ONYX_VALUE_SEQUENCE:
    return write_sequence(file, &value->sequence);
  case ONYX_VALUE_OPTIONAL:
    if (!value->optional)
      return true;
    put_int(file, V_ELEM_TYPE, elem_type_of_kind(value->optional));
    return write_item(file, value->optional);
  case ONYX_VALUE_MAP:
    return write_map(file, &value->map);
  default:
    return false;
  }
}
