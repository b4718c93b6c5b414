// onnx-hoist-constants: what only constants make is made once, when the model is loaded.
//
// An operator over constants that constprop-onnx left, because its result is too large for the
// text, is marked `onyx.init`. The lowering emits the marked ones into the init function, and their
// results into the constants block; without the pass they are computed in every run. Marks may be
// set or taken away by hand.
#include "dialects/onnx/onnx.h"
#include "dialects/onnx/ops/op.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"
#include "passes/onnx/rewrite.h"

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool is_marked(MlirOperation op) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str(ONYX_INIT)));
}

// The init function is made of loop nests; what is lowered in another way stays where it is.
static bool has_comprehension(const onyx_schema *row) {
  const op_def *def = op_def_find(row->name);
  return def && def->comprehend;
}

static bool known_at_load(MlirValue v) {
  if (!mlirValueIsAOpResult(v))
    return false;
  MlirOperation op = mlirOpResultGetOwner(v);
  return onnx_is(op, "Constant") || is_marked(op);
}

// The constants block has a place for each result, so their sizes are known now.
static bool static_tensors(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
    if (mlirTypeIsANone(type))
      continue;
    if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
        onnx_elem_from_mlir(mlirShapedTypeGetElementType(type)) ==
            ONYX_STRING) // the strings themselves end with the run
      return false;
  }
  return true;
}

static bool constant_operands(MlirOperation op) {
  bool any = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (onnx_is_none(v))
      continue;
    if (!known_at_load(v))
      return false;
    any = true;
  }
  return any;
}

static MlirLogicalResult mark(MlirOperation function, void *user) {
  MlirxPass pass = *(MlirxPass *)user;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  if (mlirBlockIsNull(block))
    return mlirLogicalResultSuccess();
  // The function's own block only: what stands in a branch may never be needed.
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    const onyx_schema *row = onnx_schema_of(op);
    if (!row || onnx_is(op, "Constant") || is_marked(op) || mlirOperationGetNumRegions(op) ||
        !mlirxIsPure(op) || !has_comprehension(row) || !static_tensors(op) ||
        !constant_operands(op))
      continue;
    mlirOperationSetDiscardableAttributeByName(op, str(ONYX_INIT),
                                               mlirUnitAttrGet(mlirOperationGetContext(op)));
    mlirxReportHit(pass, row->name);
  }
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  return for_each_function(op, mark, &pass);
}

const MlirxPassDescriptor onnx_hoist_constants_pass = {
    .argument = "onnx-hoist-constants",
    .description = "Mark operators over constants, to be computed once when the model is loaded",
    .report = true,
    .run = run};
