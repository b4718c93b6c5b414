// onnx-hybrid-transform: the canonicalization rules and those of decompose-onnx's default in one
// greedy driver, to a fixed point or max-rewrites, with a count of each rule's hits.
#include "dialects/onnx/rules.h"
#include "passes/onnx/decompose.h"
#include "passes/onnx/passes.h"

#include <stdio.h>

enum { max_rules = 256 };

struct counted {
  MlirxPass pass;
  const onnx_rule *rule;
};

static MlirLogicalResult apply(MlirRewritePattern pattern, MlirOperation op,
                               MlirPatternRewriter rewriter, void *user) {
  (void)pattern;
  const struct counted *c = user;
  if (failed(c->rule->rewrite(op, mlirPatternRewriterAsBase(rewriter))))
    return failure();
  mlirxReportHit(c->pass, c->rule->name);
  return success();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct counted counted[max_rules];
  MlirContext ctx = mlirOperationGetContext(op);
  MlirRewritePatternSet set = mlirRewritePatternSetCreate(ctx);
  int n = 0;
  for (const onnx_rule *const *table = onnx_rule_tables; *table; table++)
    for (const onnx_rule *r = *table; r->root && n < max_rules; r++) {
      char root[64];
      snprintf(root, sizeof root, "onnx.%s", r->root);
      counted[n] = (struct counted){pass, r};
      MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = apply};
      mlirRewritePatternSetAdd(
          set, mlirOpRewritePatternCreate(str(root), 1, ctx, callbacks, &counted[n++], 0, NULL));
    }
  struct decompose_selection selection = {pass, 0};
  decompose_add_patterns(set, ctx, &selection);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(set);
  MlirGreedyRewriteDriverConfig config = mlirGreedyRewriteDriverConfigCreate();
  mlirGreedyRewriteDriverConfigSetMaxNumRewrites(config, mlirxPassGetInt(pass, 0));
  // Reaching the bound is no failure: what is left is right, only longer.
  (void)mlirApplyPatternsAndFoldGreedilyWithOp(op, frozen, config);
  mlirGreedyRewriteDriverConfigDestroy(config);
  mlirFrozenRewritePatternSetDestroy(frozen);
  return success();
}

static const MlirxOption options[] = {
    {"max-rewrites", MLIRX_OPT_INT, "1000000", "bound of rewrites"}, {0}};
const MlirxPassDescriptor onnx_hybrid_transform_pass = {.argument = "onnx-hybrid-transform",
                                                        .description =
                                                            "All graph rules to a fixed point",
                                                        .options = options,
                                                        .report = true,
                                                        .run = run};
