// The interface of a compiled ONNX model: what MODEL.so exports.
//
// Create maps the model's weights and runs its init function; run is re-entrant and may be called
// from many threads at once on one model. Nothing here aborts: every failure is an onyx_error.
// Tensors are DLPack's, so NumPy, PyTorch and JAX exchange them without a copy.
//
//   onyx_error error;
//   onyx_model *model = onyx_model_create(NULL, &error);
//   onyx_value in = {.kind = ONYX_VALUE_TENSOR, .tensor = &x}, out;
//   if (!model || onyx_model_run(model, &in, &out, &error)) { puts(error.message); ... }
//   ... out.tensor->data ...
//   onyx_value_release(&out);
//   onyx_model_destroy(model);
//
// Link with the .so, or dlopen it and take the functions by name; several models may live in one
// process when opened with dlopen (RTLD_LOCAL).
#ifndef ONYX_MODEL_H
#define ONYX_MODEL_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONYX_API __attribute__((visibility("default")))

typedef struct onyx_model onyx_model;

//===-- Errors ------------------------------------------------------------------------------===//

typedef enum onyx_status {
  ONYX_OK = 0,
  // Set by compiled code; `node`, `op`, `found` and `limit` say where and what.
  ONYX_INDEX_OUT_OF_RANGE = 1,
  ONYX_DIVISION_BY_ZERO = 2,
  ONYX_SHAPES_DISAGREE = 3,
  ONYX_BAD_RESHAPE = 4,
  ONYX_BAD_AXIS = 5,
  ONYX_BAD_SIZE = 6, // K, repeats, steps, sizes
  ONYX_OUT_OF_MEMORY = 7,
  ONYX_OTHER = 8,
  // Set by the runtime.
  ONYX_BAD_ARGUMENT = 100, // an input's kind, type, rank or shape; options
  ONYX_BAD_WEIGHTS =
      101, // a weights file is missing, unreadable or another than the one compiled for
  ONYX_BAD_MODEL = 102,  // the compiled model contradicts itself
  ONYX_UNSUPPORTED = 103 // a kind of value that this model's compiler does not produce
} onyx_status;

typedef struct onyx_error {
  int32_t code;   // an onyx_status
  char node[128]; // ONNX node, cut when longer; empty when no node is to blame
  char op[64];    // its operator
  int64_t found, limit;
  char message[512]; // complete, in one line
} onyx_error;

//===-- Values ------------------------------------------------------------------------------===//

// DLPack type codes that the header of DLPack 0.6 lacks (they are those of DLPack 1.1).
enum {
  ONYX_DL_BOOL = 6, // 8 bits, 0 or 1
  ONYX_DL_FLOAT8_E4M3FN = 10,
  ONYX_DL_FLOAT8_E4M3FNUZ = 11,
  ONYX_DL_FLOAT8_E5M2 = 12,
  ONYX_DL_FLOAT8_E5M2FNUZ = 13,
  ONYX_DL_FLOAT8_E8M0FNU = 14,
  ONYX_DL_FLOAT4_E2M1FN = 17
};

typedef enum onyx_value_kind {
  ONYX_VALUE_NONE = 0,
  ONYX_VALUE_TENSOR,
  ONYX_VALUE_STRINGS,
  ONYX_VALUE_SEQUENCE,
  ONYX_VALUE_OPTIONAL,
  ONYX_VALUE_MAP
} onyx_value_kind;

typedef struct onyx_value onyx_value;

// A string: bytes with a length, not terminated.
typedef struct onyx_bytes {
  const char *data;
  size_t size;
} onyx_bytes;

// A tensor of strings, row-major.
typedef struct onyx_strings {
  int32_t rank;
  const int64_t *shape;
  const onyx_bytes *items;
} onyx_strings;

typedef struct onyx_sequence {
  size_t count;
  const onyx_value *items; // all of one type
} onyx_sequence;

// Entry i maps element i of `keys` (a tensor of integers or strings, rank 1) to element i of
// `values` (a tensor or strings of rank 1, or a sequence).
typedef struct onyx_map {
  const onyx_value *keys;
  const onyx_value *values;
} onyx_map;

// What a graph takes and gives. Sub-byte elements (4 and 2 bits) are packed, low bits first, each
// tensor starting at a byte; such a tensor has no strides of its own.
struct onyx_value {
  onyx_value_kind kind;
  union {
    const DLTensor *tensor;
    onyx_strings strings;
    onyx_sequence sequence;
    const onyx_value *optional; // NULL when absent
    onyx_map map;
  };
  // Outputs: frees all that the value refers to. NULL: the value borrows (inputs).
  void (*release)(onyx_value *value);
  // Outputs that are tensors: `tensor` is &managed->dl_tensor. Whoever takes it (a DLPack capsule)
  // sets value.kind to ONYX_VALUE_NONE and calls its deleter when done.
  DLManagedTensor *managed;
};

//===-- Signature ---------------------------------------------------------------------------===//

typedef struct onyx_dim {
  int64_t size;     // -1: known only when the model runs
  const char *name; // symbolic name, or NULL; equal names among the inputs mean equal sizes
} onyx_dim;

typedef struct onyx_type onyx_type;
struct onyx_type {
  onyx_value_kind kind;
  int32_t element;      // TensorProto.DataType: of a tensor or strings; of a map its key
  DLDataType dtype;     // the same for DLPack; {0, 0, 0} for strings
  int32_t rank;         // of a tensor or strings; -1: unknown (inside sequences)
  const onyx_dim *dims; // `rank` of them
  const onyx_type *of;  // of a sequence or optional: the inner type; of a map: the value's
};

typedef struct onyx_parameter {
  const char *name;
  onyx_type type;
  const char *text; // "tensor<?x3xf32>"
} onyx_parameter;

typedef struct onyx_signature {
  const char *producer; // "onyx 0.1.0"
  const char *entry;    // name of the graph's function
  size_t num_inputs, num_outputs;
  const onyx_parameter *inputs, *outputs;
} onyx_signature;

//===-- The model ---------------------------------------------------------------------------===//

enum {
  ONYX_SKIP_VERIFY =
      1, // do not compare the fingerprint of weights files (the size is always compared)
  ONYX_COPY_WEIGHTS = 2 // read weights into memory of our own instead of mapping their files
};

// Zeroed fields are defaults. `size` is sizeof(onyx_options): fields may be added at the end.
typedef struct onyx_options {
  size_t size;
  const char *weights_dir; // where the weights files are; NULL: beside the .so, else here
  uint32_t flags;
  int32_t num_threads; // threads of one run; 0: what OMP_NUM_THREADS or the machine says
} onyx_options;

// options may be NULL, error too. NULL and *error on failure.
ONYX_API onyx_model *onyx_model_create(const onyx_options *options, onyx_error *error);

// Reads signature->num_inputs values, writes num_outputs. Returns 0, or an onyx_status: then every
// out[i] is ONYX_VALUE_NONE. Inputs are only read; outputs share no memory with them and belong to
// the caller, who passes each to onyx_value_release. Tensors with strides and byte offsets are
// fine.
ONYX_API int onyx_model_run(onyx_model *model, const onyx_value *in, onyx_value *out,
                            onyx_error *error);

// Lives as long as the model.
ONYX_API const onyx_signature *onyx_model_signature(const onyx_model *model);

// No run may be in progress. Outputs live on. NULL is ignored.
ONYX_API void onyx_model_destroy(onyx_model *model);

// Frees what the value owns and makes it ONYX_VALUE_NONE.
ONYX_API void onyx_value_release(onyx_value *value);

// For dlsym.
typedef onyx_model *onyx_model_create_fn(const onyx_options *, onyx_error *);
typedef int onyx_model_run_fn(onyx_model *, const onyx_value *, onyx_value *, onyx_error *);
typedef const onyx_signature *onyx_model_signature_fn(const onyx_model *);
typedef void onyx_model_destroy_fn(onyx_model *);
typedef void onyx_value_release_fn(onyx_value *);

#ifdef __cplusplus
}
#endif
#endif
