// What the node tests need of a .onnx file and of .pb files, through the importer's reader. A
// header of its own: the importer's types and the operators' share names.
#ifndef ONYX_TEST_GRAPH_READER_H
#define ONYX_TEST_GRAPH_READER_H

#include "dialects/onnx/schema/schema.h"

typedef struct g_tensor {
  onyx_elem elem;
  int rank;
  int64_t *dims;
  int64_t count;
  void *data;           // memory form
  const char **strings; // of a string tensor
} g_tensor;

typedef struct g_attr {
  onyx_attr_kind kind; // UNDEFINED: absent
  int64_t i, n;
  double f;
  const char *s;
  size_t s_size;
  int64_t *ints;
  double *floats;
  const char **strings;
  g_tensor *tensor;
} g_attr;

typedef struct g_node {
  const char *name;
  const onyx_schema *row;
  int num_in, num_out;
  int *in, *out; // value numbers, -1: absent
  g_attr *attrs; // in the row's order
} g_node;

typedef struct g_graph {
  int num_values, num_nodes, num_in, num_out;
  g_tensor **constants; // by value; NULL: none
  g_node *nodes;
  int *in, *out;
  onyx_elem *in_elem; // as the graph says: bfloat16 comes as uint16 in old files
} g_graph;

// NULL with a message (of 1024 bytes) when it cannot be read. Nothing is freed before the program
// ends.
g_graph *graph_read(const char *path, char *message);
// A TensorProto; NULL when it is none.
g_tensor *tensor_file_read(const char *path, char *message);

#endif
