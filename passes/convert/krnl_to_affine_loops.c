//===- krnl_to_affine_loops.c - From iterates and their schedule to nests --------------------===//
//
// lowering_collect reads the schedule: each loop knows what was made of it. lowering_block then
// walks the function from outside in; an iterate opens its loops in schedule order, its body moves
// into the innermost as it stands, and iterates inside find the loops that run around them.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

struct block {
  struct block *next;
};

void *lowering_alloc(struct lowering *l, size_t size) {
  struct block *b = calloc(1, sizeof(*b) + size);
  b->next = l->arena;
  l->arena = b;
  return b + 1;
}

void lowering_free(struct lowering *l) {
  for (struct block *b = l->arena, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  free(l->table);
  free(l->schedule);
  free(l->running);
  free(l->marks);
}

static size_t slot_of(const struct lowering *l, MlirValue value) {
  size_t hash = ((size_t)value.ptr >> 3) * 0x9e3779b97f4a7c15u;
  size_t i = (hash >> 20) & (l->table_size - 1);
  while (l->table[i] && !mlirValueEqual(l->table[i]->value, value))
    i = (i + 1) & (l->table_size - 1);
  return i;
}

struct loop *lowering_find(struct lowering *l, MlirValue value) {
  return l->table_size ? l->table[slot_of(l, value)] : NULL;
}

static void rehash(struct lowering *l) {
  l->table_size = l->table_size ? 2 * l->table_size : 64;
  free(l->table);
  l->table = calloc(l->table_size, sizeof(*l->table));
  for (struct loop *loop = l->first; loop; loop = loop->next)
    l->table[slot_of(l, loop->value)] = loop;
}

static struct loop *add_loop(struct lowering *l, MlirValue value, MlirOperation made_by,
                             enum loop_kind kind) {
  struct loop *loop = lowering_alloc(l, sizeof(*loop));
  loop->value = value;
  loop->made_by = made_by;
  loop->kind = kind;
  if (!l->first)
    l->last = &l->first;
  *l->last = loop;
  l->last = &loop->next;
  if (2 * ++l->num_loops > l->table_size)
    rehash(l);
  else
    l->table[slot_of(l, value)] = loop;
  return loop;
}

void lowering_push_op(struct lowering *l, MlirOperation op) {
  if (l->num_schedule == l->schedule_room) {
    l->schedule_room = l->schedule_room ? 2 * l->schedule_room : 32;
    l->schedule = realloc(l->schedule, sizeof(*l->schedule) * l->schedule_room);
  }
  l->schedule[l->num_schedule++] = op;
}

//===----------------------------------------------------------------------===//
// Collecting the schedule
//===----------------------------------------------------------------------===//

static MlirLocation loc_of(MlirOperation op) {
  return mlirOperationGetLocation(op);
}

// Operand i as a loop that is still to be had; NULL after a diagnostic.
static struct loop *free_loop(struct lowering *l, MlirOperation op, intptr_t i) {
  struct loop *loop = lowering_find(l, mlirOperationGetOperand(op, i));
  if (!loop) {
    mlirxEmitError(
        op,
        "operand %d: expected a loop that krnl.define_loops, krnl.block or krnl.skew above made",
        (int)i);
    l->failed = true;
    return NULL;
  }
  if (!mlirOperationIsNull(loop->consumed_by)) {
    mlirxEmitErrorWithNote(
        op, loc_of(loop->consumed_by), "taken here",
        "operand %d: the loop is taken by %s already; schedule what that made of it", (int)i,
        mlirxOperationGetDescriptor(loop->consumed_by)->name);
    l->failed = true;
    return NULL;
  }
  return loop;
}

static struct loop *derive(struct lowering *l, MlirOperation op, intptr_t result,
                           enum loop_kind kind, struct loop *from, int64_t factor) {
  struct loop *loop = add_loop(l, mlirOperationGetResult(op, result), op, kind);
  loop->from = from;
  loop->factor = factor;
  loop->permute = from->permute;
  loop->position = from->position;
  return loop;
}

// A loop that is unrolled or vectorised is at its end; one that is parallel hands that to its
// blocks.
static bool may_be_taken(struct lowering *l, MlirOperation op, const struct loop *loop) {
  MlirOperation end = mlirOperationIsNull(loop->unroll) ? loop->vectorize : loop->unroll;
  if (mlirOperationIsNull(end))
    return true;
  mlirxEmitErrorWithNote(op, loc_of(end), "scheduled here", "the loop is %s already",
                         mlirxIsA(end, &krnl_unroll) ? "unrolled" : "vectorised");
  l->failed = true;
  return false;
}

static void collect_block(struct lowering *l, MlirOperation op) {
  struct loop *from = free_loop(l, op, 0);
  if (!from || !may_be_taken(l, op, from))
    return;
  int64_t tile = krnl_int_attr(op, "tile_size", 1), step;
  if (__builtin_mul_overflow(loop_step(from), tile, &step)) {
    mlirxEmitError(op, "tile_size: %lld steps of %lld do not fit 64 bits", (long long)tile,
                   (long long)loop_step(from));
    l->failed = true;
    return;
  }
  struct loop *outer = derive(l, op, 0, LOOP_BLOCK, from, tile);
  struct loop *inner = derive(l, op, 1, LOOP_TILE, from, tile);
  inner->partner = outer;
  outer->parallel = from->parallel;
  from->outer_child = outer;
  from->inner_child = inner;
  from->consumed_by = op;
}

static void collect_skew(struct lowering *l, MlirOperation op) {
  struct loop *first = free_loop(l, op, 0), *second = free_loop(l, op, 1);
  if (!first || !second || !may_be_taken(l, op, first) || !may_be_taken(l, op, second))
    return;
  for (int i = 0; i < 2; ++i) {
    struct loop *loop = i ? second : first;
    if (loop->kind == LOOP_BLOCK || loop->kind == LOOP_TILE) {
      mlirxEmitErrorWithNote(op, loc_of(loop->made_by), "blocked here",
                             "operand %d: a tile loop cannot be skewed; skew first, then block", i);
      l->failed = true;
      return;
    }
  }
  int64_t factor = krnl_int_attr(op, "factor", 0);
  struct loop *a = derive(l, op, 0, LOOP_SKEW_FIRST, first, factor);
  struct loop *b = derive(l, op, 1, LOOP_SKEW_SECOND, second, factor);
  b->partner = a;
  first->inner_child = a;
  second->inner_child = b;
  first->consumed_by = second->consumed_by = op;
}

static bool descends_from(const struct loop *loop, const struct loop *ancestor) {
  for (; loop; loop = loop->from)
    if (loop == ancestor)
      return true;
  return false;
}

// Is `a` of a block loop within one of whose tiles `b` runs?
static bool must_precede(const struct loop *a, const struct loop *b) {
  for (; b; b = b->from)
    if (b->kind == LOOP_TILE && descends_from(a, b->partner))
      return true;
  return false;
}

static void collect_permute(struct lowering *l, MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  struct loop **loops = lowering_alloc(l, sizeof(*loops) * (size_t)(n + 1));
  MlirAttribute map = mlirOperationGetAttributeByName(op, ir_str("map"));
  for (intptr_t i = 0; i < n; ++i) {
    if (!(loops[i] = free_loop(l, op, i)))
      return;
    loops[i]->permute = op;
    loops[i]->position = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(map, i));
  }
  for (intptr_t i = 0; i < n; ++i)
    for (intptr_t j = 0; j < n; ++j)
      if (loops[i]->position > loops[j]->position && must_precede(loops[i], loops[j])) {
        mlirxEmitErrorWithNote(
            op, loc_of(loops[j]->made_by), "blocked here",
            "map puts operand %d, a tile loop, outside operand %d, its block loop", (int)j, (int)i);
        l->failed = true;
        return;
      }
}

static void collect_marks(struct lowering *l, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!krnl_is_loop(mlirValueGetType(mlirOperationGetOperand(op, i))))
      continue; // num_threads
    struct loop *loop = free_loop(l, op, i);
    if (!loop)
      return;
    if (mlirxIsA(op, &krnl_unroll))
      loop->unroll = op;
    else if (mlirxIsA(op, &krnl_vectorize))
      loop->vectorize = op;
    else
      loop->parallel = op;
    int marks = !mlirOperationIsNull(loop->unroll) + !mlirOperationIsNull(loop->vectorize) +
                !mlirOperationIsNull(loop->parallel);
    if (marks > 1) {
      mlirxEmitError(op, "operand %d: a loop may be one of unrolled, vectorised and parallel",
                     (int)i);
      l->failed = true;
    }
  }
}

static MlirWalkResult collect_op(MlirOperation op, void *user) {
  struct lowering *l = user;
  const MlirxOp *d = mlirxOperationGetDescriptor(op);
  if (d == &krnl_define_loops)
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      add_loop(l, mlirOperationGetResult(op, i), op, LOOP_ORIGINAL);
  else if (d == &krnl_block)
    collect_block(l, op);
  else if (d == &krnl_skew)
    collect_skew(l, op);
  else if (d == &krnl_permute)
    collect_permute(l, op);
  else if (d == &krnl_unroll || d == &krnl_vectorize || d == &krnl_parallel)
    collect_marks(l, op);
  else
    return MlirWalkResultAdvance;
  lowering_push_op(l, op);
  return MlirWalkResultAdvance;
}

void lowering_collect(struct lowering *l) {
  mlirOperationWalk(l->root, collect_op, l, MlirWalkPreOrder);
}

//===----------------------------------------------------------------------===//
// Facts about loops
//===----------------------------------------------------------------------===//

int64_t loop_step(const struct loop *loop) {
  int64_t step = loop->stride ? loop->stride : 1;
  for (; loop; loop = loop->from)
    if (loop->kind == LOOP_BLOCK)
      step *= loop->factor;
  return step;
}

struct loop *loop_root(struct loop *loop) {
  while (loop->from)
    loop = loop->from;
  return loop;
}

MlirValue loop_variable(const struct loop *loop) {
  MlirValue v = loop->variable;
  if (!v.ptr && loop->inner_child)
    v = loop_variable(loop->inner_child);
  if (!v.ptr && loop->outer_child)
    v = loop_variable(loop->outer_child);
  return v;
}

//===----------------------------------------------------------------------===//
// One iterate
//===----------------------------------------------------------------------===//

struct nest {
  MlirOperation iterate;
  struct krnl_iterate_view view;
  struct loop **loops, **with; // `num` in schedule order; the original loops
  intptr_t num;
  MlirOperation *ops;
  struct ir *bodies;
};

// Reads the loops and gives the original ones their bounds.
static bool read_nest(struct lowering *l, MlirOperation op, struct nest *nest) {
  nest->iterate = op;
  nest->view = krnl_iterate_read(op);
  intptr_t n = nest->view.num_optimized, m = nest->view.num_loops, most = n > m ? n : m;
  nest->loops = lowering_alloc(l, sizeof(struct loop *) * (size_t)(n + 1));
  nest->with = lowering_alloc(l, sizeof(struct loop *) * (size_t)(m + 1));
  nest->ops = lowering_alloc(l, sizeof(MlirOperation) * (size_t)(most + 1));
  nest->bodies = lowering_alloc(l, sizeof(struct ir) * (size_t)(most + 1));
  struct krnl_iterate_bounds *bounds = lowering_alloc(l, sizeof(*bounds) * (size_t)(m + 1));
  krnl_iterate_read_bounds(&nest->view, bounds);
  for (intptr_t i = 0; i < m; ++i) {
    struct loop *loop = lowering_find(l, bounds[i].loop);
    if (!loop && l->scheduled && lowering_find(l->scheduled, bounds[i].loop))
      loop = add_loop(l, bounds[i].loop, (MlirOperation){NULL}, LOOP_ORIGINAL);
    if (!loop || loop->kind != LOOP_ORIGINAL) {
      mlirxEmitError(op, "loop %d of 'with': expected a loop of krnl.define_loops", (int)i);
      return false;
    }
    if (!mlirOperationIsNull(loop->bounded_by)) {
      mlirxEmitErrorWithNote(op, loc_of(loop->bounded_by), "here",
                             "loop %d of 'with' has bounds outside already", (int)i);
      return false;
    }
    nest->with[i] = loop;
    loop->bounded_by = op;
    for (int b = 0; b < 2; ++b) {
      struct bound *to = b ? &loop->upper : &loop->lower;
      intptr_t first = b ? bounds[i].upper_first : bounds[i].lower_first;
      to->map = b ? bounds[i].upper : bounds[i].lower;
      to->n = mlirAffineMapGetNumInputs(to->map);
      to->operands = lowering_alloc(l, sizeof(MlirValue) * (size_t)(to->n + 1));
      for (intptr_t j = 0; j < to->n; ++j)
        to->operands[j] = mlirOperationGetOperand(op, first + j);
    }
  }
  return true;
}

static int compare_loops(const struct loop *a, const struct loop *b) {
  if (a->position != b->position)
    return a->position < b->position ? -1 : 1;
  return must_precede(a, b) ? -1 : must_precede(b, a) ? 1 : 0;
}

// Loops that one permute orders share out their places in the list among themselves in its order.
static void sort_by_permute(struct loop **loops, intptr_t n) {
  for (intptr_t i = 0; i < n; ++i)
    for (intptr_t j = i + 1; j < n; ++j)
      if (!mlirOperationIsNull(loops[i]->permute) &&
          mlirOperationEqual(loops[i]->permute, loops[j]->permute) &&
          compare_loops(loops[i], loops[j]) > 0) {
        struct loop *t = loops[i];
        loops[i] = loops[j];
        loops[j] = t;
      }
}

// A loop may run if its original has bounds, nothing took it, it does not run yet, and the block
// loop of which it is a tile runs around it.
static bool may_run(const struct nest *nest, intptr_t i) {
  MlirOperation op = nest->iterate;
  struct loop *loop = nest->loops[i];
  if (!mlirOperationIsNull(loop->consumed_by)) {
    mlirxEmitErrorWithNote(op, loc_of(loop->consumed_by), "taken here",
                           "optimised loop %d is taken by %s; iterate what that made of it", (int)i,
                           mlirxOperationGetDescriptor(loop->consumed_by)->name);
    return false;
  }
  if (mlirOperationIsNull(loop_root(loop)->bounded_by)) {
    mlirxEmitError(
        op, "optimised loop %d has no bounds: no 'with' around it lists its original loop", (int)i);
    return false;
  }
  bool runs_outside = loop->variable.ptr != NULL;
  for (intptr_t j = 0; j < i; ++j)
    runs_outside = runs_outside || nest->loops[j] == loop;
  if (runs_outside) {
    mlirxEmitError(op, "optimised loop %d runs outside already", (int)i);
    return false;
  }
  for (struct loop *t = loop; t; t = t->from) {
    if (t->kind != LOOP_TILE)
      continue;
    bool runs = loop_variable(t->partner).ptr != NULL;
    for (intptr_t j = 0; j < i && !runs; ++j)
      runs = descends_from(nest->loops[j], t->partner);
    if (!runs) {
      mlirxEmitErrorWithNote(op, loc_of(t->made_by), "blocked here",
                             "optimised loop %d is a tile whose block loop does not run around it",
                             (int)i);
      return false;
    }
  }
  return true;
}

static bool runs_before(struct lowering *l, const struct loop *loop) {
  for (size_t i = 0; i < l->num_running; ++i)
    if (mlirOperationEqual(l->running[i]->permute, loop->permute) &&
        compare_loops(loop, l->running[i]) < 0)
      return true;
  return false;
}

static bool order_nest(struct lowering *l, struct nest *nest) {
  MlirOperation op = nest->iterate;
  if (l->scheduled) { // as if there were no schedule
    nest->loops = nest->with;
    nest->num = nest->view.num_loops;
    for (intptr_t i = 0; i < nest->num && l->strides; ++i)
      nest->with[i]->stride = l->strides[i];
    l->strides = NULL;
    return true;
  }
  intptr_t n = nest->num = nest->view.num_optimized;
  for (intptr_t i = 0; i < n; ++i) {
    nest->loops[i] = lowering_find(l, krnl_iterate_optimized(&nest->view, i));
    if (!nest->loops[i]) {
      mlirxEmitError(
          op, "optimised loop %d: expected a loop of krnl.define_loops, krnl.block or krnl.skew",
          (int)i);
      return false;
    }
  }
  sort_by_permute(nest->loops, n);
  for (intptr_t i = 0; i < n; ++i) {
    struct loop *loop = nest->loops[i];
    if (!may_run(nest, i))
      return false;
    if (!mlirOperationIsNull(loop->permute) && runs_before(l, loop)) {
      mlirxEmitErrorWithNote(
          loop->permute, loc_of(op), "this iterate runs the inner loop",
          "puts a loop outside one that runs around it with statements of its own");
      return false;
    }
  }
  return true;
}

static bool is_inside(MlirOperation op, MlirBlock block) {
  while (!mlirOperationIsNull(op)) {
    if (mlirBlockEqual(mlirOperationGetBlock(op), block))
      return true;
    op = mlirOperationGetParentOperation(op);
  }
  return false;
}

static void replace_uses_inside(MlirValue of, MlirValue with, MlirBlock block) {
  MlirOpOperand use = mlirValueGetFirstUse(of);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation owner = mlirOpOperandGetOwner(use);
    if (is_inside(owner, block))
      mlirOperationSetOperand(owner, mlirOpOperandGetOperandNumber(use), with);
    use = next;
  }
}

// The variables of the `with` entries: the innermost tile's that this iterate runs. An original
// loop that only an iterate inside runs gets a placeholder, which that one resolves.
static void bind_variables(struct lowering *l, struct nest *nest, struct ir *inside) {
  for (intptr_t i = 0; i < nest->view.num_loops; ++i) {
    struct loop *loop = nest->with[i];
    MlirValue argument = mlirBlockGetArgument(nest->view.body, i);
    MlirValue v = loop_variable(loop);
    if (!mlirOperationIsNull(loop->consumed_by) && mlirxIsA(loop->consumed_by, &krnl_skew))
      loop->variable = v = nest_skewed_value(inside, loop);
    if (!v.ptr) {
      if (mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
        continue;
      MlirType index = mlirIndexTypeGet(l->ctx);
      v = ir_result(ir_op(inside, krnl_get_induction_var_value.name, 1, &loop->value, 1, &index, 0,
                          NULL, 0, NULL),
                    0);
      loop->placeholder = v;
    }
    mlirValueReplaceAllUsesOfWith(argument, v);
  }
}

static void resolve_placeholders(struct lowering *l, struct nest *nest, MlirBlock body) {
  for (intptr_t i = 0; i < nest->num; ++i) {
    struct loop *root = loop_root(nest->loops[i]);
    if (root->placeholder.ptr)
      replace_uses_inside(root->placeholder, loop_variable(root), body);
  }
  (void)l;
}

// Erases the placeholders that nest made; one that is still used is used where its loop does not
// run.
static bool drop_placeholders(struct lowering *l, struct nest *nest) {
  (void)l;
  for (intptr_t i = 0; i < nest->view.num_loops; ++i) {
    struct loop *loop = nest->with[i];
    if (!loop->placeholder.ptr)
      continue;
    MlirOperation op = mlirOpResultGetOwner(loop->placeholder);
    MlirOpOperand use = mlirValueGetFirstUse(loop->placeholder);
    if (!mlirOpOperandIsNull(use)) {
      mlirxEmitErrorWithNote(
          mlirOpOperandGetOwner(use), loc_of(op), "the loop's bounds are given here",
          "uses the variable of loop %d of 'with' where that loop does not run", (int)i);
      return false;
    }
    loop->placeholder.ptr = NULL;
    mlirOperationDestroy(op);
  }
  return true;
}

static void push_running(struct lowering *l, struct loop *loop) {
  if (l->num_running == l->running_room) {
    l->running_room = l->running_room ? 2 * l->running_room : 16;
    l->running = realloc(l->running, sizeof(struct loop *) * l->running_room);
  }
  l->running[l->num_running++] = loop;
}

// Opens the loops; *inside is where the body goes and values[] what stands for the iter_args there.
static bool open_nest(struct lowering *l, struct nest *nest, struct ir *inside, MlirValue *values) {
  intptr_t num_inits = nest->view.num_inits;
  *inside = ir_before(nest->iterate);
  for (intptr_t i = 0; i < num_inits; ++i)
    values[i] = mlirOperationGetOperand(nest->iterate, nest->view.first_init + i);
  bool skewed = nest_is_skewed(nest->loops, nest->num);
  struct nest_bounds *bounds = lowering_alloc(l, nest->num ? sizeof(*bounds) : 0);
  for (intptr_t i = 0; i < nest->num; ++i) {
    if (!skewed)
      nest_plain_bounds(l, nest->loops[i], bounds);
    else if (!nest_skewed_bounds(l, nest->loops, nest->num, i, nest->iterate, bounds))
      return false;
    MlirOperation op = nest_open(l, inside, nest->loops[i], nest->iterate, bounds, num_inits,
                                 values, &nest->bodies[i]);
    if (mlirOperationIsNull(op))
      return false;
    nest->ops[i] = op;
    push_running(l, nest->loops[i]);
    *inside = nest->bodies[i];
    for (intptr_t j = 0; j < num_inits; ++j)
      values[j] = ir_arg(inside, 1 + j);
  }
  return true;
}

static void move_body(struct nest *nest, struct ir *inside, const MlirValue *values) {
  for (intptr_t i = 0; i < nest->view.num_inits; ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(nest->view.body, nest->view.num_loops + i),
                                  values[i]);
  MlirOperation yield = mlirBlockGetTerminator(nest->view.body), op;
  while (!mlirOperationEqual(op = mlirBlockGetFirstOperation(nest->view.body), yield)) {
    mlirOperationRemoveFromParent(op);
    ir_insert(inside, op);
  }
}

// The loops' yields from inside out, and what the iterate's results become.
static void close_nest(struct nest *nest) {
  intptr_t n = nest->num, num_inits = nest->view.num_inits;
  MlirOperation yield = mlirBlockGetTerminator(nest->view.body);
  MlirValue *values = malloc(sizeof(*values) * (size_t)(num_inits + 1));
  for (intptr_t i = 0; i < num_inits; ++i)
    values[i] = mlirOperationGetOperand(yield, i);
  for (intptr_t i = n - 1; i >= 0 && num_inits; --i) {
    nest_yield(&nest->bodies[i], nest->ops[i], num_inits, values);
    for (intptr_t j = 0; j < num_inits; ++j)
      values[j] = ir_result(nest->ops[i], j);
  }
  for (intptr_t i = 0; i < num_inits; ++i)
    mlirValueReplaceAllUsesOfWith(ir_result(nest->iterate, i), values[i]);
  free(values);
  mlirOperationDestroy(nest->iterate);
}

static bool finish_nest(struct lowering *l, struct nest *nest) {
  bool good = drop_placeholders(l, nest);
  for (intptr_t i = 0; i < nest->view.num_loops; ++i) {
    nest->with[i]->bounded_by.ptr = NULL;
    nest->with[i]->variable.ptr = NULL;
  }
  for (intptr_t i = nest->num - 1; i >= 0; --i) {
    struct loop *loop = nest->loops[i];
    loop->variable.ptr = NULL;
    --l->num_running;
    if (good && !mlirOperationIsNull(loop->unroll))
      good = nest_unroll(l, nest->ops[i], krnl_int_attr(loop->unroll, "factor", 0), loop->unroll);
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Chains of iterates with nothing in between
//===----------------------------------------------------------------------===//

// The one iterate in the body of `op` if all else there is index arithmetic; null otherwise.
static MlirOperation only_iterate(MlirOperation op) {
  MlirOperation found = {NULL}, none = {NULL};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationEqual(o, end);
       o = mlirOperationGetNextInBlock(o)) {
    if (mlirxIsA(o, &krnl_iterate)) {
      if (!mlirOperationIsNull(found))
        return none;
      found = o;
    } else if (mlirOperationGetNumRegions(o) ||
               !(mlirxIsPure(o) || mlirxIsA(o, &krnl_get_induction_var_value))) {
      return none;
    }
  }
  return found;
}

// Do the two belong to one band: tiles of one loop in both, or one permute over both?
static bool share_a_band(struct lowering *l, const struct krnl_iterate_view *outer,
                         const struct krnl_iterate_view *inner) {
  for (intptr_t i = 0; i < outer->num_optimized; ++i)
    for (intptr_t j = 0; j < inner->num_optimized; ++j) {
      struct loop *a = lowering_find(l, krnl_iterate_optimized(outer, i));
      struct loop *b = lowering_find(l, krnl_iterate_optimized(inner, j));
      if (a && b &&
          (loop_root(a) == loop_root(b) ||
           (!mlirOperationIsNull(a->permute) && mlirOperationEqual(a->permute, b->permute))))
        return true;
    }
  return false;
}

static bool is_defined_in(MlirValue v, MlirBlock block) {
  return mlirValueIsABlockArgument(v)
             ? mlirBlockEqual(mlirBlockArgumentGetOwner(v), block)
             : mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(v)), block);
}

static bool may_merge(struct lowering *l, const struct krnl_iterate_view *outer,
                      const struct krnl_iterate_view *inner) {
  if (outer->num_inits || inner->num_inits || !share_a_band(l, outer, inner))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(inner->op); ++i)
    if (is_defined_in(mlirOperationGetOperand(inner->op, i), outer->body))
      return false;
  return true;
}

// The innermost tile of the original loop that `it` runs; null if it runs none.
static struct loop *innermost_tile(struct lowering *l, const struct krnl_iterate_view *it,
                                   MlirValue original) {
  struct loop *root = lowering_find(l, original), *found = NULL;
  for (intptr_t i = 0; i < it->num_optimized; ++i) {
    struct loop *loop = lowering_find(l, krnl_iterate_optimized(it, i));
    if (loop && loop_root(loop) == root && (!found || must_precede(found, loop)))
      found = loop;
  }
  return found;
}

// Operands of the merged iterate: both lists of loops, then both lists of bounds.
static MlirOperation make_merged(const struct krnl_iterate_view *outer,
                                 const struct krnl_iterate_view *inner, MlirRegion region) {
  struct ir ir = ir_before(outer->op);
  const struct krnl_iterate_view *views[] = {outer, inner};
  intptr_t n = 0, num_maps = 0,
           total = mlirOperationGetNumOperands(outer->op) + mlirOperationGetNumOperands(inner->op);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(total + 1));
  MlirAttribute *maps =
      malloc(sizeof(*maps) * (size_t)(2 * (outer->num_loops + inner->num_loops) + 1));
  for (int v = 0; v < 2; ++v)
    for (intptr_t i = 0; i < views[v]->num_optimized; ++i)
      operands[n++] = mlirOperationGetOperand(views[v]->op, i);
  for (int v = 0; v < 2; ++v) {
    MlirAttribute bounds = mlirOperationGetAttributeByName(views[v]->op, ir_str("bounds"));
    for (intptr_t i = views[v]->num_optimized; i < views[v]->first_init; ++i)
      operands[n++] = mlirOperationGetOperand(views[v]->op, i);
    for (intptr_t i = 0; i < 2 * views[v]->num_loops; ++i)
      maps[num_maps++] = mlirArrayAttrGetElement(bounds, i);
  }
  struct ir_attr attrs[] = {
      {"bounds", mlirArrayAttrGet(ir.ctx, num_maps, maps)},
      {"num_optimized_loops", ir_i64_attr(ir.ctx, outer->num_optimized + inner->num_optimized)}};
  MlirOperation op = ir_op(&ir, krnl_iterate.name, n, operands, 0, NULL, 2, attrs, 1, &region);
  free(operands);
  free(maps);
  return op;
}

// outer(ops, inner(body)) as one iterate whose body is ops and body. A variable of the outer one
// stays the start of the tile that the outer one runs.
static MlirOperation merge_two(struct lowering *l, const struct krnl_iterate_view *outer,
                               const struct krnl_iterate_view *inner) {
  MlirContext ctx = l->ctx;
  MlirType index = mlirIndexTypeGet(ctx);
  MlirLocation loc = loc_of(outer->op);
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  for (intptr_t i = 0; i < outer->num_loops + inner->num_loops; ++i)
    mlirBlockAddArgument(block, index, loc);
  MlirOperation merged = make_merged(outer, inner, region);
  struct ir at = ir_at_end(block, loc);
  struct krnl_iterate_bounds *bounds = calloc((size_t)outer->num_loops + 1, sizeof(*bounds));
  krnl_iterate_read_bounds(outer, bounds);
  for (intptr_t i = 0; i < outer->num_loops; ++i) {
    struct loop *tile = innermost_tile(l, outer, bounds[i].loop);
    MlirValue v = mlirBlockGetArgument(block, i);
    if (tile && tile->kind != LOOP_ORIGINAL)
      v = ir_result(ir_op(&at, krnl_get_induction_var_value.name, 1, &tile->value, 1, &index, 0,
                          NULL, 0, NULL),
                    0);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(outer->body, i), v);
  }
  free(bounds);
  for (intptr_t i = 0; i < inner->num_loops; ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(inner->body, i),
                                  mlirBlockGetArgument(block, outer->num_loops + i));
  MlirOperation end = mlirBlockGetTerminator(outer->body),
                op = mlirBlockGetFirstOperation(outer->body), next;
  for (; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (mlirOperationEqual(op, inner->op))
      continue;
    mlirOperationRemoveFromParent(op);
    ir_insert(&at, op);
  }
  while (!mlirOperationIsNull(op = mlirBlockGetFirstOperation(inner->body))) {
    mlirOperationRemoveFromParent(op);
    ir_insert(&at, op);
  }
  // The inner op's body has lost its terminator; it goes with the outer one.
  mlirOperationDestroy(outer->op);
  return merged;
}

static MlirOperation merge_chain(struct lowering *l, MlirOperation op) {
  for (;;) {
    struct krnl_iterate_view outer = krnl_iterate_read(op);
    MlirOperation inside = only_iterate(op);
    if (mlirOperationIsNull(inside))
      return op;
    struct krnl_iterate_view inner = krnl_iterate_read(inside);
    if (!may_merge(l, &outer, &inner))
      return op;
    op = merge_two(l, &outer, &inner);
  }
}

static void lower_range(struct lowering *l, MlirOperation op, MlirOperation end);

void lowering_iterate(struct lowering *l, MlirOperation op) {
  struct nest nest = {0};
  struct ir inside;
  if (!l->scheduled)
    op = merge_chain(l, op);
  if (!read_nest(l, op, &nest) || !order_nest(l, &nest) ||
      !legal_order(l, op, nest.loops, nest.num, nest.with, nest.view.num_loops,
                   nest.view.num_inits > 0)) {
    l->failed = true;
    return;
  }
  MlirValue *values = lowering_alloc(l, sizeof(*values) * (size_t)(nest.view.num_inits + 1));
  if (!open_nest(l, &nest, &inside, values)) {
    l->failed = true;
    return;
  }
  // Without loops the body goes where the iterate stands: from its first op to what follows.
  MlirOperation first = mlirBlockGetFirstOperation(nest.view.body),
                end = mlirOperationGetNextInBlock(op);
  bool is_empty = mlirOperationEqual(first, mlirBlockGetTerminator(nest.view.body));
  bind_variables(l, &nest, &inside);
  move_body(&nest, &inside, values);
  resolve_placeholders(l, &nest, inside.block);
  close_nest(&nest);
  if (nest.num)
    lowering_block(l, inside.block);
  else if (!is_empty)
    lower_range(l, first, end);
  if (!l->failed && !finish_nest(l, &nest))
    l->failed = true;
}

// Without a schedule a loop's variable is its original's if the two step alike; the start of a tile
// that runs is left as a value that nobody knows.
static void plain_get_iv(struct lowering *l, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    struct loop *loop = lowering_find(l->scheduled, mlirOperationGetOperand(op, i));
    if (!loop)
      continue;
    struct loop *own = lowering_find(l, loop_root(loop)->value);
    MlirValue v = own ? own->variable : loop_variable(loop);
    if (v.ptr && (!own || loop_step(loop) == loop_step(own)))
      mlirValueReplaceAllUsesOfWith(ir_result(op, i), v);
  }
}

static void lower_get_iv(struct lowering *l, MlirOperation op) {
  if (l->scheduled) {
    plain_get_iv(l, op);
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    struct loop *loop = lowering_find(l, mlirOperationGetOperand(op, i));
    if (loop && loop->placeholder.ptr && mlirValueEqual(loop->placeholder, ir_result(op, i)))
      return; // ours, resolved by an iterate inside
    MlirValue v = loop ? loop_variable(loop) : (MlirValue){NULL};
    if (!v.ptr) {
      mlirxEmitError(op, "operand %d: the loop does not run here", (int)i);
      l->failed = true;
      return;
    }
    mlirValueReplaceAllUsesOfWith(ir_result(op, i), v);
  }
  mlirOperationDestroy(op);
}

static void lower_range(struct lowering *l, MlirOperation op, MlirOperation end) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, end) && !l->failed) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    const MlirxOp *d = mlirxOperationGetDescriptor(op);
    if (d == &krnl_iterate) {
      lowering_iterate(l, op);
    } else if (d == &krnl_get_induction_var_value) {
      lower_get_iv(l, op);
    } else {
      for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
             !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
          lowering_block(l, b);
    }
    op = next;
  }
}

void lowering_block(struct lowering *l, MlirBlock block) {
  lower_range(l, mlirBlockGetFirstOperation(block), (MlirOperation){NULL});
}
