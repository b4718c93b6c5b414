// The runtime library against an entry function and manifests written here: every error of the
// interface, strides, packed types, running out of memory at each allocation, threads.
// Built with ASan and UBSan whatever the build has (and once with TSan).
#include "onyx/model.h"

#include "dialects/onnx/schema/fingerprint.h"
#include "runtime/pack.h"
#include "runtime/tensor.h"
#include "runtime/types.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int passed, failed;

static void check_that(bool ok, int line, const char *what) {
  if (ok)
    passed++;
  else
    failed++, printf("%s:%d: failed: %s\n", __FILE__, line, what);
}
#define CHECK(condition) check_that(condition, __LINE__, #condition)

static void check_contains(const char *text, const char *part, int line) {
  bool ok = strstr(text, part);
  check_that(ok, line, part);
  if (!ok)
    printf("  in: %s\n", text);
}
#define CHECK_MESSAGE(text, part) check_contains(text, part, __LINE__)

//===-- Running out of memory ---------------------------------------------------------------===//

// The linker sends the runtime's allocations here (--wrap); number `fail_at` fails.
static _Thread_local int fail_at = -1, allocations;
static bool out_of_memory(void) {
  return fail_at >= 0 && allocations++ == fail_at;
}

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_aligned_alloc(size_t, size_t);
void *__wrap_malloc(size_t size) {
  return out_of_memory() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  return out_of_memory() ? NULL : __real_calloc(count, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return out_of_memory() ? NULL : __real_aligned_alloc(alignment, size);
}

//===-- A model -----------------------------------------------------------------------------===//

char onyx_manifest[1 << 16]; // the runtime reads it at every create
static void (*entry)(void **args, void *results);
static void (*initializer)(void **args, void *results);
void onyx_entry(void **args, void *results) {
  entry(args, results);
}
void onyx_init(void **args, void *results) {
  initializer(args, results);
}
// Also where onyx-compile puts what it knows of the weights' place.
const char onyx_weights_hint[] = "hinted";

// A memref descriptor of rank 1 or 2.
typedef struct desc {
  void *allocated, *aligned;
  int64_t offset, dims[4];
} desc;

#define HEAD "onyx-model 1\nproducer test\nentry main_graph\n"

static void set_manifest(const char *text) {
  snprintf(onyx_manifest, sizeof onyx_manifest, "%s", text);
}

static onyx_model *create(const char *text, onyx_error *error) {
  set_manifest(text);
  return onyx_model_create(NULL, error);
}

// out[i] = in[i] + in[i] for rank 1; in[0] < 0 sets the status, node 7.
static void twice(void **args, void *results) {
  const desc *in = args[0];
  int64_t *status = ((desc *)args[1])->aligned;
  desc *out = results;
  int64_t n = in->dims[0];
  const float *x = (const float *)in->aligned + in->offset;
  // A 64-aligned buffer inside a larger one, as memref.alloc with an alignment makes it.
  out->allocated = __real_malloc((size_t)n * 4 + 64);
  out->aligned = (void *)(((uintptr_t)out->allocated + 63) / 64 * 64);
  out->offset = 0;
  out->dims[0] = n;
  out->dims[1] = 1;
  for (int64_t i = 0; i < n; i++)
    ((float *)out->aligned)[i] = 2 * x[i * in->dims[1]];
  if (n && x[0] < 0) {
    status[0] = ONYX_INDEX_OUT_OF_RANGE;
    status[1] = 7;
    status[2] = -3;
    status[3] = 2;
  }
}
#define TWICE                                                                                      \
  HEAD "in x tensor<?xf32>\nout y tensor<?xf32>\nhidden status\nhidden arena 100\nnode 7 "         \
       "take%20it Gather\n"

static DLTensor floats(float *data, int64_t *shape, int rank) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = rank,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = shape};
}
static onyx_value tensor_value(const DLTensor *t) {
  return (onyx_value){.kind = ONYX_VALUE_TENSOR, .tensor = t};
}

//===-- Runs --------------------------------------------------------------------------------===//

static void test_run(void) {
  onyx_error error;
  entry = twice;
  onyx_model *m = create(TWICE, &error);
  CHECK(m);
  float data[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  DLTensor t = floats(data, shape, 1);
  onyx_value in = tensor_value(&t), out;
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && error.code == 0);
  CHECK(out.kind == ONYX_VALUE_TENSOR && out.tensor->ndim == 1 && out.tensor->shape[0] == 3);
  CHECK(((float *)out.tensor->data)[2] == 6 && (uintptr_t)out.tensor->data % 64 == 0);
  CHECK(out.tensor == &out.managed->dl_tensor);
  onyx_value_release(&out);
  CHECK(out.kind == ONYX_VALUE_NONE);
  onyx_value_release(&out); // twice is nothing

  // The status of one run does not reach the next, and outputs outlive the model.
  data[0] = -1;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_INDEX_OUT_OF_RANGE &&
        out.kind == ONYX_VALUE_NONE);
  CHECK(!strcmp(error.node, "take it") && !strcmp(error.op, "Gather") && error.found == -3 &&
        error.limit == 2);
  CHECK_MESSAGE(error.message, "Gather \"take it\": index -3 is out of range for size 2");
  CHECK(onyx_model_run(m, &in, &out, NULL) == ONYX_INDEX_OUT_OF_RANGE);
  data[0] = 1;
  CHECK(onyx_model_run(m, &in, &out, NULL) == 0);
  onyx_model_destroy(m);
  CHECK(((float *)out.tensor->data)[0] == 2);
  out.managed->deleter(out.managed); // as a DLPack capsule would
}

static void test_strides(void) {
  onyx_error error;
  entry = twice;
  onyx_model *m = create(TWICE, &error);
  float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t shape[1] = {3}, strides[1] = {2};
  DLTensor t = floats(data, shape, 1);
  t.strides = strides;
  t.byte_offset = 4; // 2 4 6
  onyx_value in = tensor_value(&t), out;
  CHECK(onyx_model_run(m, &in, &out, &error) == 0);
  float *y = out.tensor->data;
  CHECK(y[0] == 4 && y[1] == 8 && y[2] == 12);
  onyx_value_release(&out);
  strides[0] = -1; // backwards from 8
  t.byte_offset = 28;
  CHECK(onyx_model_run(m, &in, &out, &error) == 0);
  y = out.tensor->data;
  CHECK(y[0] == 16 && y[1] == 14 && y[2] == 12);
  onyx_value_release(&out);
  // Unaligned data is copied; empty needs none.
  char bytes[16];
  memcpy(bytes + 1, data, 12);
  t = floats((float *)(void *)(bytes + 1), shape, 1);
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && ((float *)out.tensor->data)[2] == 6);
  onyx_value_release(&out);
  shape[0] = 0;
  t = floats(NULL, shape, 1);
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && out.tensor->shape[0] == 0);
  onyx_value_release(&out);
  onyx_model_destroy(m);
}

// Rank 2, row-major copy of what it got; takes any status.
static void copy_bytes2(void **args, void *results) {
  const desc *in = args[0];
  desc *out = results;
  size_t n = (size_t)(in->dims[0] * in->dims[1]);
  *out = *in;
  out->allocated = out->aligned = __real_malloc(n ? n : 1);
  memcpy(out->aligned, in->aligned, n);
}

static void test_packed(void) {
  onyx_error error;
  entry = copy_bytes2;
  // 3x3 signed nibbles: -8 .. 0 would not show the sign of each place, so these by hand, low bits
  // first.
  uint8_t packed[5] = {0x8f, 0x17, 0xe0, 0x93, 0x06}; // -1 -8 7 1 0 -2 3 -7 6
  int64_t shape[2] = {3, 3};
  DLTensor t = {
      .data = packed, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLInt, 4, 1}, .shape = shape};
  onyx_value in = tensor_value(&t), out;
  onyx_model *m = create(HEAD "in x tensor<3x3xi4>\nout y tensor<3x3xi4>\n", &error);
  CHECK(m && onyx_model_run(m, &in, &out, &error) == 0);
  CHECK(!memcmp(out.tensor->data, packed, 5) && out.tensor->dtype.bits == 4 &&
        !out.tensor->strides);
  onyx_value_release(&out);
  int64_t strides[2] = {1, 3};
  t.strides = strides;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT);
  CHECK_MESSAGE(error.message, "4-bit elements cannot have strides");
  onyx_model_destroy(m);
  uint8_t bytes[9];
  onyx_unpack(packed, 9, 4, true, bytes);
  const int8_t values[9] = {-1, -8, 7, 1, 0, -2, 3, -7, 6};
  CHECK(!memcmp(bytes, values, 9));
  uint8_t two[2] = {0xe4, 0x02}; // 0 1 2 3 2
  onyx_unpack(two, 5, 2, false, bytes);
  CHECK(!memcmp(bytes, "\0\1\2\3\2", 5));
  onyx_pack(bytes, 5, 2, bytes);
  CHECK(bytes[0] == 0xe4 && bytes[1] == 0x02);
  // A bool that is neither 0 nor 1 is made 1.
  uint8_t bools[4] = {0, 1, 2, 255};
  int64_t bool_shape[2] = {2, 2};
  t = (DLTensor){.data = bools,
                 .device = {kDLCPU, 0},
                 .ndim = 2,
                 .dtype = {ONYX_DL_BOOL, 8, 1},
                 .shape = bool_shape};
  m = create(HEAD "in x tensor<2x2xi1>\nout y tensor<2x2xi1>\n", &error);
  CHECK(m && onyx_model_run(m, &in, &out, &error) == 0);
  CHECK(!memcmp(out.tensor->data, "\0\1\1\1", 4));
  onyx_value_release(&out);
  onyx_model_destroy(m);
}

//===-- Errors of inputs --------------------------------------------------------------------===//

static void test_input_errors(void) {
  onyx_error error;
  entry = copy_bytes2;
  onyx_model *m = create(
      HEAD "in left tensor<?x3xui8>\nin right tensor<?x?xui8>\ndim in 0 0 batch\ndim in 1 0 batch\n"
           "out y tensor<?x3xui8>\n",
      &error);
  CHECK(m);
  uint8_t data[8] = {0};
  int64_t a_shape[3] = {2, 3, 1}, b_shape[2] = {2, 4};
  DLTensor a = {.data = data,
                .device = {kDLCPU, 0},
                .ndim = 2,
                .dtype = {kDLUInt, 8, 1},
                .shape = a_shape},
           b = a, good = a;
  b.shape = b_shape;
  onyx_value in[2] = {tensor_value(&a), tensor_value(&b)}, out;
#define REFUSED(text)                                                                              \
  CHECK(onyx_model_run(m, in, &out, &error) == ONYX_BAD_ARGUMENT && out.kind == ONYX_VALUE_NONE);  \
  CHECK_MESSAGE(error.message, text);                                                              \
  a = good
  a.dtype.code = kDLInt;
  REFUSED("input 0 \"left\": expected element type ui8, found i8");
  a.dtype.lanes = 2;
  REFUSED("expected element type ui8, found DLPack code 1, 8 bits, 2 lanes");
  a.ndim = 3;
  REFUSED("expected rank 2 (tensor<?x3xui8>), found rank 3");
  a_shape[1] = 4;
  REFUSED("expected tensor<?x3xui8>, found shape [2, 4]");
  a_shape[1] = 3;
  a_shape[0] = 1;
  REFUSED("input 1 \"right\": axis 0 (batch) has size 2, but axis 0 of input 0 \"left\" has 1");
  a_shape[0] = -1;
  REFUSED("negative dimension in shape [-1, 3]");
  a_shape[0] = INT64_MAX / 2;
  REFUSED("more elements than memory can hold");
  a_shape[0] = 2;
  a.device.device_type = kDLCUDA;
  REFUSED("expected a tensor in CPU memory, found device type 2");
  a.data = NULL;
  REFUSED("the tensor has no data");
  a.shape = NULL;
  REFUSED("the tensor has no shape");
  in[0].tensor = NULL;
  REFUSED("the tensor is missing");
  in[0] = (onyx_value){.kind = ONYX_VALUE_SEQUENCE};
  REFUSED("expected a tensor (tensor<?x3xui8>), found a sequence");
  in[0].kind = (onyx_value_kind)99;
  REFUSED("found an unknown kind of value");
  in[0] = tensor_value(&a);
  CHECK(onyx_model_run(m, NULL, &out, &error) == ONYX_BAD_ARGUMENT);
  CHECK(onyx_model_run(m, in, NULL, &error) == ONYX_BAD_ARGUMENT);
  CHECK(onyx_model_run(m, in, &out, &error) == 0); // after all that
  onyx_value_release(&out);
  onyx_model_destroy(m);
}

static void short_result(void **args, void *results) {
  copy_bytes2(args, results);
  ((desc *)results)->dims[1] = 1;
}

static void test_results(void) {
  onyx_error error;
  uint8_t data[4] = {0};
  int64_t shape[2] = {2, 2};
  DLTensor t = {
      .data = data, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLUInt, 8, 1}, .shape = shape};
  onyx_value in = tensor_value(&t), out;
  entry = short_result;
  onyx_model *m = create(HEAD "in x tensor<2x2xui8>\nout y tensor<2x2xui8>\n", &error);
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_MODEL);
  CHECK_MESSAGE(error.message,
                "output 0 \"y\": the model promised tensor<2x2xui8> and made shape [2, 1]");
  onyx_model_destroy(m);
}

//===-- Sequences, strings, optionals, maps -------------------------------------------------===//

// Copies memref `from` of rank 1 or 2 into a result of its own; returns the next result.
static int64_t *copy_part(const int64_t *from, int rank, size_t size, int64_t *to) {
  size_t n = size;
  for (int i = 0; i < rank; i++)
    n *= (size_t)from[3 + i];
  memcpy(to, from, onyx_desc_words(rank) * sizeof *to);
  void *copy = __real_malloc(n ? n : 1);
  memcpy(copy, (char *)(intptr_t)from[1] + (size_t)from[2] * size, n);
  to[0] = to[1] = (int64_t)(intptr_t)copy;
  to[2] = 0;
  return to + onyx_desc_words(rank);
}

// Of !onnx.Opt<!onnx.Seq<tensor<..xf32>>>: flag, data, table.
static void copy_optional_sequence(void **args, void *results) {
  copy_part(args[2], 2, 8, copy_part(args[1], 1, 4, copy_part(args[0], 0, 1, results)));
}
static void copy_strings_part(void **args, void *results) {
  copy_part(args[0], 1, 8, results);
}
static void copy_map(void **args, void *results) {
  copy_part(args[1], 1, 4, copy_part(args[0], 1, 8, results));
}

static void test_optional_sequence(void) {
  onyx_error error;
  entry = copy_optional_sequence;
  onyx_model *m = create(
      HEAD "in x !onnx.Opt<!onnx.Seq<tensor<*xf32>>>\nout y !onnx.Opt<!onnx.Seq<tensor<*xf32>>>\n",
      &error);
  CHECK(m);
  float data[7] = {1, 2, 3, 4, 5, 6, 7};
  int64_t shape[2] = {2, 3}, one[1] = {1};
  DLTensor a = floats(data, shape, 2), b = floats(data + 6, one, 1), c = floats(data, NULL, 0);
  onyx_value items[3] = {tensor_value(&a), tensor_value(&b), tensor_value(&c)}, out;
  onyx_value sequence = {.kind = ONYX_VALUE_SEQUENCE, .sequence = {3, items}};
  onyx_value in = {.kind = ONYX_VALUE_OPTIONAL, .optional = &sequence};
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && out.kind == ONYX_VALUE_OPTIONAL &&
        out.optional);
  const onyx_sequence *s = &out.optional->sequence;
  CHECK(s->count == 3 && s->items[0].tensor->ndim == 2 && s->items[0].tensor->shape[1] == 3);
  CHECK(((float *)s->items[0].tensor->data)[5] == 6 && ((float *)s->items[1].tensor->data)[0] == 7);
  CHECK(s->items[2].tensor->ndim == 0 && ((float *)s->items[2].tensor->data)[0] == 1);
  onyx_value_release(&out);
  // Nothing, and an empty sequence.
  in.optional = NULL;
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && out.kind == ONYX_VALUE_OPTIONAL &&
        !out.optional);
  onyx_value_release(&out);
  in.optional = &sequence;
  sequence.sequence.count = 0;
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && out.optional &&
        out.optional->sequence.count == 0);
  onyx_value_release(&out);
  // An item of another type, of another kind, of none.
  sequence.sequence.count = 3;
  b.dtype.bits = 64;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT);
  CHECK_MESSAGE(error.message, "expected element type f32, found f64");
  items[1] = sequence;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT);
  CHECK_MESSAGE(error.message,
                "input 0 \"x\": expected !onnx.Opt<!onnx.Seq<tensor<*xf32>>>, found");
  items[1] = (onyx_value){.kind = ONYX_VALUE_NONE};
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT && out.kind == ONYX_VALUE_NONE);
  onyx_model_destroy(m);
}

static void test_strings_and_maps(void) {
  onyx_error error;
  entry = copy_strings_part;
  onyx_model *m =
      create(HEAD "in s tensor<?x!onnx.String>\nout t tensor<?x!onnx.String>\n", &error);
  CHECK(m);
  onyx_bytes items[3] = {{"a\0b", 3}, {NULL, 0}, {"long enough for two words", 25}};
  int64_t shape[1] = {3};
  onyx_value in = {.kind = ONYX_VALUE_STRINGS, .strings = {1, shape, items}}, out;
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && out.kind == ONYX_VALUE_STRINGS);
  CHECK(out.strings.items[0].size == 3 && !memcmp(out.strings.items[0].data, "a\0b", 3));
  CHECK(out.strings.items[1].size == 0 && out.strings.items[2].size == 25);
  onyx_value_release(&out);
  in.strings.items = NULL;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT);
  onyx_model_destroy(m);

  entry = copy_map;
  m = create(HEAD "in m !onnx.Map<i64,%20f32>\nout n !onnx.Map<i64,%20f32>\n", &error);
  CHECK(m);
  int64_t keys[2] = {7, 9}, two[1] = {2}, one[1] = {1};
  float values[2] = {0.5f, 1.5f};
  DLTensor k = {
      .data = keys, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = two};
  DLTensor v = floats(values, two, 1);
  onyx_value key = tensor_value(&k), value = tensor_value(&v);
  in = (onyx_value){.kind = ONYX_VALUE_MAP, .map = {&key, &value}};
  CHECK(onyx_model_run(m, &in, &out, &error) == 0 && out.kind == ONYX_VALUE_MAP);
  CHECK(((int64_t *)out.map.keys->tensor->data)[1] == 9 &&
        ((float *)out.map.values->tensor->data)[1] == 1.5f);
  onyx_value_release(&out);
  v.shape = one;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT);
  CHECK_MESSAGE(error.message, "keys and values of different number");
  in.map.values = NULL;
  CHECK(onyx_model_run(m, &in, &out, &error) == ONYX_BAD_ARGUMENT);
  onyx_model_destroy(m);
}

//===-- Manifests ---------------------------------------------------------------------------===//

static void refuse(const char *manifest, int32_t code, const char *part, int line) {
  onyx_error error;
  onyx_model *m = create(manifest, &error);
  check_that(!m && error.code == code, line, manifest);
  if (!m)
    check_contains(error.message, part, line);
  onyx_model_destroy(m);
}
#define REFUSE(manifest, code, part) refuse(manifest, code, part, __LINE__)

static void test_manifests(void) {
  REFUSE("", ONYX_BAD_MODEL, "empty");
  REFUSE("ELF", ONYX_BAD_MODEL, "not the manifest");
  REFUSE("onyx-model 2\nentry f\n", ONYX_BAD_MODEL,
         "line 1 (onyx-model): made for another version");
  REFUSE("onyx-model 1\n", ONYX_BAD_MODEL, "without an entry");
  REFUSE(HEAD "what is this\n", ONYX_BAD_MODEL, "line 4 (what): unknown record");
  REFUSE(HEAD "in x\n", ONYX_BAD_MODEL, "wrong number of fields");
  REFUSE(HEAD "in x tensor<f32> more of it all\n", ONYX_BAD_MODEL, "too many fields");
  REFUSE(HEAD "in x tensor<3xf33>\n", ONYX_BAD_MODEL, "no type that a graph can have");
  REFUSE(HEAD "in x tensor<99999999999999999999xf32>\n", ONYX_BAD_MODEL, "no type");
  REFUSE(HEAD "in x tensor<*xf32>\n", ONYX_BAD_MODEL, "the rank is unknown");
  REFUSE(HEAD "in x%0 tensor<f32>\n", ONYX_BAD_MODEL, "bad escape");
  REFUSE(HEAD "in x%00 tensor<f32>\n", ONYX_BAD_MODEL, "bad escape");
  REFUSE(HEAD "in x tensor<2xf32>\ndim in 0 1 n\n", ONYX_BAD_MODEL, "no such axis");
  REFUSE(HEAD "dim in 0 0 n\n", ONYX_BAD_MODEL, "no such input or output above");
  REFUSE(HEAD "hidden weights 0\n", ONYX_BAD_MODEL, "no weights file 0");
  REFUSE(HEAD "hidden arena -1\n", ONYX_BAD_MODEL, "bad number");
  REFUSE(HEAD "hidden arena 99999999999999999999\n", ONYX_BAD_MODEL, "bad number");
  REFUSE(HEAD "hidden cookies\n", ONYX_BAD_MODEL, "unknown kind");
  REFUSE(HEAD "init-hidden arena 3\n", ONYX_BAD_MODEL, "unknown kind");
  REFUSE(HEAD "hidden constants 8\n", ONYX_BAD_MODEL, "init does not make the constants");
  REFUSE(HEAD "weights_file 0 f 1 123\n", ONYX_BAD_MODEL, "bad fingerprint");
  REFUSE(HEAD "weights_file 1 f 1 0000000000000000\n", ONYX_BAD_MODEL, "bad index");
  REFUSE(HEAD "in s !onnx.Seq<!onnx.Seq<tensor<?xf32>>>\n", ONYX_UNSUPPORTED,
         "input 0 \"s\": a value of type !onnx.Seq");
  REFUSE(HEAD "out o !onnx.Opt<!onnx.Opt<tensor<?xi64>>>\n", ONYX_UNSUPPORTED, "output 0 \"o\"");
}

static void test_types(void) {
  onyx_pool pool = {0};
  onyx_type type;
  CHECK(onyx_type_parse(&pool, "tensor<?x3x0xbf16>", &type) && type.rank == 3 &&
        type.dims[0].size == -1 && type.dims[1].size == 3 && type.dims[2].size == 0 &&
        type.element == 16 && type.dtype.code == kDLBfloat);
  CHECK(onyx_type_parse(&pool, "tensor<complex<f64>>", &type) && type.rank == 0 &&
        type.element == 15);
  CHECK(onyx_type_parse(&pool, "tensor<4xf32, #onnx.layout<{dataLayout = \"NCHW16C\"}>>", &type) &&
        type.rank == 1);
  CHECK(onyx_type_parse(&pool, "!onnx.Map<!onnx.String, i64>", &type) && type.element == 8 &&
        type.of->element == 7);
  CHECK(onyx_type_parse(&pool, "!onnx.Seq<!onnx.Map<i64, f32>>", &type) &&
        type.of->kind == ONYX_VALUE_MAP);
  CHECK(!onyx_type_parse(&pool, "tensor<3xf32>>", &type) &&
        !onyx_type_parse(&pool, "tensor<3xf32", &type));
  CHECK(!onyx_type_parse(&pool, "memref<3xf32>", &type) && !onyx_type_parse(&pool, "", &type));
  char deep[300] = "";
  for (int i = 0; i < 20; i++)
    strcat(deep, "!onnx.Seq<");
  CHECK(!onyx_type_parse(&pool, deep, &type));
  onyx_pool_free(&pool);
}

static void test_options(void) {
  onyx_error error;
  entry = twice;
  set_manifest(TWICE);
  onyx_options options = {.size = sizeof options, .num_threads = 2};
  onyx_model *m = onyx_model_create(&options, &error);
  CHECK(m);
  const onyx_signature *s = onyx_model_signature(m);
  CHECK(s->num_inputs == 1 && !strcmp(s->inputs[0].name, "x") && !strcmp(s->entry, "main_graph"));
  onyx_model_destroy(m);
  options.size = 0;
  CHECK(!onyx_model_create(&options, &error) && error.code == ONYX_BAD_ARGUMENT);
  CHECK_MESSAGE(error.message, "onyx_options.size is 0");
  options = (onyx_options){.size = sizeof options, .flags = 1u << 31};
  CHECK(!onyx_model_create(&options, &error) && error.code == ONYX_BAD_ARGUMENT);
  options = (onyx_options){.size = sizeof options, .num_threads = -1};
  CHECK(!onyx_model_create(&options, &error) && error.code == ONYX_BAD_ARGUMENT);
  CHECK(!onyx_model_create(&options, NULL));
}

//===-- Weights and init --------------------------------------------------------------------===//

// Init copies the file's bytes into the constants, doubled; the entry returns their sum, an i64
// scalar.
static void double_bytes(void **args, void *results) {
  (void)results;
  const desc *weights = args[0], *constants = args[1];
  int64_t *status = ((desc *)args[2])->aligned;
  if ((uintptr_t)constants->aligned % 64)
    status[0] = ONYX_OTHER;
  for (int64_t i = 0; i < weights->dims[0]; i++)
    ((uint8_t *)constants->aligned)[i] = (uint8_t)(2 * ((uint8_t *)weights->aligned)[i]);
}
static void sum_constants(void **args, void *results) {
  const desc *constants = args[0];
  desc *out = results;
  int64_t *sum = __real_malloc(8);
  *sum = 0;
  for (int64_t i = 0; i < constants->dims[0]; i++)
    *sum += ((uint8_t *)constants->aligned)[i];
  out->allocated = out->aligned = sum;
  out->offset = 0;
}
static void fail_init(void **args, void *results) {
  (void)results;
  int64_t *status = ((desc *)args[2])->aligned;
  status[0] = ONYX_DIVISION_BY_ZERO;
  status[1] = 1;
}

static void write_file(const char *path, const void *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
    exit(3);
  close(fd);
}

static const char *weights_manifest(uint64_t size, uint64_t fingerprint) {
  static char text[1024];
  snprintf(text, sizeof text,
           HEAD
           "out y tensor<i64>\nhidden constants 3\ninit main_graph_init\ninit-hidden weights 1\n"
           "init-hidden constants 3\ninit-hidden status\n"
           "weights_file 0 not/there 7 0000000000000000\nweights_file 1 sub/w.bin %llu "
           "%016llx\nnode 1 %% Div\n",
           (unsigned long long)size, (unsigned long long)fingerprint);
  return text;
}

static int64_t run_sum(onyx_model *m) {
  onyx_value out;
  onyx_error error;
  if (onyx_model_run(m, NULL, &out, &error))
    return -1;
  int64_t sum = *(int64_t *)out.tensor->data;
  onyx_value_release(&out);
  return sum;
}

static void test_weights(const char *folder) {
  onyx_error error;
  if (chdir(folder))
    exit(3);
  mkdir("sub", 0777);
  const uint8_t bytes[3] = {1, 10, 100};
  uint64_t fingerprint = onyx_fingerprint_bytes(bytes, 3);
  write_file("sub/w.bin", bytes, 3);
  initializer = double_bytes;
  entry = sum_constants;
  onyx_model *m = create(weights_manifest(3, fingerprint), &error); // the working directory
  CHECK(m && run_sum(m) == 222);                                    // 2 * (1 + 10 + 100)
  onyx_model_destroy(m);
  onyx_options options = {.size = sizeof options, .weights_dir = "sub", .flags = ONYX_COPY_WEIGHTS};
  m = onyx_model_create(&options, &error); // flat: sub/w.bin without its folder
  CHECK(m && run_sum(m) == 222);
  onyx_model_destroy(m);
  options.weights_dir = ".";
  m = onyx_model_create(&options, &error);
  CHECK(m);
  onyx_model_destroy(m);
  options.weights_dir = "elsewhere";
  CHECK(!onyx_model_create(&options, &error) && error.code == ONYX_BAD_WEIGHTS);
  CHECK_MESSAGE(error.message,
                "weights file \"sub/w.bin\" not found; looked for elsewhere/sub/w.bin");

  // Another size, another content, and content that is not looked at.
  CHECK(!create(weights_manifest(4, fingerprint), &error) && error.code == ONYX_BAD_WEIGHTS);
  CHECK_MESSAGE(error.message, "w.bin has 3 bytes, the model was compiled with one of 4 bytes");
  CHECK(!create(weights_manifest(3, 0xabc), &error));
  CHECK_MESSAGE(error.message, "the model was compiled with one of fingerprint 0000000000000abc");
  char found[48];
  snprintf(found, sizeof found, "has fingerprint %016llx", (unsigned long long)fingerprint);
  CHECK_MESSAGE(error.message, found);
  options = (onyx_options){.size = sizeof options, .flags = ONYX_SKIP_VERIFY};
  m = onyx_model_create(&options, &error);
  CHECK(m);
  onyx_model_destroy(m);

  // A failing init, a folder and a pipe in the file's place, no permission.
  initializer = fail_init;
  CHECK(!create(weights_manifest(3, fingerprint), &error) && error.code == ONYX_DIVISION_BY_ZERO);
  CHECK_MESSAGE(error.message, "Div \"\": integer division by zero");
  initializer = double_bytes;
  chmod("sub/w.bin", 0);
  if (geteuid() != 0) {
    CHECK(!create(weights_manifest(3, fingerprint), &error));
    CHECK_MESSAGE(error.message, "cannot open weights file");
  }
  unlink("sub/w.bin");
  mkdir("sub/w.bin", 0777);
  CHECK(!create(weights_manifest(3, fingerprint), &error));
  CHECK_MESSAGE(error.message, "is no regular file");
  rmdir("sub/w.bin");
  mkfifo("sub/w.bin", 0666);
  CHECK(!create(weights_manifest(3, fingerprint), &error));
  CHECK_MESSAGE(error.message, "is no regular file");
  unlink("sub/w.bin");
  CHECK(!create(weights_manifest(3, fingerprint), &error));
  CHECK_MESSAGE(error.message, "not found");
}

static void test_empty_weights(void) {
  onyx_error error;
  write_file("sub/w.bin", "", 0);
  initializer = double_bytes;
  entry = sum_constants;
  onyx_model *m = create(weights_manifest(0, onyx_fingerprint_bytes("", 0)), &error);
  CHECK(m && run_sum(m) == 0);
  onyx_model_destroy(m);
}

//===-- Memory and threads ------------------------------------------------------------------===//

// Every allocation of create and run fails once; nothing leaks (LeakSanitizer) and the next run
// works.
static void test_out_of_memory(void) {
  onyx_error error;
  entry = twice;
  float data[4] = {1, 2, 3, 4};
  int64_t shape[1] = {2}, strides[1] = {2};
  DLTensor t = floats(data, shape, 1);
  t.strides = strides;
  onyx_value in = tensor_value(&t), out;
  int creates = 0, runs = 0;
  for (int n = 0; n < 100; n++, creates++) {
    allocations = 0;
    fail_at = n;
    onyx_model *m = create(TWICE, &error);
    fail_at = -1;
    if (m) {
      onyx_model_destroy(m);
      break;
    }
    // A type that cannot be read and one there is no memory for are told alike.
    CHECK(error.code == ONYX_OUT_OF_MEMORY || error.code == ONYX_BAD_MODEL);
  }
  onyx_model *m = create(TWICE, &error);
  for (int n = 0; n < 100; n++, runs++) {
    allocations = 0;
    fail_at = n;
    int code = onyx_model_run(m, &in, &out, &error);
    fail_at = -1;
    if (!code)
      break;
    CHECK(code == ONYX_OUT_OF_MEMORY && out.kind == ONYX_VALUE_NONE);
    CHECK_MESSAGE(error.message, "no memory");
  }
  onyx_value_release(&out);
  onyx_model_destroy(m);
  CHECK(creates >= 8 && creates < 100);
  CHECK(runs >= 7 && runs < 100);
}

enum { THREADS = 4, ROUNDS = 500 };

static void *run_many(void *model) {
  intptr_t wrong = 0;
  for (int i = 1; i <= ROUNDS; i++) {
    float data[64];
    for (int k = 0; k < 64; k++)
      data[k] = (float)(i * k + 1);
    data[0] = i % 3 ? 1.0f : -1.0f; // every third run fails
    int64_t shape[1] = {i % 64 + 1};
    DLTensor t = floats(data, shape, 1);
    onyx_value in = tensor_value(&t), out;
    onyx_error error;
    int code = onyx_model_run(model, &in, &out, &error);
    wrong += code != (i % 3 ? 0 : ONYX_INDEX_OUT_OF_RANGE);
    if (code)
      continue;
    for (int k = 0; k < shape[0]; k++)
      wrong += ((float *)out.tensor->data)[k] != 2 * data[k];
    onyx_value_release(&out);
  }
  return (void *)wrong;
}

static void test_threads(void) {
  onyx_error error;
  entry = twice;
  onyx_model *m = create(TWICE, &error);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, run_many, m);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    CHECK(wrong == NULL);
  }
  onyx_model_destroy(m);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  test_run();
  test_strides();
  test_packed();
  test_input_errors();
  test_results();
  test_optional_sequence();
  test_strings_and_maps();
  test_manifests();
  test_types();
  test_options();
  test_out_of_memory();
  test_threads();
  test_weights(argv[1]);
  test_empty_weights();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
