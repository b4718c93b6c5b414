// shape-inference: result types of every operator, from one forward walk.
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"

static MlirLogicalResult infer(MlirOperation function, void *user) {
  MlirStringRef *weights_root = user;
  view_scope *scope = view_scope_create(function, VIEW_INFER, *weights_root);
  bool changed;
  MlirLogicalResult ok = infer_function(scope, function);
  if (mlirLogicalResultIsSuccess(ok))
    ok = infer_write(scope, function, &changed);
  view_scope_destroy(scope);
  return ok;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  MlirStringRef weights_root = mlirxPassGetString(pass, 0);
  return for_each_function(op, infer, &weights_root);
}

static const MlirxOption options[] = {
    {"weights-root", MLIRX_OPT_STRING, NULL,
     "folder of #onnx.file names (else onnx.weights_root, else the working directory)"},
    {0}};
const MlirxPassDescriptor onnx_shape_inference_pass = {
    .argument = "shape-inference",
    .description = "Infer result types and shapes of ONNX operators",
    .options = options,
    .run = run};
