// The graph in memory between decoding and printing.
//
// Nodes hold pointers to values, values to types; all of it lives in the import's arena and is
// built once, in topological order: when a node is made, its operands' element types are known.
#ifndef ONYX_IMPORTER_IR_H
#define ONYX_IMPORTER_IR_H

#include "dialects/onnx/schema/schema.h"
#include "importer/import.h"

typedef struct dim {
  int64_t size; // -1 when unknown
  str param;    // symbolic name, may be empty
} dim;

typedef struct type {
  onyx_type_kind kind;
  onyx_elem elem; // of a tensor; UNDEFINED when not known
  onyx_elem key;  // of a map
  bool ranked;
  bool sparse; // of a graph input that the model calls a sparse tensor
  int rank;
  const dim *dims;
  const struct type *of; // of a sequence or optional; of a map, the value
} type;

// A constant. Bytes are ONNX's packed little-endian form, wherever they lie.
typedef struct tensor {
  str name;
  onyx_elem elem;
  int rank;
  const int64_t *dims;
  uint64_t count;             // of elements
  uint64_t size;              // of bytes; 0 for strings
  const unsigned char *bytes; // in a mapped file or in memory
  weights_file *file;         // NULL when the bytes are only in memory
  uint64_t offset;            // in file
  const str *strings;         // for ONYX_STRING
} tensor;

typedef struct value {
  str name;           // the model's, may be empty
  const type *type;   // NULL until known
  const type *hint;   // what value_info says of it, or NULL; its rank guides upgrades
  const tensor *data; // of a constant
  struct node *def;   // NULL for arguments and initializers
  bool used;
  bool needed; // by the outputs of a part (specialize.c)
  bool printed_argument;
  int id;     // number in the text, -1 before
  int result; // index among def's results
} value;

typedef struct attr {
  str name;
  onyx_attr_kind kind;
  int count; // of a list
  int64_t i;
  float f;
  str s;
  const int64_t *ints;
  const float *floats;
  const str *strings;
  const tensor *const *tensors; // also of a single tensor
  struct graph *const *graphs;
  const type *const *types;
} attr;

typedef struct node {
  str name, domain, op, overload, doc;
  int opset;              // version of the domain under which it is written
  const onyx_schema *row; // in force; NULL when the table has no such operator
  int num_in, num_out, num_attrs;
  value **in; // NULL entries: absent
  value **out;
  attr *attrs;
  const type **declared; // what the model says of each result, entries may be NULL
  str callee;            // of a call of a function that is kept: its symbol
  bool helper;           // made by an upgrade beside the node it is named after
  struct node *next;
} node;

typedef struct graph {
  str name;
  int num_in, num_out;
  value **in, **out;
  const type **out_types; // as declared, entries may be NULL
  node *first, *last;
  value **constants; // initializers that are used, in order of first use
  int num_constants, room_constants;
  struct graph *outer;
  str symbol;                // of a function that is kept
  str domain, function_name; // of a kept function
} graph;

// Types.
const type *type_tensor(import *im, onyx_elem elem); // unranked
const type *type_ranked(import *im, onyx_elem elem, int rank, const int64_t *dims);
const type *type_of_schema(import *im, int schema_type);                // row of onyx_schema_types
const type *type_wrap(import *im, onyx_type_kind kind, const type *of); // seq or optional
bool type_same_kind(const type *a, const type *b);                      // all but shapes
int type_schema_index(const type *t);             // row of onyx_schema_types, -1 when none
const char *type_show(import *im, const type *t); // the standard's text, for messages

// Values and nodes.
value *value_new(import *im, str name, const type *t);
int value_rank(const value *v); // -1 when neither the type nor the hint knows
// Element type of a tensor value, UNDEFINED when it is none or not known.
onyx_elem value_elem(const value *v);
node *node_new(import *im, str name, const char *op, int num_in, int num_out);
void node_set_inputs(import *im, node *n, int count, value *const *in);
value *node_in(const node *n, int i); // NULL past the end
bool node_has_out(const node *n, int i);
void graph_append(graph *g, node *n);

// Attributes.
const attr *attr_find(const node *n, const char *name);
int64_t attr_int(const node *n, const char *name, int64_t fallback);
float attr_float(const node *n, const char *name, float fallback);
str attr_str(const node *n, const char *name, const char *fallback);
void attr_remove(node *n, const char *name);
void attr_rename(node *n, const char *from, const char *to);
attr *attr_add(import *im, node *n, const char *name, onyx_attr_kind kind);
void attr_set_int(import *im, node *n, const char *name, int64_t v);
void attr_set_float(import *im, node *n, const char *name, float v);
void attr_set_str(import *im, node *n, const char *name, const char *v);
void attr_set_ints(import *im, node *n, const char *name, int count, const int64_t *v);

// Constants.
tensor *tensor_new(import *im, onyx_elem elem, int rank, const int64_t *dims, const void *bytes);
const type *tensor_type(import *im, const tensor *t);
// Element i of an integer tensor (any width, signed or not, bool).
int64_t tensor_int(const tensor *t, uint64_t i);

// A message that names a node: "node 'x' (Op-7): ..." .
_Noreturn void node_fail(import *im, const node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
