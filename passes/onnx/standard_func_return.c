// standard-func-return: onnx.Return becomes func.return, and functions say what they return.
#include "dialects/onnx/onnx.h"
#include "passes/onnx/infer.h"
#include "passes/onnx/passes.h"

#include <stdlib.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void set_results(MlirOperation function, intptr_t n, const MlirValue *values) {
  MlirType old =
      mlirTypeAttrGetValue(mlirOperationGetAttributeByName(function, str("function_type")));
  intptr_t inputs = mlirFunctionTypeGetNumInputs(old);
  MlirType *types = calloc((size_t)(inputs + n + 1), sizeof *types);
  if (!types)
    abort();
  for (intptr_t i = 0; i < inputs; i++)
    types[i] = mlirFunctionTypeGetInput(old, i);
  for (intptr_t i = 0; i < n; i++)
    types[inputs + i] = mlirValueGetType(values[i]);
  MlirType type = mlirFunctionTypeGet(mlirTypeGetContext(old), inputs, types, n, types + inputs);
  mlirOperationSetAttributeByName(function, str("function_type"), mlirTypeAttrGet(type));
  free(types);
}

static MlirLogicalResult standardize(MlirOperation function, void *user) {
  (void)user;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirOperation end = mlirBlockGetTerminator(block);
  if (mlirOperationIsNull(end) || !mlirxIsA(end, &onnx_return))
    return mlirLogicalResultSuccess();
  intptr_t n = mlirOperationGetNumOperands(end);
  MlirValue *values = calloc((size_t)(n + 1), sizeof *values);
  if (!values)
    abort();
  for (intptr_t i = 0; i < n; i++)
    values[i] = mlirOperationGetOperand(end, i);
  set_results(function, n, values);
  MlirOperationState state =
      mlirOperationStateGet(str("func.return"), mlirOperationGetLocation(end));
  mlirOperationStateAddOperands(&state, n, values);
  free(values);
  MlirOperation plain = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(block, end, plain);
  mlirOperationDestroy(end);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass, (void)state;
  return for_each_function(op, standardize, NULL);
}

static const char *const dialects[] = {"func", NULL};
const MlirxPassDescriptor onnx_standard_func_return_pass = {.argument = "standard-func-return",
                                                            .description =
                                                                "Turn onnx.Return into func.return",
                                                            .dependentDialects = dialects,
                                                            .run = run};
