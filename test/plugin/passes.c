// Passes and pipelines of the test plugin: options, state, reports, nested pipelines, IR helpers.
#include "seam.h"

#include "patterns.pdll.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Says what its options are.

static const MlirxOption options_options[] = {
    {"flag", MLIRX_OPT_BOOL, "true", "a flag"},      {"size", MLIRX_OPT_INT, "42", "a size"},
    {"text", MLIRX_OPT_STRING, "none", "a text"},    {"sizes", MLIRX_OPT_INT_LIST, "1,2", "sizes"},
    {"names", MLIRX_OPT_STRING_LIST, NULL, "names"}, {0}};

static MlirLogicalResult run_options(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  char line[512];
  MlirStringRef text = mlirxPassGetString(pass, 2);
  int n =
      snprintf(line, sizeof line, "flag %d, size %" PRId64 ", text '%.*s', sizes",
               mlirxPassGetBool(pass, 0), mlirxPassGetInt(pass, 1), (int)text.length, text.data);
  for (intptr_t i = 0; i < mlirxPassGetListSize(pass, 3); ++i)
    n += snprintf(line + n, sizeof line - n, " %" PRId64, mlirxPassGetListInt(pass, 3, i));
  n += snprintf(line + n, sizeof line - n, ", names");
  for (intptr_t i = 0; i < mlirxPassGetListSize(pass, 4); ++i) {
    MlirStringRef name = mlirxPassGetListString(pass, 4, i);
    n += snprintf(line + n, sizeof line - n, " '%.*s'", (int)name.length, name.data);
  }
  mlirxEmitRemark(op, "%s", line);
  return ok(true);
}

static const MlirxPassDescriptor seam_options = {.argument = "seam-options",
                                                 .description = "Say the options",
                                                 .options = options_options,
                                                 .run = run_options};

// Rewrites doubles by patterns that initialize freezes; counts each in the report.

typedef struct doubles {
  MlirFrozenRewritePatternSet patterns;
} doubles;

static MlirLogicalResult initialize_doubles(MlirxPass pass, MlirContext ctx, void **state) {
  (void)pass;
  doubles *d = malloc(sizeof *d);
  MlirRewritePatternSet set = mlirRewritePatternSetCreate(ctx);
  seam_double.patterns(set, ctx);
  d->patterns = mlirFreezeRewritePattern(set);
  *state = d;
  return ok(true);
}

static void destroy_doubles(void *state) {
  mlirFrozenRewritePatternSetDestroy(((doubles *)state)->patterns);
  free(state);
}

static MlirWalkResult count_double(MlirOperation op, void *user) {
  MlirxPass *pass = user;
  if (mlirxIsA(op, &seam_double))
    mlirxReportHit(*pass, "double");
  else if (mlirxIsA(op, &seam_add))
    mlirxReportHit(*pass, "add");
  return MlirWalkResultAdvance;
}

static MlirLogicalResult run_doubles(MlirxPass pass, MlirOperation op, void *state) {
  mlirOperationWalk(op, count_double, &pass, MlirWalkPreOrder);
  MlirGreedyRewriteDriverConfig config = mlirGreedyRewriteDriverConfigCreate();
  MlirLogicalResult result =
      mlirApplyPatternsAndFoldGreedilyWithOp(op, ((doubles *)state)->patterns, config);
  mlirGreedyRewriteDriverConfigDestroy(config);
  return result;
}

static const char *const seam_name[] = {"seam", NULL};
static const MlirxPassDescriptor seam_doubles = {.argument = "seam-doubles",
                                                 .description = "Rewrite seam.double",
                                                 .dependentDialects = seam_name,
                                                 .report = true,
                                                 .initialize = initialize_doubles,
                                                 .destroy = destroy_doubles,
                                                 .run = run_doubles};

// Runs a pipeline that it is given.

static const MlirxOption nested_options[] = {{"pipeline", MLIRX_OPT_STRING, "cse", "what to run"},
                                             {0}};
static MlirLogicalResult run_nested(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  MlirStringRef text = mlirxPassGetString(pass, 0);
  char pipeline[256];
  snprintf(pipeline, sizeof pipeline, "%.*s", (int)text.length, text.data);
  return mlirxPassRunPipeline(pass, pipeline, op);
}
static const MlirxPassDescriptor seam_nested = {.argument = "seam-nested",
                                                .description = "Run a pipeline",
                                                .options = nested_options,
                                                .run = run_nested};

// Fails, after a warning.

static MlirLogicalResult run_fail(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass, (void)state;
  mlirxEmitWarning(op, "about to fail");
  return mlirxEmitError(op, "failed as asked");
}
static const MlirxPassDescriptor seam_fail = {
    .argument = "seam-fail", .description = "Fail", .run = run_fail};

static const char *const missing_name[] = {"no_such_dialect", NULL};
static const MlirxPassDescriptor seam_missing = {.argument = "seam-missing",
                                                 .description = "Need a dialect that is not there",
                                                 .dependentDialects = missing_name,
                                                 .run = run_fail};

// Rewrites by patterns.pdll, and with broken=true by patterns that do not verify.

static MlirLogicalResult not_an_argument(MlirPatternRewriter rewriter, MlirPDLResultList results,
                                         size_t n, MlirPDLValue *values, void *user) {
  (void)rewriter, (void)results, (void)user;
  return ok(n == 1 && !mlirValueIsABlockArgument(mlirPDLValueAsValue(values[0])));
}

static MlirLogicalResult mark(MlirPatternRewriter rewriter, MlirPDLResultList results, size_t n,
                              MlirPDLValue *values, void *user) {
  (void)rewriter, (void)n;
  MlirOperation op = mlirPDLValueAsOperation(values[0]);
  mlirOperationSetAttributeByName(op, str(user), mlirUnitAttrGet(mlirOperationGetContext(op)));
  mlirPDLResultListPushBackOperation(results, op);
  return ok(true);
}

static const MlirxPdlFunction pdl_functions[] = {
    {.name = "NotAnArgument", .constraint = not_an_argument},
    {.name = "Mark", .rewrite = mark},
    {0}};

static MlirLogicalResult initialize_pdl(MlirxPass pass, MlirContext ctx, void **state) {
  static const char broken[] = "pdl.pattern : benefit(1) { %t = type }";
  MlirStringRef text = str(mlirxPassGetBool(pass, 0) ? broken : patterns_pdl);
  doubles *d = malloc(sizeof *d);
  MlirRewritePatternSet set = mlirRewritePatternSetCreate(ctx);
  if (failed(mlirxRewritePatternSetAddPDL(set, text, pdl_functions, "marked"))) {
    mlirRewritePatternSetDestroy(set);
    free(d);
    return ok(false);
  }
  d->patterns = mlirFreezeRewritePattern(set);
  *state = d;
  return ok(true);
}

static const char *const pdl_names[] = {"seam", "pdl", "pdl_interp", NULL};
static const MlirxOption pdl_options[] = {
    {"broken", MLIRX_OPT_BOOL, NULL, "patterns that do not verify"}, {0}};
static const MlirxPassDescriptor seam_pdl = {.argument = "seam-pdl",
                                             .description = "Rewrite by PDL",
                                             .options = pdl_options,
                                             .dependentDialects = pdl_names,
                                             .initialize = initialize_pdl,
                                             .destroy = destroy_doubles,
                                             .run = run_doubles};

// Says of each op what the seam knows: its descriptor, purity, deadness, dominance of its operands.

static MlirWalkResult describe(MlirOperation op, void *user) {
  (void)user;
  const MlirxOp *descriptor = mlirxOperationGetDescriptor(op);
  if (!descriptor)
    return MlirWalkResultAdvance;
  intptr_t n = mlirOperationGetNumOperands(op), dominating = 0;
  for (intptr_t i = 0; i < n; ++i)
    dominating += mlirxProperlyDominates(mlirOperationGetOperand(op, i), op);
  mlirxEmitRemark(op, "%s%s%s, %d of %d operands dominate", descriptor->name,
                  mlirxIsPure(op) ? ", pure" : "", mlirxIsTriviallyDead(op) ? ", dead" : "",
                  (int)dominating, (int)n);
  return MlirWalkResultAdvance;
}
static MlirLogicalResult run_describe(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass, (void)state;
  mlirOperationWalk(op, describe, NULL, MlirWalkPreOrder);
  return ok(true);
}
static const MlirxPassDescriptor seam_describe = {
    .argument = "seam-describe", .description = "Describe table ops", .run = run_describe};

// Clones each seam.loop once more with its count replaced by the function's first argument; moves
// the clone's body away and back.

static MlirWalkResult clone_loop(MlirOperation op, void *user) {
  MlirValue *arg = user;
  if (!mlirxIsA(op, &seam_loop) || mlirOperationGetAttributeByName(op, str("cloned")).ptr)
    return MlirWalkResultAdvance;
  MlirValue from = mlirOperationGetOperand(op, 0);
  MlirOperation clone = mlirxOperationCloneMapped(op, 1, &from, arg);
  mlirOperationSetAttributeByName(clone, str("cloned"),
                                  mlirUnitAttrGet(mlirOperationGetContext(op)));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(op), op, clone);
  MlirRegion body = mlirOperationGetRegion(clone, 0), away = mlirRegionCreate();
  mlirxRegionTakeBody(away, body);
  mlirxRegionTakeBody(body, away);
  mlirRegionDestroy(away);
  return MlirWalkResultAdvance;
}
static MlirLogicalResult run_clone(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass, (void)state;
  MlirValue arg = mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), 0);
  mlirOperationWalk(op, clone_loop, &arg, MlirWalkPostOrder);
  return ok(true);
}
static const char *const functions[] = {"func.func", NULL};
static const MlirxPassDescriptor seam_clone = {
    .argument = "seam-clone", .description = "Clone loops", .anchors = functions, .run = run_clone};

const MlirxPassDescriptor *const seam_passes[] = {&seam_options,  &seam_doubles, &seam_nested,
                                                  &seam_fail,     &seam_missing, &seam_pdl,
                                                  &seam_describe, &seam_clone,   NULL};

static const MlirxOption pipe_options[] = {{"size", MLIRX_OPT_INT, "7", "a size"},
                                           {"text", MLIRX_OPT_STRING, "", "a text"},
                                           {"sizes", MLIRX_OPT_INT_LIST, "4,5", "sizes"},
                                           {0}};
static const MlirxPipeline seam_pipe = {
    "seam-pipe", "All options passed on",
    "// a comment, with ${text}, and a comma\n"
    "builtin.module(cse, // another\n"
    "  seam-options{size=${size} text=${text} sizes=${sizes}},\n"
    "  func.func(canonicalize))\n",
    pipe_options};
static const MlirxPipeline seam_pipe_bad = {"seam-pipe-bad", "Names no option",
                                            "seam-options{size=${nothing}}", NULL};
static const MlirxPipeline seam_pipe_unknown = {"seam-pipe-unknown", "Names no pass",
                                                "cse,no-such-pass", NULL};
const MlirxPipeline *const seam_pipelines[] = {&seam_pipe, &seam_pipe_bad, &seam_pipe_unknown,
                                               NULL};
