//===- graph.h - Graphs, nodes and tensors of the wire format -----------------------===//
#ifndef ONYX_PASSES_EXPORT_GRAPH_H
#define ONYX_PASSES_EXPORT_GRAPH_H

#include "dialects/onnx/ptr_map.h"
#include "dialects/onnx/view_mlir.h"
#include "dialects/onnx/weights.h"
#include "passes/export/export.h"
#include "passes/export/wire_write.h"

struct external_file {
  const char *name; // as the model names it; NULL: weights stay in the model
  FILE *stream;
  uint64_t size;
  bool failed;
};

struct exporter {
  MlirContext ctx;
  MlirOperation module;
  onyx_arena *arena;
  view_scope *views;
  weights_cache *weights;
  ptr_map names;   // MlirValue -> name (StringAttr)
  ptr_map taken;   // StringAttr -> itself: names of values
  ptr_map nodes;   // the same: names of nodes
  ptr_map domains; // StringAttr of a domain -> struct export_domain
  struct export_domain *first_domain;
  struct export_function *functions; // that calls name
  int node_field;                    // of nodes in the message at hand
  bool in_function;                  // whose constants stay inside the model
  int64_t next;
  bool inverse; // the opset needs inverse upgrades
  bool failed;
  struct external_file external;
};

// A private function: a FunctionProto.
struct export_function {
  MlirOperation op;
  MlirAttribute domain, base; // StringAttr: as import recorded them
  MlirAttribute name;         // base, or with a number where the body differs from an earlier one's
  bool called;                // under this name, by a node that is written
  struct wire body;
  struct export_function *next;
};

struct export_domain {
  const char *name;
  int opset;           // chosen
  MlirOperation needs; // an op that needs this opset
  struct export_domain *next;
};

int export_opset(struct exporter *e, MlirOperation op); // of the op's domain
// GraphProto of a function's body (top) or a region's block.
struct wire export_graph(struct exporter *e, MlirBlock block, MlirOperation function,
                         const char *name);
// Is a constant written as a node? In functions, which have no initializers; where it is named and
// an output at once, so that both names come back.
bool export_constant_is_node(struct exporter *e, MlirOperation op);
// FunctionProto without its name and opset imports.
struct wire export_function(struct exporter *e, const struct export_function *f);
// The function that a func.call calls; NULL for any other op.
struct export_function *export_callee(struct exporter *e, MlirOperation op);
// TensorProto of an elements attribute. name may be null.
struct wire export_tensor(struct exporter *e, MlirOperation op, MlirAttribute value,
                          MlirStringRef name);
// SparseTensorProto of a sparse elements attribute.
struct wire export_sparse_tensor(struct exporter *e, MlirOperation op, MlirAttribute value);
// TypeProto. dim_params: text of onnx.dim_params or null data.
struct wire export_type(struct exporter *e, MlirType type, MlirStringRef dim_params);
void export_fail(struct exporter *e, MlirOperation op, const char *fmt, ...) MLIRX_PRINTF(3, 4);

#endif
