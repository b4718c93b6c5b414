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
  onyx_arena *arena;
  view_scope *views;
  weights_cache *weights;
  ptr_map names;   // MlirValue -> name (StringAttr)
  ptr_map taken;   // StringAttr -> itself: names of values
  ptr_map nodes;   // the same: names of nodes
  ptr_map domains; // StringAttr of a domain -> struct export_domain
  struct export_domain *first_domain;
  int64_t next;
  bool failed;
  struct external_file external;
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
// TensorProto of an elements attribute. name may be null.
struct wire export_tensor(struct exporter *e, MlirOperation op, MlirAttribute value,
                          MlirStringRef name);
// TypeProto. dim_params: text of onnx.dim_params or null data.
struct wire export_type(struct exporter *e, MlirType type, MlirStringRef dim_params);
void export_fail(struct exporter *e, MlirOperation op, const char *fmt, ...) MLIRX_PRINTF(3, 4);

#endif
