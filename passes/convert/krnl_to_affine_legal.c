//===- krnl_to_affine_legal.c - Does a schedule keep the program's meaning? -------------------===//
//
// Reordered loops: the iterate is lowered once more as if it had no schedule (its original loops in
// the order of `with`), the dependences of that nest are computed, and none may point backwards in
// the order that the schedule asks for. Accesses that the analysis cannot read conflict with all of
// their buffer; krnl.independent on krnl.define_loops vouches that they do not. Parallel loops: the
// nest as it came out, where no dependence may be carried by the loop.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

struct access {
  MlirOperation op;
  MlirValue memref; // null: all memory
  MlirValue root;   // the buffer that memref is a view of
  bool affine, write;
};

struct accesses {
  MlirOperation within; // the nest
  struct access *items;
  size_t n, room;
};

static MlirValue root_of(MlirValue memref) {
  static const char *const views[] = {"memref.cast",
                                      "memref.view",
                                      "memref.subview",
                                      "memref.reshape",
                                      "memref.reinterpret_cast",
                                      "memref.expand_shape",
                                      "memref.collapse_shape",
                                      "memref.assume_alignment"};
  while (mlirValueIsAOpResult(memref)) {
    MlirOperation op = mlirOpResultGetOwner(memref);
    bool view = mlirxIsA(op, &krnl_vector_type_cast);
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]) && !view; ++i)
      view = ir_is(op, views[i]);
    if (!view)
      break;
    memref = mlirOperationGetOperand(op, 0);
  }
  return memref;
}

static bool is_below(MlirOperation op, MlirOperation ancestor) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, ancestor))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

// Allocated in the nest: every iteration has its own.
static bool is_private(const struct accesses *a, MlirValue root) {
  if (!mlirValueIsAOpResult(root))
    return false;
  MlirOperation def = mlirOpResultGetOwner(root);
  return (ir_is(def, "memref.alloc") || ir_is(def, "memref.alloca")) && is_below(def, a->within);
}

static void add_access(struct accesses *a, MlirOperation op, MlirValue memref, bool affine,
                       bool write) {
  struct access access = {.op = op, .memref = memref, .affine = affine, .write = write};
  if (memref.ptr) {
    access.root = root_of(memref);
    if (is_private(a, access.root))
      return;
  }
  if (a->n == a->room) {
    a->room = a->room ? 2 * a->room : 32;
    a->items = realloc(a->items, sizeof(*a->items) * a->room);
  }
  a->items[a->n++] = access;
}

static MlirWalkResult gather(MlirOperation op, void *user) {
  static const struct {
    const char *name;
    int memref;
    bool affine, write;
  } known[] = {{"affine.load", 0, true, false},         {"affine.store", 1, true, true},
               {"memref.load", 0, false, false},        {"memref.store", 1, false, true},
               {"vector.load", 0, false, false},        {"vector.store", 1, false, true},
               {"affine.vector_load", 0, false, false}, {"affine.vector_store", 1, false, true}};
  struct accesses *a = user;
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
    if (ir_is(op, known[i].name)) {
      add_access(a, op, mlirOperationGetOperand(op, known[i].memref), known[i].affine,
                 known[i].write);
      return MlirWalkResultAdvance;
    }
  if (mlirOperationGetNumRegions(op) || mlirxIsPure(op) || ir_is(op, "memref.alloc") ||
      ir_is(op, "memref.alloca") || ir_is(op, "memref.dealloc") || ir_is(op, "affine.prefetch") ||
      ir_is(op, "memref.prefetch") || mlirxIsA(op, &krnl_get_induction_var_value))
    return MlirWalkResultAdvance;
  MlirBlock block = mlirOperationGetBlock(op);
  MlirOperation end = mlirBlockGetTerminator(block);
  if (!mlirOperationIsNull(end) && mlirOperationEqual(end, op))
    return MlirWalkResultAdvance;
  add_access(a, op, (MlirValue){NULL}, false, true);
  return MlirWalkResultAdvance;
}

// May the two touch the same memory, one of them writing?
static bool may_conflict(const struct access *a, const struct access *b) {
  if (!a->write && !b->write)
    return false;
  return !a->memref.ptr || !b->memref.ptr || mlirValueEqual(a->root, b->root);
}

static bool is_readable(const struct access *a, const struct access *b) {
  return a->affine && b->affine && mlirValueEqual(a->memref, b->memref);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

struct text {
  char data[256];
  size_t used;
};

static void append(MlirStringRef part, void *user) {
  struct text *t = user;
  size_t n =
      part.length < sizeof(t->data) - 1 - t->used ? part.length : sizeof(t->data) - 1 - t->used;
  memcpy(t->data + t->used, part.data, n);
  t->used += n;
  t->data[t->used] = 0;
}

static const char *kind_of(const struct access *a) {
  return !a->memref.ptr ? "the unknown effects of the operation"
         : a->write     ? "the store"
                        : "the load";
}

// "... the store at X on the load here".
static void report(MlirOperation op, const struct access *from, const struct access *to,
                   const char *what) {
  struct text where = {.data = ""};
  mlirLocationPrint(mlirOperationGetLocation(from->op), append, &where);
  mlirxEmitErrorWithNote(
      op, mlirOperationGetLocation(to->op), "the other access",
      "%s: %s at %s and %s at the note conflict%s", what, kind_of(from), where.data, kind_of(to),
      is_readable(from, to) ? ""
                            : " as far as the analysis can tell (krnl.independent on "
                              "krnl.define_loops vouches that they do not)");
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

struct range { // of a dependence's distance; INT64_MIN and INT64_MAX: without end
  int64_t low, high;
};

static int64_t add(int64_t a, int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN)
    return INT64_MIN;
  if (a == INT64_MAX || b == INT64_MAX)
    return INT64_MAX;
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t scale(int64_t a, int64_t factor) {
  int64_t product;
  if (factor == 0)
    return 0;
  if (a == INT64_MIN || a == INT64_MAX || __builtin_mul_overflow(a, factor, &product))
    return (a < 0) == (factor < 0) ? INT64_MAX : INT64_MIN;
  return product;
}

static struct range range_of(const struct loop *loop, struct loop *const *with,
                             const struct range *distance, intptr_t n) {
  if (loop->kind == LOOP_ORIGINAL) {
    for (intptr_t i = 0; i < n; ++i)
      if (with[i] == loop)
        return distance[i];
    return (struct range){0, 0};
  }
  struct range r = range_of(loop->from, with, distance, n);
  if (loop->kind != LOOP_SKEW_SECOND)
    return r;
  struct range first = range_of(loop->partner->from, with, distance, n);
  int64_t a = scale(first.low, loop->factor), b = scale(first.high, loop->factor);
  return (struct range){add(r.low, a < b ? a : b), add(r.high, a < b ? b : a)};
}

// A block loop that covers its whole loop runs once.
static bool runs_once(const struct loop *loop) {
  if (loop->kind != LOOP_BLOCK)
    return false;
  const struct loop *from = loop->from;
  int64_t step = loop_step(loop);
  if (from->kind == LOOP_TILE)
    return loop_step(from->partner) <= step;
  if (from->kind != LOOP_ORIGINAL || !mlirAffineMapIsSingleConstant(from->lower.map) ||
      !mlirAffineMapIsSingleConstant(from->upper.map))
    return false;
  return mlirAffineMapGetSingleConstantResult(from->upper.map) -
             mlirAffineMapGetSingleConstantResult(from->lower.map) <=
         step;
}

// Can the order of loops turn a dependence of these distances round?
static bool turns_round(struct loop *const *loops, intptr_t num_loops, struct loop *const *with,
                        const struct range *distance, intptr_t n) {
  for (intptr_t i = 0; i < num_loops; ++i) {
    if (runs_once(loops[i]))
      continue;
    struct range r = range_of(loops[i], with, distance, n);
    if (r.low < 0)
      return true;
    if (r.low >= loop_step(loops[i]))
      return false;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reordered loops
//===----------------------------------------------------------------------===//

struct reorder {
  MlirOperation blame;
  struct loop *const *loops, *const *with;
  intptr_t num_loops, num_with;
  unsigned outer;   // loops around the nest
  bool all_affine;  // every loop of the nest is an affine.for
  bool independent; // somebody vouches
};

// Does the loop at `level` part two iterations of these distances, when the loops outside it do not
// surely?
static bool is_carried(const struct reorder *r, const struct range *distance, intptr_t level) {
  for (intptr_t i = 0; i <= level; ++i) {
    if (runs_once(r->loops[i]))
      continue;
    struct range d = range_of(r->loops[i], r->with, distance, r->num_with);
    int64_t step = loop_step(r->loops[i]);
    if (i == level)
      return d.low != 0 || d.high != 0;
    if (d.low >= step || d.high <= -step)
      return false;
  }
  return false;
}

enum verdict { FINE, BROKEN, UNKNOWN };

// level < 0: is the order of the pair's accesses kept? Else: is the loop at that level parallel?
static enum verdict judge(const struct reorder *r, const struct access *a, const struct access *b,
                          intptr_t level) {
  enum { MAX_DEPTH = 64 };
  if (!may_conflict(a, b))
    return FINE;
  int64_t low[MAX_DEPTH], high[MAX_DEPTH];
  struct range distance[MAX_DEPTH];
  if (!r->all_affine || !is_readable(a, b) || mlirxAffineCommonLoops(a->op, b->op) > MAX_DEPTH)
    return UNKNOWN;
  for (intptr_t d = 0; d < r->num_with; ++d) {
    MlirxDependence result =
        mlirxAffineDependence(a->op, b->op, r->outer + (unsigned)d + 1, low, high);
    if (result == MLIRX_NO_DEPENDENCE)
      continue;
    if (result == MLIRX_UNKNOWN_DEPENDENCE)
      return UNKNOWN;
    for (intptr_t i = 0; i < r->num_with; ++i)
      distance[i] =
          i < d ? (struct range){0, 0} : (struct range){low[r->outer + i], high[r->outer + i]};
    if (distance[d].low < 1)
      distance[d].low = 1;
    if (level < 0 ? turns_round(r->loops, r->num_loops, r->with, distance, r->num_with)
                  : is_carried(r, distance, level))
      return BROKEN;
  }
  return FINE;
}

static bool keeps_order(const struct reorder *r, const struct accesses *a) {
  for (size_t i = 0; i < a->n; ++i)
    for (size_t j = 0; j < a->n; ++j) {
      enum verdict v = judge(r, &a->items[i], &a->items[j], -1);
      if (v == FINE || (v == UNKNOWN && r->independent))
        continue;
      report(r->blame, &a->items[i], &a->items[j],
             v == BROKEN ? "breaks a dependence" : "may break a dependence");
      return false;
    }
  return true;
}

// Loops that are shown to be parallel here need no look at what came out.
static void mark_parallel(const struct reorder *r, const struct accesses *a) {
  for (intptr_t level = 0; level < r->num_loops; ++level) {
    struct loop *loop = r->loops[level];
    if (mlirOperationIsNull(loop->parallel) && mlirOperationIsNull(loop->vectorize))
      continue;
    bool good = true;
    for (size_t i = 0; i < a->n && good; ++i)
      for (size_t j = 0; j < a->n && good; ++j) {
        enum verdict v = judge(r, &a->items[i], &a->items[j], level);
        good = v == FINE || (v == UNKNOWN && r->independent);
      }
    loop->is_parallel = good;
  }
}

static bool check_nest(struct reorder *r, MlirOperation nest, bool order) {
  struct accesses a = {.within = nest};
  mlirOperationWalk(nest, gather, &a, MlirWalkPreOrder);
  bool good = !order || keeps_order(r, &a);
  if (good)
    mark_parallel(r, &a);
  free(a.items);
  return good;
}

bool loop_is_independent(const struct loop *loop) {
  while (loop->from)
    loop = loop->from;
  return krnl_has_attr(loop->made_by, "krnl.independent");
}

// In what order do the loops stand by original and tile? Ascending: nothing is reordered.
static bool in_order(struct loop *const *loops, intptr_t n, struct loop *const *with,
                     intptr_t num_with) {
  intptr_t last = -1;
  for (intptr_t i = 0; i < n; ++i) {
    for (const struct loop *t = loops[i]; t; t = t->from)
      if (t->kind == LOOP_SKEW_SECOND || t->kind == LOOP_SKEW_FIRST)
        return false;
    const struct loop *root = loop_root(loops[i]);
    intptr_t at = 0;
    while (at < num_with && with[at] != root)
      ++at;
    if (at < last)
      return false;
    last = at;
  }
  return true;
}

static struct loop *root_in(struct lowering *l, MlirValue value) {
  struct loop *loop = lowering_find(l, value);
  return loop ? loop_root(loop) : NULL;
}

struct search {
  struct lowering *l;
  struct loop *const *with;
  intptr_t n;
  bool found;
};

static MlirWalkResult find_split(MlirOperation op, void *user) {
  struct search *s = user;
  if (!mlirxIsA(op, &krnl_iterate))
    return MlirWalkResultAdvance;
  int64_t optimized = krnl_int_attr(op, "num_optimized_loops", 0);
  for (int64_t i = 0; i < optimized; ++i)
    for (intptr_t j = 0; j < s->n; ++j)
      if (root_in(s->l, mlirOperationGetOperand(op, i)) == s->with[j])
        s->found = true;
  return s->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

// Do iterates inside run tiles of these loops, or does this one run tiles of a loop outside? Then
// the program itself says where its statements stand among the tiles, and there is no other order
// to keep.
static bool is_split(struct lowering *l, MlirOperation iterate, struct loop *const *loops,
                     intptr_t n, struct loop *const *with, intptr_t num_with) {
  struct search s = {l, with, num_with, false};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(iterate, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op) && !s.found;
       op = mlirOperationGetNextInBlock(op))
    mlirOperationWalk(op, find_split, &s, MlirWalkPreOrder);
  for (intptr_t i = 0; i < n && !s.found; ++i) {
    bool mine = false;
    for (intptr_t j = 0; j < num_with; ++j)
      mine = mine || loop_root(loops[i]) == with[j];
    s.found = !mine;
  }
  return s.found;
}

static MlirWalkResult first_accesses(MlirOperation op, void *user) {
  struct lowering *sub = user;
  if (mlirxIsA(op, &krnl_load) || mlirxIsA(op, &krnl_store))
    lowering_push_op(sub, op);
  return MlirWalkResultAdvance;
}

// Where nobody runs the tile loop the body takes care of the tile: the loop steps from tile to
// tile.
static int64_t *strides_of(struct lowering *l, const struct reorder *r) {
  int64_t *strides = lowering_alloc(l, sizeof(*strides) * (size_t)(r->num_with + 1));
  for (intptr_t i = 0; i < r->num_with; ++i)
    for (intptr_t j = 0; j < r->num_loops; ++j) {
      int64_t step = loop_step(r->loops[j]);
      if (loop_root(r->loops[j]) == r->with[i] && (!strides[i] || step < strides[i]))
        strides[i] = step;
    }
  return strides;
}

// The nest without its schedule, in front of the iterate; null after a diagnostic.
static MlirOperation plain_nest(struct lowering *l, MlirOperation iterate, const struct reorder *r,
                                struct lowering *plain) {
  MlirOperation copy = mlirOperationClone(iterate);
  struct ir ir = ir_before(iterate);
  ir_insert(&ir, copy);
  *plain = (struct lowering){.ctx = l->ctx, .root = iterate, .scheduled = l};
  plain->strides = strides_of(l, r);
  lowering_iterate(plain, copy);
  if (plain->failed || mlirOperationIsNull(plain->outermost))
    return (MlirOperation){NULL};
  mlirOperationWalk(plain->outermost, first_accesses, plain, MlirWalkPreOrder);
  for (size_t i = 0; i < plain->num_schedule; ++i)
    lower_access_op(plain->schedule[i]);
  return plain->outermost;
}

// The most that iterations of a loop are apart.
static int64_t reach_of(const struct loop *root) {
  if (!mlirAffineMapIsSingleConstant(root->lower.map) ||
      !mlirAffineMapIsSingleConstant(root->upper.map))
    return INT64_MAX;
  int64_t trip = mlirAffineMapGetSingleConstantResult(root->upper.map) -
                 mlirAffineMapGetSingleConstantResult(root->lower.map);
  return trip > 0 ? trip - 1 : 0;
}

// Values that one iteration hands to the next are a dependence between any two iterations.
static bool reorders_iterations(const struct reorder *r) {
  enum { MAX_DEPTH = 64 };
  struct range distance[MAX_DEPTH];
  if (r->num_with > MAX_DEPTH)
    return true;
  for (intptr_t d = 0; d < r->num_with; ++d) {
    for (intptr_t i = 0; i < r->num_with; ++i) {
      int64_t reach = reach_of(r->with[i]);
      distance[i] = i < d ? (struct range){0, 0} : (struct range){i == d ? 1 : -reach, reach};
    }
    if (distance[d].high >= 1 &&
        turns_round(r->loops, r->num_loops, r->with, distance, r->num_with))
      return true;
  }
  return false;
}

bool legal_order(struct lowering *l, MlirOperation iterate, struct loop *const *loops, intptr_t n,
                 struct loop *const *with, intptr_t num_with, bool has_iter_args) {
  if (l->scheduled)
    return true;
  bool order = !in_order(loops, n, with, num_with), marks = false;
  for (intptr_t i = 0; i < n; ++i)
    marks = marks || !mlirOperationIsNull(loops[i]->parallel) ||
            !mlirOperationIsNull(loops[i]->vectorize);
  if ((!order && !marks) || is_split(l, iterate, loops, n, with, num_with))
    return true;
  struct reorder r = {
      .blame = iterate, .loops = loops, .with = with, .num_loops = n, .num_with = num_with};
  for (intptr_t i = n - 1; i >= 0; --i) {
    if (!mlirOperationIsNull(loops[i]->permute))
      r.blame = loops[i]->permute;
    else if (loops[i]->kind == LOOP_SKEW_SECOND && mlirOperationEqual(r.blame, iterate))
      r.blame = loops[i]->made_by;
  }
  for (intptr_t i = 0; i < num_with; ++i)
    r.independent = r.independent || loop_is_independent(with[i]);
  if (has_iter_args && order && reorders_iterations(&r)) {
    mlirxEmitErrorWithNote(r.blame, mlirOperationGetLocation(iterate), "the iterate with iter_args",
                           "reorders loops that carry iter_args");
    return false;
  }
  if (has_iter_args)
    return true; // and with it all other dependences, which run from earlier to later iterations
  struct lowering plain;
  MlirOperation nest = plain_nest(l, iterate, &r, &plain);
  bool good = !mlirOperationIsNull(nest);
  if (good) {
    r.outer = mlirxAffineCommonLoops(nest, nest);
    r.all_affine = true;
    MlirOperation op = nest;
    for (intptr_t i = 0; i < num_with && r.all_affine; ++i) {
      r.all_affine = ir_is(op, "affine.for");
      if (i + 1 < num_with)
        op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
    }
    good = check_nest(&r, nest, order);
    mlirOperationDestroy(nest);
  }
  lowering_free(&plain);
  return good;
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

static bool check_carried(MlirOperation blame, const struct access *a, const struct access *b,
                          unsigned depth, bool readable, bool independent) {
  enum { MAX_DEPTH = 64 };
  if (!may_conflict(a, b))
    return true;
  int64_t low[MAX_DEPTH], high[MAX_DEPTH];
  MlirxDependence result = MLIRX_UNKNOWN_DEPENDENCE;
  if (readable && is_readable(a, b) && mlirxAffineCommonLoops(a->op, b->op) <= MAX_DEPTH)
    result = mlirxAffineDependence(a->op, b->op, depth, low, high);
  if (result == MLIRX_NO_DEPENDENCE || (result == MLIRX_UNKNOWN_DEPENDENCE && independent))
    return true;
  report(blame, a, b,
         result == MLIRX_DEPENDENCE ? "the loop carries a dependence"
                                    : "the loop may carry a dependence");
  return false;
}

bool legal_parallel(MlirOperation loop, MlirOperation blame, bool independent) {
  struct accesses a = {.within = loop};
  mlirOperationWalk(loop, gather, &a, MlirWalkPreOrder);
  bool good = true, readable = ir_is(loop, "affine.for");
  unsigned depth = readable ? mlirxAffineCommonLoops(loop, loop) + 1 : 0;
  for (size_t i = 0; i < a.n && good; ++i)
    for (size_t j = 0; j < a.n && good; ++j)
      good = check_carried(blame, &a.items[i], &a.items[j], depth, readable, independent);
  free(a.items);
  return good;
}
