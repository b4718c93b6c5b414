//===- krnl_to_affine_nest.c - One loop of a nest
//----------------------------------------------===//
//
// An affine.for where the bounds are affine in what is a dim or a symbol there, else an scf.for; of
// a parallel loop the affine.parallel or scf.parallel. Unrolling, full or by a factor with a
// remainder.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static struct bound variable_plus(struct lowering *l, MlirValue variable, int64_t constant) {
  struct bound b;
  MlirAffineExpr e = mlirAffineDimExprGet(l->ctx, 0);
  if (constant)
    e = mlirAffineAddExprGet(e, mlirAffineConstantExprGet(l->ctx, constant));
  b.map = mlirAffineMapGet(l->ctx, 1, 0, 1, &e);
  b.operands = lowering_alloc(l, sizeof(MlirValue));
  b.operands[0] = variable;
  b.n = 1;
  return b;
}

static struct bound lower_of(struct lowering *l, struct loop *loop) {
  if (loop->kind == LOOP_TILE)
    return variable_plus(l, loop_variable(loop->partner), 0);
  return loop->kind == LOOP_ORIGINAL ? loop->lower : lower_of(l, loop->from);
}

// Are all starts of `loop` a multiple of `step` away from its original's lower bound?
static bool on_grid(const struct loop *loop, int64_t step) {
  for (; loop->from; loop = loop->from)
    if (loop->kind == LOOP_TILE && loop_step(loop->partner) % step)
      return false;
  return true;
}

static bool divides(const struct loop *root, int64_t step) {
  if (!mlirAffineMapIsSingleConstant(root->lower.map) ||
      !mlirAffineMapIsSingleConstant(root->upper.map))
    return false;
  int64_t trip = mlirAffineMapGetSingleConstantResult(root->upper.map) -
                 mlirAffineMapGetSingleConstantResult(root->lower.map);
  return trip % step == 0;
}

// Upper bounds of a loop: of a tile its block loop's variable plus the tile, then those of what was
// blocked, without the ones that the first implies.
static int upper_bounds(struct lowering *l, struct loop *loop, struct bound *out) {
  int n = 0;
  while (loop->kind == LOOP_BLOCK)
    loop = loop->from;
  if (loop->kind != LOOP_TILE) {
    out[n++] = loop->upper;
    return n;
  }
  int64_t step = loop_step(loop->partner);
  out[n++] = variable_plus(l, loop_variable(loop->partner), step);
  struct loop *from = loop->from;
  for (; from->kind != LOOP_ORIGINAL; from = from->from)
    if (from->kind == LOOP_TILE && loop_step(from->partner) % step && n < MAX_BOUNDS - 1)
      out[n++] = variable_plus(l, loop_variable(from->partner), loop_step(from->partner));
  if (!on_grid(loop->from, step) || !divides(from, step))
    out[n++] = from->upper;
  return n;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static MlirValue extreme(struct ir *ir, const struct bound *bounds, int n, const char *combine) {
  MlirValue value = {NULL};
  for (int b = 0; b < n; ++b)
    for (intptr_t i = 0; i < mlirAffineMapGetNumResults(bounds[b].map); ++i) {
      MlirValue next = affine_expand(ir, bounds[b].map, i, bounds[b].operands);
      value = value.ptr ? ir_binary(ir, combine, value, next) : next;
    }
  return value;
}

static MlirOperation open_affine(struct ir *ir, const struct affine_list *lower,
                                 const struct affine_list *upper, int64_t step, intptr_t num_inits,
                                 const MlirValue *inits, struct ir *body) {
  MlirValue *low = affine_list_operands(lower), *high = affine_list_operands(upper);
  MlirOperation op = ir_affine_for(ir, affine_list_map(lower), affine_list_num_operands(lower), low,
                                   affine_list_map(upper), affine_list_num_operands(upper), high,
                                   step, num_inits, inits, body);
  free(low);
  free(high);
  return op;
}

MlirOperation nest_loop(struct ir *ir, MlirOperation at, const struct bound *lower, int num_lower,
                        const struct bound *upper, int num_upper, int64_t step, intptr_t num_inits,
                        const MlirValue *inits, struct ir *body) {
  struct affine_list low = {.ctx = ir->ctx, .at = at}, high = low;
  bool affine = true;
  for (int i = 0; i < num_lower && affine; ++i)
    affine = affine_list_add_map(&low, lower[i].map, lower[i].operands);
  for (int i = 0; i < num_upper && affine; ++i)
    affine = affine_list_add_map(&high, upper[i].map, upper[i].operands);
  MlirOperation op;
  if (affine) {
    op = open_affine(ir, &low, &high, step, num_inits, inits, body);
  } else {
    MlirValue from = extreme(ir, lower, num_lower, "arith.maxsi");
    MlirValue to = extreme(ir, upper, num_upper, "arith.minsi");
    op = ir_for(ir, from, to, ir_index(ir, step), num_inits, inits, body);
  }
  affine_list_free(&low);
  affine_list_free(&high);
  return op;
}

MlirValue nest_simple(struct ir *ir, MlirOperation at, const struct bound *lower,
                      const struct bound *upper) {
  struct ir body;
  nest_loop(ir, at, lower, 1, upper, 1, 1, 0, NULL, &body);
  *ir = body;
  return ir_arg(&body, 0);
}

// What is to happen to the loop once its accesses are lowered.
static void mark(struct lowering *l, struct loop *loop, MlirOperation op) {
  if (l->num_marks == l->marks_room) {
    l->marks_room = l->marks_room ? 2 * l->marks_room : 16;
    l->marks = realloc(l->marks, sizeof(struct loop *) * l->marks_room);
  }
  mlirOperationSetDiscardableAttributeByName(op, ir_str("krnl.mark"),
                                             ir_i64_attr(l->ctx, (int64_t)l->num_marks));
  l->marks[l->num_marks++] = loop;
}

void nest_plain_bounds(struct lowering *l, struct loop *loop, struct nest_bounds *out) {
  out->lower[0] = lower_of(l, loop);
  out->num_lower = 1;
  out->num_upper = upper_bounds(l, loop, out->upper);
}

MlirOperation nest_open(struct lowering *l, struct ir *ir, struct loop *loop, MlirOperation iterate,
                        const struct nest_bounds *bounds, intptr_t num_inits,
                        const MlirValue *inits, struct ir *body) {
  bool marked = !mlirOperationIsNull(loop->parallel) || !mlirOperationIsNull(loop->vectorize);
  if (!mlirOperationIsNull(loop->parallel) && num_inits) {
    mlirxEmitErrorWithNote(loop->parallel, mlirOperationGetLocation(iterate),
                           "the iterate with iter_args",
                           "a loop that carries iter_args cannot be parallel");
    return (MlirOperation){NULL};
  }
  MlirOperation op = nest_loop(ir, iterate, bounds->lower, bounds->num_lower, bounds->upper,
                               bounds->num_upper, loop_step(loop), num_inits, inits, body);
  if (marked)
    mark(l, loop, op);
  if (mlirOperationIsNull(l->outermost))
    l->outermost = op;
  loop->variable = ir_arg(body, 0);
  return op;
}

void nest_yield(struct ir *body, MlirOperation loop_op, intptr_t n, const MlirValue *values) {
  struct ir at = ir_at_end(body->block, body->loc);
  ir_yield(&at, ir_is(loop_op, "affine.for") ? "affine.yield" : "scf.yield", n, values);
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

struct copy_map { // values of the loop's body and what stands for them in the copy being made
  MlirValue *from, *to;
  intptr_t n, room;
};

static void map_value(struct copy_map *m, MlirValue from, MlirValue to) {
  if (m->n == m->room) {
    m->room = m->room ? 2 * m->room : 32;
    m->from = realloc(m->from, sizeof(*m->from) * (size_t)m->room);
    m->to = realloc(m->to, sizeof(*m->to) * (size_t)m->room);
  }
  m->from[m->n] = from;
  m->to[m->n++] = to;
}

// Clones the ops of `body` but its terminator to `ir`; args[] replace the block's arguments. What
// the terminator yields is put into args[1..].
static void copy_body(struct ir *ir, MlirBlock body, MlirValue *args) {
  struct copy_map m = {0};
  MlirOperation end = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    map_value(&m, mlirBlockGetArgument(body, i), args[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation copy = mlirxOperationCloneMapped(op, m.n, m.from, m.to);
    ir_insert(ir, copy);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
      map_value(&m, ir_result(op, r), ir_result(copy, r));
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); ++i) {
    MlirValue yielded = mlirOperationGetOperand(end, i);
    for (intptr_t j = 0; j < m.n; ++j)
      if (mlirValueEqual(m.from[j], yielded))
        yielded = m.to[j];
    args[1 + i] = yielded;
  }
  free(m.from);
  free(m.to);
}

struct affine_loop read_affine_for(MlirOperation op) {
  struct affine_loop loop;
  loop.lower =
      mlirAffineMapAttrGetValue(mlirOperationGetAttributeByName(op, ir_str("lowerBoundMap")));
  loop.upper =
      mlirAffineMapAttrGetValue(mlirOperationGetAttributeByName(op, ir_str("upperBoundMap")));
  intptr_t m = mlirAffineMapGetNumInputs(loop.lower), n = mlirAffineMapGetNumInputs(loop.upper);
  loop.lower_operands = malloc(sizeof(MlirValue) * (size_t)(m + n + 1));
  loop.upper_operands = loop.lower_operands + m;
  for (intptr_t i = 0; i < m + n; ++i)
    loop.lower_operands[i] = mlirOperationGetOperand(op, i);
  loop.num_inits = mlirOperationGetNumOperands(op) - m - n;
  loop.step = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, ir_str("step")));
  return loop;
}

void affine_loop_free(struct affine_loop *loop) {
  free(loop->lower_operands);
}

static MlirAffineExpr minus(MlirContext ctx, MlirAffineExpr a, MlirAffineExpr b) {
  return mlirAffineAddExprGet(a, mlirAffineMulExprGet(b, mlirAffineConstantExprGet(ctx, -1)));
}

// Upper minus lower bound where both have one result: as an expression over `list`.
static bool trip_range(struct affine_list *list, const struct affine_loop *loop,
                       MlirAffineExpr *lower, MlirAffineExpr *range) {
  if (mlirAffineMapGetNumResults(loop->lower) != 1 ||
      mlirAffineMapGetNumResults(loop->upper) != 1 ||
      !affine_list_add_map(list, loop->lower, loop->lower_operands) ||
      !affine_list_add_map(list, loop->upper, loop->upper_operands))
    return false;
  *lower = list->exprs[0];
  *range = mlirSimplifyAffineExpr(minus(list->ctx, list->exprs[1], list->exprs[0]),
                                  (uint32_t)list->num_dims, (uint32_t)list->num_symbols);
  list->num_exprs = 0;
  return true;
}

bool nest_constant_trip(MlirOperation op, const struct affine_loop *loop, int64_t *trip) {
  struct affine_list list = {.ctx = mlirOperationGetContext(op), .at = op};
  MlirAffineExpr lower, range;
  bool known = trip_range(&list, loop, &lower, &range) && mlirAffineExprIsAConstant(range);
  if (known) {
    int64_t n = mlirAffineConstantExprGetValue(range);
    *trip = n <= 0 ? 0 : (n + loop->step - 1) / loop->step;
  }
  affine_list_free(&list);
  return known;
}

// base + constant: folded where base is a constant.
static MlirValue shifted(struct ir *ir, MlirValue base, int64_t constant) {
  int64_t value;
  if (ir_constant_int(base, &value))
    return ir_index(ir, value + constant);
  if (!constant)
    return base;
  if (mlirxAffineIsDim(base, mlirBlockGetParentOperation(ir->block))) {
    MlirAffineExpr e = mlirAffineAddExprGet(mlirAffineDimExprGet(ir->ctx, 0),
                                            mlirAffineConstantExprGet(ir->ctx, constant));
    return ir_apply(ir, mlirAffineMapGet(ir->ctx, 1, 0, 1, &e), 1, &base);
  }
  return ir_binary(ir, "arith.addi", base, ir_index(ir, constant));
}

static MlirBlock body_of(MlirOperation op) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
}

static void replace_results(MlirOperation op, const MlirValue *values) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirValueReplaceAllUsesOfWith(ir_result(op, i), values[i]);
  mlirOperationDestroy(op);
}

enum { MAX_COPIES = 4096 };

static bool unroll_fully(MlirOperation op, MlirOperation schedule_op) {
  struct affine_loop loop = read_affine_for(op);
  int64_t trip;
  bool good = nest_constant_trip(op, &loop, &trip);
  if (!good)
    mlirxEmitErrorWithNote(schedule_op, mlirOperationGetLocation(op), "the loop",
                           "expected a loop with a constant trip count");
  else if (trip > MAX_COPIES)
    good = !mlirLogicalResultIsFailure(mlirxEmitError(
        schedule_op, "the loop's trip count is %lld, more than %d", (long long)trip, MAX_COPIES));
  if (good) {
    struct ir ir = ir_before(op);
    MlirValue *args = malloc(sizeof(*args) * (size_t)(loop.num_inits + 2)), base;
    for (intptr_t i = 0; i < loop.num_inits; ++i)
      args[1 + i] =
          mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - loop.num_inits + i);
    if (mlirAffineMapIsSingleConstant(loop.lower))
      base = ir_index(&ir, mlirAffineMapGetSingleConstantResult(loop.lower));
    else
      base = ir_apply(&ir, loop.lower, mlirAffineMapGetNumInputs(loop.lower), loop.lower_operands);
    for (int64_t k = 0; k < trip; ++k) {
      args[0] = shifted(&ir, base, k * loop.step);
      copy_body(&ir, body_of(op), args);
    }
    replace_results(op, args + 1);
    free(args);
  }
  affine_loop_free(&loop);
  return good;
}

// `factor` copies of the body of `op` in the body `inside` of a loop that steps factor times as
// far.
static void fill_unrolled(MlirOperation op, struct ir *inside, MlirValue variable, int64_t step,
                          int64_t factor, intptr_t num_inits, const char *yield) {
  MlirValue *args = malloc(sizeof(*args) * (size_t)(num_inits + 2));
  for (intptr_t i = 0; i < num_inits; ++i)
    args[1 + i] = ir_arg(inside, 1 + i);
  for (int64_t k = 0; k < factor; ++k) {
    args[0] = shifted(inside, variable, k * step);
    copy_body(inside, body_of(op), args);
  }
  if (num_inits)
    ir_yield(inside, yield, num_inits, args + 1);
  free(args);
}

// The remainder, the loop itself, starts at `from` (values of a new lower bound) with the results
// of main.
static void rebuild_remainder(MlirOperation op, MlirOperation remainder, intptr_t num_inits) {
  MlirRegion region = mlirOperationGetRegion(remainder, 0);
  MlirBlock old = mlirRegionGetFirstBlock(region);
  mlirBlockDetach(old);
  mlirBlockDestroy(old);
  mlirxRegionTakeBody(region, mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < num_inits; ++i)
    mlirValueReplaceAllUsesOfWith(ir_result(op, i), ir_result(remainder, i));
  mlirOperationDestroy(op);
}

static MlirValue *results_of(MlirOperation op, intptr_t n) {
  MlirValue *values = malloc(sizeof(*values) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    values[i] = ir_result(op, i);
  return values;
}

static MlirValue *inits_of(MlirOperation op, intptr_t n) {
  MlirValue *values = malloc(sizeof(*values) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    values[i] = mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - n + i);
  return values;
}

// Main loop up to lower + ((range ceildiv step) floordiv factor) * span, remainder from the greater
// of that and lower (a loop that does not run at all has a negative range).
static bool unroll_affine(MlirOperation op, const struct affine_loop *loop, int64_t factor) {
  MlirContext ctx = mlirOperationGetContext(op);
  struct affine_list list = {.ctx = ctx, .at = op};
  MlirAffineExpr lower, range;
  if (!trip_range(&list, loop, &lower, &range)) {
    affine_list_free(&list);
    return false;
  }
  int64_t span = factor * loop->step, trip = -1;
  bool known = nest_constant_trip(op, loop, &trip);
  // Iterations are counted up, whole spans down: the last iteration may begin less than a step
  // before the end.
  MlirAffineExpr count =
      mlirAffineCeilDivExprGet(range, mlirAffineConstantExprGet(ctx, loop->step));
  MlirAffineExpr spans = mlirAffineFloorDivExprGet(count, mlirAffineConstantExprGet(ctx, factor));
  MlirAffineExpr whole = mlirAffineMulExprGet(spans, mlirAffineConstantExprGet(ctx, span));
  MlirAffineExpr middle[] = {mlirAffineAddExprGet(lower, whole), lower};
  MlirAffineMap end = mlirAffineMapGet(ctx, list.num_dims, list.num_symbols, 1, middle);
  MlirAffineMap start =
      mlirAffineMapGet(ctx, list.num_dims, list.num_symbols, known ? 1 : 2, middle);
  MlirValue *operands = affine_list_operands(&list);
  intptr_t n = affine_list_num_operands(&list);
  struct ir ir = ir_before(op), inside;
  MlirValue *values = inits_of(op, loop->num_inits);
  if (!known || trip >= factor) {
    MlirOperation main = ir_affine_for(&ir, loop->lower, mlirAffineMapGetNumInputs(loop->lower),
                                       loop->lower_operands, end, n, operands, span,
                                       loop->num_inits, values, &inside);
    fill_unrolled(op, &inside, ir_arg(&inside, 0), loop->step, factor, loop->num_inits,
                  "affine.yield");
    free(values);
    values = results_of(main, loop->num_inits);
  }
  if (known && trip % factor == 0) {
    replace_results(op, values);
  } else if (known && trip < factor) {
    // The loop is its own remainder.
  } else {
    MlirOperation remainder =
        ir_affine_for(&ir, start, n, operands, loop->upper, mlirAffineMapGetNumInputs(loop->upper),
                      loop->upper_operands, loop->step, loop->num_inits, values, &inside);
    rebuild_remainder(op, remainder, loop->num_inits);
  }
  free(values);
  free(operands);
  affine_list_free(&list);
  return true;
}

// A krnl.region in an scf loop: there the loop's variable is an affine symbol.
static void open_region(struct ir *inside) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  ir_op(inside, krnl_region.name, 0, NULL, 0, NULL, 0, NULL, 1, &region);
  *inside = ir_at_end(block, inside->loc);
}

// For bounds that are no single affine expression: the same in scf.
static void unroll_values(MlirOperation op, MlirValue lower, MlirValue upper, int64_t step,
                          int64_t factor, intptr_t num_inits, struct ir ir) {
  struct ir inside;
  MlirValue zero = ir_index(&ir, 0), span = ir_index(&ir, factor * step);
  MlirValue range = ir_binary(&ir, "arith.maxsi", ir_binary(&ir, "arith.subi", upper, lower), zero);
  MlirValue whole = ir_binary(&ir, "arith.muli", ir_binary(&ir, "arith.divsi", range, span), span);
  MlirValue middle = ir_binary(&ir, "arith.addi", lower, whole);
  MlirValue *inits = inits_of(op, num_inits);
  MlirOperation main = ir_for(&ir, lower, middle, span, num_inits, inits, &inside);
  MlirValue variable = ir_arg(&inside, 0);
  if (!num_inits)
    open_region(&inside);
  fill_unrolled(op, &inside, variable, step, factor, num_inits, "scf.yield");
  free(inits);
  inits = results_of(main, num_inits);
  MlirOperation remainder =
      ir_for(&ir, middle, upper, ir_index(&ir, step), num_inits, inits, &inside);
  variable = ir_arg(&inside, 0);
  if (!num_inits)
    open_region(&inside);
  fill_unrolled(op, &inside, variable, step, 1, num_inits, "scf.yield");
  for (intptr_t i = 0; i < num_inits; ++i)
    inits[i] = ir_result(remainder, i);
  replace_results(op, inits);
  free(inits);
}

static MlirValue extreme_of_map(struct ir *ir, MlirAffineMap map, const MlirValue *operands,
                                const char *combine) {
  struct bound b = {map, (MlirValue *)operands, mlirAffineMapGetNumInputs(map)};
  return extreme(ir, &b, 1, combine);
}

static MlirWalkResult find_affine_loop(MlirOperation op, void *found) {
  if (!ir_is(op, "affine.for") && !ir_is(op, "affine.parallel"))
    return MlirWalkResultAdvance;
  *(bool *)found = true;
  return MlirWalkResultInterrupt;
}

// In scf the variable is no affine dim: iter_args keep the loop from being put into a region.
static bool may_leave_affine(MlirOperation op, MlirOperation schedule_op) {
  bool found = false;
  for (MlirOperation o = mlirBlockGetFirstOperation(body_of(op)); !mlirOperationIsNull(o) && !found;
       o = mlirOperationGetNextInBlock(o))
    mlirOperationWalk(o, find_affine_loop, &found, MlirWalkPreOrder);
  if (!found || !mlirOperationGetNumResults(op))
    return true;
  mlirxEmitErrorWithNote(
      schedule_op, mlirOperationGetLocation(op), "the loop",
      "a loop with iter_args, loops inside and bounds of several results cannot be unrolled "
      "by a factor");
  return false;
}

static bool unroll_by(MlirOperation op, int64_t factor, MlirOperation schedule_op) {
  struct ir ir = ir_before(op);
  if (ir_is(op, "scf.for")) {
    int64_t step = 1;
    ir_constant_int(mlirOperationGetOperand(op, 2), &step);
    unroll_values(op, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1), step, factor,
                  mlirOperationGetNumResults(op), ir);
    return true;
  }
  struct affine_loop loop = read_affine_for(op);
  bool good = unroll_affine(op, &loop, factor);
  if (!good && (good = may_leave_affine(op, schedule_op))) {
    MlirValue lower = extreme_of_map(&ir, loop.lower, loop.lower_operands, "arith.maxsi");
    MlirValue upper = extreme_of_map(&ir, loop.upper, loop.upper_operands, "arith.minsi");
    unroll_values(op, lower, upper, loop.step, factor, loop.num_inits, ir);
  }
  affine_loop_free(&loop);
  return good;
}

bool nest_unroll(struct lowering *l, MlirOperation loop_op, int64_t factor,
                 MlirOperation schedule_op) {
  (void)l;
  if (factor > MAX_COPIES) {
    mlirxEmitError(schedule_op, "factor: expected %d at most, found %lld", MAX_COPIES,
                   (long long)factor);
    return false;
  }
  if (factor == 1)
    return true;
  if (factor)
    return unroll_by(loop_op, factor, schedule_op);
  if (!ir_is(loop_op, "affine.for")) {
    mlirxEmitErrorWithNote(schedule_op, mlirOperationGetLocation(loop_op), "the loop",
                           "expected a loop with a constant trip count");
    return false;
  }
  return unroll_fully(loop_op, schedule_op);
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

static MlirOperation one_block_op(struct ir *ir, const char *name, intptr_t n,
                                  const MlirValue *operands, intptr_t num_attrs,
                                  const struct ir_attr *attrs, const char *terminator,
                                  struct ir *body) {
  MlirType index = ir_index_type(ir);
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(1, &index, &ir->loc);
  mlirRegionAppendOwnedBlock(region, block);
  MlirOperation op = ir_op(ir, name, n, operands, 0, NULL, num_attrs, attrs, 1, &region);
  *body = ir_at_end(block, ir->loc);
  body->before = ir_op(body, terminator, 0, NULL, 0, NULL, 0, NULL, 0, NULL);
  return op;
}

// All results of a map are one group: the bound of the one variable.
static MlirAttribute one_group(MlirContext ctx, MlirAffineMap map) {
  int64_t one = 1;
  int32_t n = (int32_t)mlirAffineMapGetNumResults(map);
  MlirType type =
      mlirRankedTensorTypeGet(1, &one, mlirIntegerTypeGet(ctx, 32), mlirAttributeGetNull());
  return mlirDenseElementsAttrInt32Get(type, 1, &n);
}

static MlirOperation affine_parallel(struct ir *ir, const struct affine_loop *loop,
                                     struct ir *body) {
  MlirContext ctx = ir->ctx;
  intptr_t n = mlirAffineMapGetNumInputs(loop->lower) + mlirAffineMapGetNumInputs(loop->upper);
  struct ir_attr attrs[] = {{"reductions", mlirArrayAttrGet(ctx, 0, NULL)},
                            {"lowerBoundsMap", mlirAffineMapAttrGet(loop->lower)},
                            {"lowerBoundsGroups", one_group(ctx, loop->lower)},
                            {"upperBoundsMap", mlirAffineMapAttrGet(loop->upper)},
                            {"upperBoundsGroups", one_group(ctx, loop->upper)},
                            {"steps", ir_i64_array_attr(ctx, 1, &loop->step)}};
  return one_block_op(ir, "affine.parallel", n, loop->lower_operands, 6, attrs, "affine.yield",
                      body);
}

static MlirOperation scf_parallel(struct ir *ir, MlirValue lower, MlirValue upper, MlirValue step,
                                  struct ir *body) {
  MlirValue operands[] = {lower, upper, step};
  int32_t segments[] = {1, 1, 1, 0};
  struct ir_attr attr = {"operandSegmentSizes", mlirDenseI32ArrayGet(ir->ctx, 4, segments)};
  return one_block_op(ir, "scf.parallel", 3, operands, 1, &attr, "scf.reduce", body);
}

// The clauses of krnl.parallel stay on the loop for what makes threads of it.
static void copy_clauses(MlirOperation schedule, MlirOperation op) {
  MlirContext ctx = mlirOperationGetContext(op);
  MlirAttribute bind = mlirOperationGetAttributeByName(schedule, ir_str("proc_bind"));
  if (!mlirAttributeIsNull(bind))
    mlirOperationSetDiscardableAttributeByName(op, ir_str("krnl.proc_bind"), bind);
  intptr_t last = mlirOperationGetNumOperands(schedule) - 1;
  MlirValue threads = mlirOperationGetOperand(schedule, last);
  int64_t n;
  if (!krnl_is_loop(mlirValueGetType(threads)) && ir_constant_int(threads, &n))
    mlirOperationSetDiscardableAttributeByName(op, ir_str("krnl.num_threads"), ir_i64_attr(ctx, n));
}

void nest_make_parallel(MlirOperation loop_op, MlirOperation schedule_op) {
  struct ir ir = ir_before(loop_op), body;
  MlirOperation op;
  if (ir_is(loop_op, "affine.for")) {
    struct affine_loop loop = read_affine_for(loop_op);
    op = affine_parallel(&ir, &loop, &body);
    affine_loop_free(&loop);
  } else {
    op = scf_parallel(&ir, mlirOperationGetOperand(loop_op, 0), mlirOperationGetOperand(loop_op, 1),
                      mlirOperationGetOperand(loop_op, 2), &body);
  }
  MlirBlock old = body_of(loop_op);
  MlirOperation end = mlirBlockGetTerminator(old), inner;
  mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(old, 0), ir_arg(&body, 0));
  while (!mlirOperationEqual(inner = mlirBlockGetFirstOperation(old), end)) {
    mlirOperationRemoveFromParent(inner);
    ir_insert(&body, inner);
  }
  copy_clauses(schedule_op, op);
  mlirOperationDestroy(loop_op);
}
