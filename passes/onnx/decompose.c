// decompose-onnx: composite operators become simpler ones.
//
// By default operators that are no part of the standard, which exporters and onnxruntime's
// optimizer emit; with target=NAME,.. those named, the standard's own among them.
#include "passes/onnx/decompose.h"
#include "passes/onnx/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

MlirType elem_type(MlirValue v) {
  return mlirShapedTypeGetElementType(type_of(v));
}
MlirType i64_of(const composite *c) {
  return mlirIntegerTypeGet(c->b.ctx, 64);
}

MlirValue call(composite *c, const char *name, MlirType elem, int n, const MlirValue *operands,
               const onnx_named *attrs) {
  return make_op(&c->b, name, mlirUnrankedTensorTypeGet(elem), n, operands, attrs);
}

MlirValue unary(composite *c, const char *name, MlirValue x) {
  return call(c, name, elem_type(x), 1, &x, NULL);
}

MlirValue binary(composite *c, const char *name, MlirValue x, MlirValue y) {
  MlirValue operands[] = {x, y};
  return call(c, name, elem_type(x), 2, operands, NULL);
}

MlirValue compare(composite *c, const char *name, MlirValue x, MlirValue y) {
  MlirValue operands[] = {x, y};
  return call(c, name, mlirIntegerTypeGet(c->b.ctx, 1), 2, operands, NULL);
}

MlirValue choose(composite *c, MlirValue condition, MlirValue yes, MlirValue no) {
  MlirValue operands[] = {condition, yes, no};
  return call(c, "Where", elem_type(yes), 3, operands, NULL);
}

MlirValue cast(composite *c, MlirValue x, MlirType elem) {
  if (mlirTypeEqual(elem_type(x), elem))
    return x;
  const onnx_named attrs[] = {{"to", mlirTypeAttrGet(elem)}, {0}};
  return call(c, "Cast", elem, 1, &x, attrs);
}

MlirValue number(composite *c, MlirType elem, double value) {
  return make_float(&c->b, elem, value);
}

MlirValue scalar_int(composite *c, MlirType elem, int64_t value) {
  MlirType type = tensor_type(elem, 0, NULL);
  MlirAttribute dense = mlirDenseElementsAttrSplatGet(type, mlirIntegerAttrGet(elem, value));
  const onnx_named attrs[] = {{"value", dense}, {0}};
  return make_op(&c->b, "Constant", type, 0, NULL, attrs);
}

MlirValue ints(composite *c, int n, const int64_t *values) {
  return make_ints(&c->b, n, values);
}
MlirValue none(composite *c) {
  return make_none(&c->b);
}
MlirAttribute string_value(const composite *c, const char *text) {
  return mlirStringAttrGet(c->b.ctx, str(text));
}

MlirValue sizes(composite *c, MlirValue x, int64_t start, int64_t end) {
  const onnx_named attrs[] = {{"start", int_value(c, start)}, {"end", int_value(c, end)}, {0}};
  return call(c, "Shape", i64_of(c), 1, &x, attrs);
}

MlirValue reshape(composite *c, MlirValue x, int n, const int64_t *shape) {
  MlirValue operands[] = {x, ints(c, n, shape)};
  return call(c, "Reshape", elem_type(x), 2, operands, NULL);
}

MlirValue transpose(composite *c, MlirValue x, int n, const int64_t *perm) {
  const onnx_named attrs[] = {{"perm", ints_array(c->b.ctx, n, perm)}, {0}};
  return call(c, "Transpose", elem_type(x), 1, &x, attrs);
}

MlirValue concat(composite *c, int n, const MlirValue *values, int64_t axis) {
  const onnx_named attrs[] = {{"axis", int_value(c, axis)}, {0}};
  return call(c, "Concat", elem_type(values[0]), n, values, attrs);
}

MlirValue slice(composite *c, MlirValue x, int64_t axis, int64_t start, int64_t end) {
  MlirValue operands[] = {x, ints(c, 1, &start), ints(c, 1, &end), ints(c, 1, &axis)};
  return call(c, "Slice", elem_type(x), 4, operands, NULL);
}

MlirValue unsqueeze(composite *c, MlirValue x, int n, const int64_t *axes) {
  MlirValue operands[] = {x, ints(c, n, axes)};
  return call(c, "Unsqueeze", elem_type(x), 2, operands, NULL);
}

MlirValue squeeze(composite *c, MlirValue x, int64_t axis) {
  MlirValue operands[] = {x, ints(c, 1, &axis)};
  return call(c, "Squeeze", elem_type(x), 2, operands, NULL);
}

MlirValue take(composite *c, MlirValue x, int64_t index, int64_t axis) {
  MlirValue operands[] = {x, scalar_int(c, i64_of(c), index)};
  const onnx_named attrs[] = {{"axis", int_value(c, axis)}, {0}};
  return call(c, "Gather", elem_type(x), 2, operands, attrs);
}

bool wanted(const composite *c, int i) {
  return i < mlirOperationGetNumResults(c->op) && !is_unused(result(c->op, i));
}

MlirLogicalResult replace_results(composite *c, int n, const MlirValue *values) {
  for (int i = 0; i < mlirOperationGetNumResults(c->op); i++)
    if (wanted(c, i) && (i >= n || mlirValueIsNull(values[i])))
      return failure();
  for (int i = 0; i < n; i++) {
    if (!wanted(c, i))
      continue;
    MlirValue v = values[i], old = result(c->op, i);
    // Shape inference makes both types one; the Identity goes then.
    if (!same_type(v, old))
      v = make_op(&c->b, "Identity", type_of(old), 1, &v, NULL);
    mlirRewriterBaseReplaceAllUsesWith(c->b.rw, old, v);
  }
  mlirRewriterBaseEraseOp(c->b.rw, c->op);
  return success();
}

static const char *const activations[] = {"Relu",     "Tanh",      "Sigmoid",     "Softplus",
                                          "Softsign", "LeakyRelu", "HardSigmoid", "Clip"};
enum { LEAKY_RELU = 5, HARD_SIGMOID = 6, CLIP = 7, NUM_ACTIVATIONS = 8, NO_ACTIVATION = -1 };

int activation_kind(MlirAttribute name) {
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) ||
      mlirStringAttrGetValue(name).length == 0)
    return NO_ACTIVATION;
  for (int i = 0; i < NUM_ACTIVATIONS; i++)
    if (mlirStringRefEqual(mlirStringAttrGetValue(name), str(activations[i])))
      return i;
  return UNKNOWN_ACTIVATION;
}

MlirValue activation(composite *c, MlirValue x, int kind, double alpha, double beta) {
  const onnx_named slope[] = {{"alpha", float_value(c, alpha)}, {0}};
  const onnx_named line[] = {{"alpha", float_value(c, alpha)}, {"beta", float_value(c, beta)}, {0}};
  switch (kind) {
  case NO_ACTIVATION:
    return x;
  case LEAKY_RELU:
    return call(c, "LeakyRelu", elem_type(x), 1, &x, slope);
  case HARD_SIGMOID:
    return call(c, "HardSigmoid", elem_type(x), 1, &x, line);
  case CLIP:
    return binary(c, "Min", binary(c, "Max", x, number(c, elem_type(x), alpha)),
                  number(c, elem_type(x), beta));
  default:
    return unary(c, activations[kind], x);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static const decompose_rule *const tables[] = {decompose_rules_contrib, decompose_rules_attention,
                                               decompose_rules_quantized, decompose_rules_standard};

static bool named(MlirxPass pass, intptr_t n, const char *function) {
  for (intptr_t i = 0; i < n; i++)
    if (mlirStringRefEqual(mlirxPassGetListString(pass, 0, i), str(function)))
      return true;
  return false;
}

static bool selected(const struct decompose_selection *s, const decompose_rule *rule) {
  return s->num_targets ? named(s->pass, s->num_targets, rule->function) : rule->domain[0] != '\0';
}

static bool string_is(MlirOperation op, const char *name, const char *text) {
  MlirAttribute a = attribute(op, name);
  return !mlirAttributeIsNull(a) && mlirAttributeIsAString(a) &&
         mlirStringRefEqual(mlirStringAttrGetValue(a), str(text));
}

static bool matches(MlirOperation op, const decompose_rule *rule) {
  if (rule->domain[0] == '\0')
    return onnx_is(op, rule->function);
  return mlirxIsA(op, &onnx_custom) && string_is(op, "function_name", rule->function) &&
         (strcmp(rule->domain, ANY_DOMAIN) == 0 || string_is(op, "domain_name", rule->domain));
}

static MlirLogicalResult apply(MlirRewritePattern pattern, MlirOperation op,
                               MlirPatternRewriter rewriter, void *user) {
  (void)pattern;
  const struct decompose_selection *s = user;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const decompose_rule *rule = tables[t]; rule->function; rule++)
      if (matches(op, rule) && selected(s, rule)) {
        composite c = {builder_at(mlirPatternRewriterAsBase(rewriter), op), op};
        if (failed(rule->rewrite(&c)))
          return failure();
        mlirxReportHit(s->pass, rule->function);
        return success();
      }
  return failure();
}

// Roots: onnx.Custom, and the standard's operators that are asked for.
static void add_pattern(MlirRewritePatternSet set, MlirContext ctx, const char *root,
                        struct decompose_selection *s) {
  MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = apply};
  mlirRewritePatternSetAdd(set,
                           mlirOpRewritePatternCreate(str(root), 1, ctx, callbacks, s, 0, NULL));
}

void decompose_add_patterns(MlirRewritePatternSet set, MlirContext ctx,
                            struct decompose_selection *s) {
  add_pattern(set, ctx, "onnx.Custom", s);
  for (const decompose_rule *rule = decompose_rules_standard; rule->function; rule++)
    if (selected(s, rule)) {
      char root[64];
      snprintf(root, sizeof root, "onnx.%s", rule->function);
      add_pattern(set, ctx, root, s);
    }
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  struct decompose_selection s = {pass, mlirxPassGetListSize(pass, 0)};
  MlirRewritePatternSet set = mlirRewritePatternSetCreate(mlirOperationGetContext(op));
  decompose_add_patterns(set, mlirOperationGetContext(op), &s);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(set);
  MlirGreedyRewriteDriverConfig config = mlirGreedyRewriteDriverConfigCreate();
  MlirLogicalResult ok = mlirApplyPatternsAndFoldGreedilyWithOp(op, frozen, config);
  mlirGreedyRewriteDriverConfigDestroy(config);
  mlirFrozenRewritePatternSetDestroy(frozen);
  return ok;
}

static const MlirxOption options[] = {
    {"target", MLIRX_OPT_STRING_LIST, NULL,
     "operators to take apart (default: all that the standard does not have)"},
    {0}};
const MlirxPassDescriptor onnx_decompose_pass = {
    .argument = "decompose-onnx",
    .description = "Take composite operators apart into simpler ones",
    .options = options,
    .report = true,
    .run = run};
