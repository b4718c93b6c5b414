//===- schedule.c - krnl-schedule
//--------------------------------------------------------------------===//
//
// A schedule kept apart from the code: a module with a function for each nest, named like it, one
// !krnl.loop argument a loop, its body the schedule ops. They are put behind the nest's
// krnl.define_loops, and every krnl.iterate that lists one of its loops lists what the schedule
// made of it instead.
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/krnl.h"
#include "passes/ir_build.h"
#include "passes/krnl/passes.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_FILE };

static bool is_schedule_op(MlirOperation op) {
  const MlirxOp *d = mlirxOperationGetDescriptor(op);
  return d == &krnl_block || d == &krnl_permute || d == &krnl_skew || d == &krnl_unroll ||
         d == &krnl_vectorize || d == &krnl_parallel;
}

//===----------------------------------------------------------------------===//
// The schedule's file
//===----------------------------------------------------------------------===//

static bool check_function(MlirOperation f) {
  if (!ir_is(f, "func.func") ||
      mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(f, 0)))) {
    mlirxEmitError(f, "expected a function with the schedule of a nest");
    return false;
  }
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(f, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    if (!krnl_is_loop(mlirValueGetType(mlirBlockGetArgument(body, i)))) {
      mlirxEmitError(f, "argument %d: expected !krnl.loop", (int)i);
      return false;
    }
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    if (!is_schedule_op(op) && !mlirxIsPure(op)) {
      mlirxEmitError(op, "expected schedule ops of krnl and constants in a schedule");
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

struct nests { // define_loops ops with a name
  MlirOperation *ops;
  size_t n, room;
};

static MlirWalkResult gather(MlirOperation op, void *user) {
  struct nests *nests = user;
  if (!mlirxIsA(op, &krnl_define_loops) || !krnl_has_attr(op, "nest"))
    return MlirWalkResultAdvance;
  if (nests->n == nests->room) {
    nests->room = nests->room ? 2 * nests->room : 32;
    nests->ops = realloc(nests->ops, sizeof(*nests->ops) * nests->room);
  }
  nests->ops[nests->n++] = op;
  return MlirWalkResultAdvance;
}

static MlirStringRef string_attr(MlirOperation op, const char *name) {
  return mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, ir_str(name)));
}

static bool has_schedule(MlirOperation define) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(define); ++i)
    for (MlirOpOperand use = mlirValueGetFirstUse(ir_result(define, i)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      if (is_schedule_op(mlirOpOperandGetOwner(use)))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Putting one on the other
//===----------------------------------------------------------------------===//

struct list {
  MlirValue *items;
  intptr_t n, room;
};

static void push(struct list *l, MlirValue v) {
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 16;
    l->items = realloc(l->items, sizeof(*l->items) * (size_t)l->room);
  }
  l->items[l->n++] = v;
}

// What is to be iterated in the loop's place, from outside in: what block or skew made of it.
static void push_leaves(struct list *out, MlirValue loop) {
  for (MlirOpOperand use = mlirValueGetFirstUse(loop); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (mlirxIsA(op, &krnl_block)) {
      push_leaves(out, ir_result(op, 0));
      push_leaves(out, ir_result(op, 1));
      return;
    }
    if (mlirxIsA(op, &krnl_skew)) {
      push_leaves(out, ir_result(op, mlirOpOperandGetOperandNumber(use)));
      return;
    }
  }
  push(out, loop);
}

static void clone_schedule(MlirOperation function, MlirOperation define) {
  struct list from = {0}, to = {0};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    push(&from, mlirBlockGetArgument(body, i));
    push(&to, ir_result(define, i));
  }
  struct ir ir = ir_after(define);
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation copy = mlirxOperationCloneMapped(op, from.n, from.items, to.items);
    ir_insert(&ir, copy);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
      push(&from, ir_result(op, i));
      push(&to, ir_result(copy, i));
    }
  }
  free(from.items);
  free(to.items);
}

// The optimised loops of the iterate by their leaves.
static void expand_iterate(MlirOperation op) {
  struct krnl_iterate_view it = krnl_iterate_read(op);
  struct list operands = {0};
  for (intptr_t i = 0; i < it.num_optimized; ++i)
    push_leaves(&operands, krnl_iterate_optimized(&it, i));
  intptr_t n = operands.n;
  for (intptr_t i = it.num_optimized; i < mlirOperationGetNumOperands(op); ++i)
    push(&operands, mlirOperationGetOperand(op, i));
  mlirOperationSetOperands(op, operands.n, operands.items);
  mlirOperationSetAttributeByName(op, ir_str("num_optimized_loops"),
                                  ir_i64_attr(mlirOperationGetContext(op), n));
  free(operands.items);
}

static MlirWalkResult expand(MlirOperation op, void *user) {
  (void)user;
  if (mlirxIsA(op, &krnl_iterate))
    expand_iterate(op);
  return MlirWalkResultAdvance;
}

static bool apply(MlirOperation function, MlirOperation define) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  intptr_t expected = mlirOperationGetNumResults(define), found = mlirBlockGetNumArguments(body);
  if (expected != found) {
    mlirxEmitErrorWithNote(function, mlirOperationGetLocation(define), "the nest",
                           "expected %d loops, found %d", (int)expected, (int)found);
    return false;
  }
  if (has_schedule(define)) {
    mlirxEmitErrorWithNote(function, mlirOperationGetLocation(define), "the nest",
                           "expected a nest without schedule, found one that has its own");
    return false;
  }
  clone_schedule(function, define);
  return true;
}

static bool apply_all(MlirOperation schedules, MlirOperation module) {
  struct nests nests = {0};
  mlirOperationWalk(module, gather, &nests, MlirWalkPreOrder);
  bool good = true;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(schedules, 0));
  for (MlirOperation f = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(f) && good;
       f = mlirOperationGetNextInBlock(f)) {
    if (!(good = check_function(f)))
      break;
    MlirStringRef name = string_attr(f, "sym_name");
    bool matched = false;
    for (size_t i = 0; i < nests.n && good; ++i)
      if (mlirStringRefEqual(name, string_attr(nests.ops[i], "nest"))) {
        matched = true;
        good = apply(f, nests.ops[i]);
      }
    if (good && !matched) {
      mlirxEmitError(f, "no nest has the name \"%.*s\"", (int)name.length, name.data);
      good = false;
    }
  }
  free(nests.ops);
  if (good)
    mlirOperationWalk(module, expand, NULL, MlirWalkPreOrder);
  return good;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation module, void *state) {
  (void)state;
  MlirStringRef file = mlirxPassGetString(pass, OPTION_FILE);
  if (!file.length)
    return mlirxEmitError(module, "krnl-schedule needs file=FILE, a module of schedules");
  MlirModule schedules = mlirModuleCreateParseFromFile(mlirOperationGetContext(module), file);
  if (mlirModuleIsNull(schedules))
    return mlirxEmitError(module, "krnl-schedule: \"%.*s\" cannot be read as a module",
                          (int)file.length, file.data);
  bool good = apply_all(mlirModuleGetOperation(schedules), module);
  mlirModuleDestroy(schedules);
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static const char *const anchors[] = {"builtin.module", NULL};
static const char *const dependents[] = {"arith", "func", "krnl", NULL};
static const MlirxOption options[] = {
    [OPTION_FILE] = {"file", MLIRX_OPT_STRING, NULL,
                     "module with a function of schedule ops for each nest"},
    {0}};

const MlirxPassDescriptor krnl_schedule = {
    .argument = "krnl-schedule",
    .description = "Put schedules that a file holds on the nests of their names",
    .anchors = anchors,
    .dependentDialects = dependents,
    .options = options,
    .run = run,
};
