// Fold hooks and canonicalization patterns, by operator.
#include "dialects/onnx/rules.h"

#include <stdio.h>
#include <string.h>

// A value stands for a result of another type only where the types are the same: uses keep theirs.
static bool replace_by(MlirOperation op, MlirValue by, MlirxFoldResult *results) {
  if (!mlirTypeEqual(mlirValueGetType(by), mlirValueGetType(mlirOperationGetResult(op, 0))))
    return false;
  results[0].value = by;
  return true;
}

static MlirLogicalResult fold_identity(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                       MlirxFoldResult *results) {
  (void)n, (void)operands;
  return replace_by(op, mlirOperationGetOperand(op, 0), results) ? success() : failure();
}

// A cast to the type that a value has.
static MlirLogicalResult fold_cast(MlirOperation op, intptr_t n, const MlirAttribute *operands,
                                   MlirxFoldResult *results) {
  return fold_identity(op, n, operands, results);
}

static const struct fold_entry {
  const char *name;
  onnx_fold_hook fold;
} folds[] = {{"Cast", fold_cast}, {"CastLike", fold_cast}, {"Identity", fold_identity}};

onnx_fold_hook onnx_fold_of(const char *name) {
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
    if (strcmp(folds[i].name, name) == 0)
      return folds[i].fold;
  return NULL;
}

const onnx_rule *const onnx_rule_tables[] = {onnx_rules_forms, onnx_rules_shape, onnx_rules_math,
                                             onnx_rules_conv, NULL};

static MlirLogicalResult apply_rule(MlirRewritePattern pattern, MlirOperation op,
                                    MlirPatternRewriter rewriter, void *user) {
  (void)pattern;
  return ((const onnx_rule *)user)->rewrite(op, mlirPatternRewriterAsBase(rewriter));
}

void onnx_add_rules(MlirRewritePatternSet set, MlirContext ctx) {
  for (const onnx_rule *const *table = onnx_rule_tables; *table; table++)
    for (const onnx_rule *r = *table; r->root; r++) {
      char root[64];
      snprintf(root, sizeof root, "onnx.%s", r->root);
      MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = apply_rule};
      mlirRewritePatternSetAdd(set, mlirOpRewritePatternCreate(str(root), 1, ctx, callbacks,
                                                               (void *)(uintptr_t)r, 0, NULL));
    }
}

// canonicalize collects the patterns of every op: one op brings all rules.
onnx_patterns_hook onnx_patterns_of(const char *name) {
  return strcmp(name, "Identity") == 0 ? onnx_add_rules : NULL;
}
