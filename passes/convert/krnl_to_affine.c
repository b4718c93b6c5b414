//===- krnl_to_affine.c - convert-krnl-to-affine --------------------------------------------------===//
//
// Loops, their schedule and memory accesses become affine, scf and memref ops. On a module the constants
// of all functions become memref.globals; on one function those stay for a run on the module.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>
#include <string.h>

// Schedule ops are dead once their nests are lowered; what still uses a loop is told.
static bool erase_schedule(struct lowering *l) {
  for (size_t i = l->num_schedule; i-- > 0;) {
    MlirOperation op = l->schedule[i];
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r) {
      MlirOpOperand use = mlirValueGetFirstUse(ir_result(op, r));
      if (mlirOpOperandIsNull(use))
        continue;
      mlirxEmitErrorWithNote(op, mlirOperationGetLocation(mlirOpOperandGetOwner(use)), "used here",
                             "result %d: the loop is still in use after all nests are lowered", (int)r);
      return false;
    }
    mlirOperationDestroy(op);
  }
  return true;
}

static bool lower_loops(MlirOperation function) {
  struct lowering l = {.ctx = mlirOperationGetContext(function), .root = function};
  lowering_collect(&l);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(function) && !l.failed; ++r)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, r));
         !mlirBlockIsNull(b) && !l.failed; b = mlirBlockGetNextInRegion(b))
      lowering_block(&l, b);
  bool good = !l.failed && erase_schedule(&l);
  lowering_free(&l);
  return good;
}

// A schedule kept apart from the code, in the form of krnl-schedule, is no code.
static bool is_schedule_function(MlirOperation op) {
  MlirAttribute type = mlirOperationGetAttributeByName(op, ir_str("function_type"));
  if (mlirAttributeIsNull(type) || !mlirAttributeIsAType(type))
    return false;
  MlirType function = mlirTypeAttrGetValue(type);
  return mlirTypeIsAFunction(function) && mlirFunctionTypeGetNumInputs(function) &&
         krnl_is_loop(mlirFunctionTypeGetInput(function, 0));
}

// The function that an entry point names is called from C.
static void give_c_interface(MlirOperation module, MlirOperation entry) {
  const char *const names[] = {"func", "init"};
  for (int i = 0; i < 2; ++i) {
    MlirAttribute ref = mlirOperationGetAttributeByName(entry, ir_str(names[i]));
    if (mlirAttributeIsNull(ref) || !mlirAttributeIsASymbolRef(ref))
      continue;
    MlirOperation f = ir_lookup_symbol(module, mlirSymbolRefAttrGetRootReference(ref));
    if (!mlirOperationIsNull(f))
      mlirOperationSetDiscardableAttributeByName(f, ir_str("llvm.emit_c_interface"),
                                                 mlirUnitAttrGet(mlirOperationGetContext(f)));
  }
}

static bool convert_module(MlirOperation module) {
  bool good = true;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (mlirxIsA(op, &krnl_entry_point))
      give_c_interface(module, op);
    else if (mlirOperationGetNumRegions(op) && !is_schedule_function(op))
      good = lower_loops(op) && good;
  }
  return good && lower_memory_ops(module, module);
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass;
  (void)state;
  bool good;
  if (ir_is(op, "builtin.module"))
    good = convert_module(op);
  else
    good = is_schedule_function(op) || (lower_loops(op) && lower_memory_ops(op, (MlirOperation){NULL}));
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static const char *const dependents[] = {"affine", "arith", "math", "memref", "scf", "vector", NULL};

const MlirxPassDescriptor convert_krnl_to_affine = {
    .argument = "convert-krnl-to-affine",
    .description = "Lower loops, their schedule and memory accesses to affine, scf and memref",
    .dependentDialects = dependents,
    .run = run,
};
