// A pass of one's own beside Onyx's: two Relus in a row are one.
//
// It is a plugin for mlir-opt in plain C: descriptors from mlirx.h, IR through mlir-c, and Onyx's
// ops by name. README.md beside this file builds and runs it.
#include "mlirx/plugin.h"

#include <stddef.h>
#include <stdlib.h>

// Relu(Relu(x)) is Relu(x): where the inner one gives x, x is not negative.
static MlirLogicalResult merge_relus(MlirRewritePattern pattern, MlirOperation outer,
                                     MlirPatternRewriter rewriter, void *user) {
  (void)pattern, (void)user;
  const MlirxOp *relu = onyx_op_lookup("onnx.Relu");
  MlirValue x = mlirOperationGetOperand(outer, 0);
  if (!mlirValueIsAOpResult(x) || !mlirxIsA(mlirOpResultGetOwner(x), relu) ||
      !mlirTypeEqual(mlirValueGetType(x), mlirValueGetType(mlirOperationGetResult(outer, 0))))
    return mlirLogicalResultFailure();
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), outer, 1, &x);
  return mlirLogicalResultSuccess();
}

// The frozen patterns are made once for all clones of the pass, which may run on many threads.
static MlirLogicalResult initialize(MlirxPass pass, MlirContext ctx, void **state) {
  (void)pass;
  MlirRewritePatternSet set = mlirRewritePatternSetCreate(ctx);
  MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = merge_relus};
  MlirStringRef root = mlirStringRefCreateFromCString("onnx.Relu");
  mlirRewritePatternSetAdd(set, mlirOpRewritePatternCreate(root, 1, ctx, callbacks, NULL, 0, NULL));
  *state = mlirFreezeRewritePattern(set).ptr;
  return mlirLogicalResultSuccess();
}

static void destroy(void *state) {
  mlirFrozenRewritePatternSetDestroy((MlirFrozenRewritePatternSet){state});
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass;
  MlirGreedyRewriteDriverConfig config = mlirGreedyRewriteDriverConfigCreate();
  MlirLogicalResult result =
      mlirApplyPatternsAndFoldGreedilyWithOp(op, (MlirFrozenRewritePatternSet){state}, config);
  mlirGreedyRewriteDriverConfigDestroy(config);
  return result;
}

static const char *const dialects[] = {"onnx", NULL};
static const MlirxPassDescriptor merge_relu_pass = {
    .argument = "own-merge-relus",
    .description = "Two Relus in a row are one",
    .dependentDialects = dialects,
    .initialize = initialize,
    .destroy = destroy,
    .run = run,
};

static void add_passes(void) {
  mlirxRegisterPass(&merge_relu_pass);
}

MlirxPluginInfo mlirGetPassPluginInfo(void) {
  return (MlirxPluginInfo){MLIRX_PLUGIN_API_VERSION, "own-pass", "1", {.passes = add_passes}};
}
