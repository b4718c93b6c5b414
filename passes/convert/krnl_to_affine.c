//===- krnl_to_affine.c - convert-krnl-to-affine
//--------------------------------------------------===//
//
// Loops, their schedule and memory accesses become affine, scf and memref ops. On a module the
// constants of all functions become memref.globals; on one function those stay for a run on the
// module.
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
                             "result %d: the loop is still in use after all nests are lowered",
                             (int)r);
      return false;
    }
    mlirOperationDestroy(op);
  }
  return true;
}

static bool lower_loops(struct lowering *l) {
  lowering_collect(l);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(l->root) && !l->failed; ++r)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(l->root, r));
         !mlirBlockIsNull(b) && !l->failed; b = mlirBlockGetNextInRegion(b))
      lowering_block(l, b);
  return !l->failed;
}

struct marked { // loops with krnl.mark, from outside in
  MlirOperation *ops;
  size_t n, room;
};

static MlirWalkResult gather_marked(MlirOperation op, void *user) {
  struct marked *m = user;
  if (!krnl_has_attr(op, "krnl.mark"))
    return MlirWalkResultAdvance;
  if (m->n == m->room) {
    m->room = m->room ? 2 * m->room : 16;
    m->ops = realloc(m->ops, sizeof(*m->ops) * m->room);
  }
  m->ops[m->n++] = op;
  return MlirWalkResultAdvance;
}

// Parallel and vector loops, now that their accesses are what they are: all are looked at before
// any is changed.
static bool finish_marks(struct lowering *l) {
  struct marked m = {0};
  bool good = true;
  if (l->num_marks)
    mlirOperationWalk(l->root, gather_marked, &m, MlirWalkPreOrder);
  for (size_t i = 0; i < m.n && good; ++i) {
    struct loop *loop = l->marks[krnl_int_attr(m.ops[i], "krnl.mark", 0)];
    MlirOperation blame = mlirOperationIsNull(loop->parallel) ? loop->vectorize : loop->parallel;
    good = loop->is_parallel || mlirOperationGetNumResults(m.ops[i]) ||
           legal_parallel(m.ops[i], blame, loop_is_independent(loop));
  }
  for (size_t i = m.n; i-- > 0 && good;) {
    struct loop *loop = l->marks[krnl_int_attr(m.ops[i], "krnl.mark", 0)];
    mlirOperationRemoveDiscardableAttributeByName(m.ops[i], ir_str("krnl.mark"));
    if (!mlirOperationIsNull(loop->parallel))
      nest_make_parallel(m.ops[i], loop->parallel);
    else
      good = nest_vectorize(m.ops[i], loop->vectorize);
  }
  free(m.ops);
  return good;
}

static bool finish(struct lowering *l) {
  return finish_marks(l) && erase_schedule(l);
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

// Loops of all functions, then memory ops, then what needs these.
static bool convert_module(MlirOperation module) {
  bool good = true;
  size_t n = 0, room = 0;
  struct lowering *all = NULL;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (mlirxIsA(op, &krnl_entry_point))
      give_c_interface(module, op);
    if (mlirxIsA(op, &krnl_entry_point) || !mlirOperationGetNumRegions(op) ||
        is_schedule_function(op))
      continue;
    if (n == room) {
      room = room ? 2 * room : 16;
      all = realloc(all, sizeof(*all) * room);
    }
    all[n++] = (struct lowering){.ctx = mlirOperationGetContext(op), .root = op};
  }
  for (size_t i = 0; i < n; ++i)
    good = lower_loops(&all[i]) && good;
  good = good && lower_memory_ops(module, module);
  for (size_t i = 0; i < n; ++i) {
    good = good && finish(&all[i]);
    lowering_free(&all[i]);
  }
  free(all);
  return good;
}

static bool convert_function(MlirOperation function) {
  if (is_schedule_function(function))
    return true;
  struct lowering l = {.ctx = mlirOperationGetContext(function), .root = function};
  bool good = lower_loops(&l) && lower_memory_ops(function, (MlirOperation){NULL}) && finish(&l);
  lowering_free(&l);
  return good;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass;
  (void)state;
  bool good = ir_is(op, "builtin.module") ? convert_module(op) : convert_function(op);
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static const char *const dependents[] = {"affine", "arith",  "math", "memref",
                                         "scf",    "vector", NULL};

const MlirxPassDescriptor convert_krnl_to_affine = {
    .argument = "convert-krnl-to-affine",
    .description = "Lower loops, their schedule and memory accesses to affine, scf and memref",
    .dependentDialects = dependents,
    .run = run,
};
