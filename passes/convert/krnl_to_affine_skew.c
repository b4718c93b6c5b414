//===- krnl_to_affine_skew.c - Bounds of nests with skewed loops
//-------------------------------------===//
//
// The iterations are the integer points of a polyhedron: the bounds of the original loops, each
// written in the variables of the nest, and block <= tile < block + size. The bounds of the loop at
// a level are what is left when the variables of the loops inside are eliminated (Fourier and
// Motzkin); a block loop takes there the place of what it blocks, so that tiles begin where
// iterations do. The elimination is over rationals: an outer loop may take a value for which an
// inner one does not run, never the other way.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LOOPS = 24, MAX_ROWS = 512 };

struct row { // sum of c[i] * variable i + rest >= 0
  int64_t c[MAX_LOOPS];
  MlirAffineExpr rest;     // over the operands of the original bounds
  const struct loop *pair; // the block loop of a row block <= tile < block + size
};

struct system {
  MlirContext ctx;
  struct lowering *l;
  struct loop *const *loops;
  intptr_t n;
  struct affine_list *list;
  struct row rows[MAX_ROWS];
  intptr_t num_rows;
  bool overflow;
};

bool nest_is_skewed(struct loop *const *loops, intptr_t n) {
  for (intptr_t i = 0; i < n; ++i)
    for (const struct loop *t = loops[i]; t; t = t->from)
      if (t->kind == LOOP_SKEW_FIRST || t->kind == LOOP_SKEW_SECOND)
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The polyhedron
//===----------------------------------------------------------------------===//

static intptr_t position_of(const struct system *s, const struct loop *loop) {
  for (intptr_t i = 0; i < s->n; ++i)
    if (s->loops[i] == loop)
      return i;
  return -1;
}

// Adds factor * (the loop's variable) to c. False if no loop of the nest gives it.
static bool add_value(const struct system *s, const struct loop *loop, int64_t factor, int64_t *c) {
  intptr_t at = position_of(s, loop);
  if (at >= 0) {
    c[at] += factor;
    return true;
  }
  const struct loop *child = loop->inner_child;
  if (!child)
    return false;
  if (child->kind == LOOP_SKEW_SECOND)
    return add_value(s, child, factor, c) &&
           add_value(s, child->partner, -factor * child->factor, c);
  return add_value(s, child, factor, c) ||
         (loop->outer_child && add_value(s, loop->outer_child, factor, c));
}

static MlirAffineExpr scaled(MlirContext ctx, MlirAffineExpr e, int64_t factor) {
  return mlirAffineMulExprGet(e, mlirAffineConstantExprGet(ctx, factor));
}

static MlirAffineExpr plus(MlirContext ctx, MlirAffineExpr e, int64_t constant) {
  return mlirAffineAddExprGet(e, mlirAffineConstantExprGet(ctx, constant));
}

static struct row *new_row(struct system *s) {
  if (s->num_rows == MAX_ROWS) {
    s->overflow = true;
    return &s->rows[MAX_ROWS - 1];
  }
  struct row *r = &s->rows[s->num_rows++];
  memset(r, 0, sizeof(*r));
  return r;
}

// lower <= value < upper, for every result of the maps.
static bool add_original(struct system *s, const struct loop *root) {
  for (int b = 0; b < 2; ++b) {
    const struct bound *bound = b ? &root->upper : &root->lower;
    intptr_t first = s->list->num_exprs;
    if (!affine_list_add_map(s->list, bound->map, bound->operands))
      return false;
    for (intptr_t i = first; i < s->list->num_exprs; ++i) {
      struct row *r = new_row(s);
      add_value(s, root, b ? -1 : 1, r->c);
      r->rest = b ? plus(s->ctx, s->list->exprs[i], -1) : scaled(s->ctx, s->list->exprs[i], -1);
    }
  }
  return true;
}

static void add_pair(struct system *s, const struct loop *block, const struct loop *tile) {
  int64_t c[MAX_LOOPS] = {0};
  if (!add_value(s, tile, 1, c) || !add_value(s, block, -1, c))
    return; // the body takes care of the tile
  for (int b = 0; b < 2; ++b) {
    struct row *r = new_row(s);
    for (intptr_t i = 0; i < s->n; ++i)
      r->c[i] = b ? -c[i] : c[i];
    r->rest = mlirAffineConstantExprGet(s->ctx, b ? loop_step(block) - 1 : 0);
    r->pair = block;
  }
}

// The second loop of the skew that made `first`.
static const struct loop *skewed_with(const struct system *s, const struct loop *first) {
  return lowering_find(s->l, mlirOperationGetResult(first->made_by, 1));
}

static bool build(struct system *s, MlirOperation blame) {
  for (intptr_t i = 0; i < s->n; ++i) {
    for (const struct loop *t = s->loops[i]; t; t = t->from) {
      int64_t c[MAX_LOOPS] = {0};
      if ((t->kind == LOOP_SKEW_SECOND && !add_value(s, t->partner, 1, c)) ||
          (t->kind == LOOP_SKEW_FIRST && !add_value(s, skewed_with(s, t), 1, c))) {
        mlirxEmitErrorWithNote(t->made_by, mlirOperationGetLocation(blame), "runs one of the loops",
                               "expected one iterate to run both loops");
        return false;
      }
      if (t->kind == LOOP_TILE) {
        bool seen = false;
        for (intptr_t r = 0; r < s->num_rows; ++r)
          seen = seen || s->rows[r].pair == t->partner;
        if (!seen)
          add_pair(s, t->partner, t);
      }
    }
    struct loop *root = loop_root(s->loops[i]);
    bool seen = false;
    for (intptr_t j = 0; j < i; ++j)
      seen = seen || loop_root(s->loops[j]) == root;
    if (!seen && !add_original(s, root)) {
      mlirxEmitError(blame, "skewed loops need bounds that are affine in dims and symbols");
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

static bool same_sides(const struct row *a, const struct row *b, intptr_t n) {
  return !memcmp(a->c, b->c, sizeof(a->c[0]) * (size_t)n);
}

// Adds r unless one like it is there; of two that differ in a constant the tighter one stays.
static void add_row(struct system *s, const struct row *r) {
  bool trivial = true;
  for (intptr_t i = 0; i < s->n; ++i)
    trivial = trivial && r->c[i] == 0;
  if (trivial)
    return;
  for (intptr_t i = 0; i < s->num_rows; ++i) {
    struct row *old = &s->rows[i];
    if (!same_sides(old, r, s->n))
      continue;
    if (mlirAffineExprEqual(old->rest, r->rest))
      return;
    if (mlirAffineExprIsAConstant(old->rest) && mlirAffineExprIsAConstant(r->rest)) {
      if (mlirAffineConstantExprGetValue(r->rest) < mlirAffineConstantExprGetValue(old->rest))
        old->rest = r->rest;
      return;
    }
  }
  *new_row(s) = *r;
}

static int64_t gcd(int64_t a, int64_t b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

// low's coefficient at v is positive, high's negative: their sum without v.
static struct row combine(const struct system *s, const struct row *low, const struct row *high,
                          intptr_t v) {
  int64_t g = gcd(low->c[v], high->c[v]), a = -high->c[v] / g, b = low->c[v] / g;
  struct row r = {.pair = NULL};
  for (intptr_t i = 0; i < s->n; ++i)
    r.c[i] = a * low->c[i] + b * high->c[i];
  MlirAffineExpr sum =
      mlirAffineAddExprGet(scaled(s->ctx, low->rest, a), scaled(s->ctx, high->rest, b));
  r.rest = mlirSimplifyAffineExpr(sum, (uint32_t)s->list->num_dims, (uint32_t)s->list->num_symbols);
  return r;
}

static void eliminate(struct system *s, intptr_t v) {
  struct system *old = malloc(sizeof(*old));
  memcpy(old, s, sizeof(*old));
  s->num_rows = 0;
  for (intptr_t i = 0; i < old->num_rows; ++i)
    if (!old->rows[i].c[v])
      add_row(s, &old->rows[i]);
  for (intptr_t i = 0; i < old->num_rows; ++i)
    for (intptr_t j = 0; j < old->num_rows; ++j)
      if (old->rows[i].c[v] > 0 && old->rows[j].c[v] < 0) {
        struct row r = combine(s, &old->rows[i], &old->rows[j], v);
        add_row(s, &r);
      }
  free(old);
}

static void drop_pair(struct system *s, const struct loop *block) {
  intptr_t kept = 0;
  for (intptr_t i = 0; i < s->num_rows; ++i)
    if (s->rows[i].pair != block)
      s->rows[kept++] = s->rows[i];
  s->num_rows = kept;
}

// What a loop over starts of tiles cuts up: past block loops, and past tile loops that run over
// block loops. Their pairs are dropped.
static const struct loop *cut_up(struct system *s, const struct loop *loop) {
  for (;;) {
    const struct loop *block = loop;
    while (block->kind == LOOP_TILE)
      block = block->from;
    if (block->kind != LOOP_BLOCK)
      return loop;
    drop_pair(s, block);
    loop = block->from;
  }
}

// What the loop at a level is bounded by: a loop over starts of tiles stands for what is cut up.
static void project(struct system *s, intptr_t level) {
  const struct loop *whole = cut_up(s, s->loops[level]);
  if (whole != s->loops[level]) {
    int64_t c[MAX_LOOPS] = {0};
    add_value(s, whole, 1, c);
    for (intptr_t t = level + 1; t < s->n; ++t)
      if (c[t] == 1)
        for (intptr_t i = 0; i < s->num_rows; ++i) {
          s->rows[i].c[level] += s->rows[i].c[t];
          s->rows[i].c[t] = 0;
        }
  }
  for (intptr_t v = s->n - 1; v > level; --v)
    eliminate(s, v);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

// A row as a bound of the variable at `level`: over the variables outside (dims first), then the
// list's dims and symbols.
static struct bound bound_from(struct system *s, const struct row *r, intptr_t level) {
  MlirContext ctx = s->ctx;
  uint32_t shift = (uint32_t)level;
  MlirAffineExpr e = mlirAffineExprShiftDims(r->rest, (uint32_t)s->list->num_dims, shift, 0);
  for (intptr_t i = 0; i < level; ++i)
    if (r->c[i])
      e = mlirAffineAddExprGet(e, scaled(ctx, mlirAffineDimExprGet(ctx, i), r->c[i]));
  int64_t c = r->c[level];
  if (c > 0) { // variable >= ceil(-e / c)
    e = scaled(ctx, e, -1);
    if (c > 1)
      e = mlirAffineCeilDivExprGet(e, mlirAffineConstantExprGet(ctx, c));
  } else { // variable < floor(e / -c) + 1
    if (c < -1)
      e = mlirAffineFloorDivExprGet(e, mlirAffineConstantExprGet(ctx, -c));
    e = plus(ctx, e, 1);
  }
  intptr_t dims = level + s->list->num_dims, n = dims + s->list->num_symbols;
  e = mlirSimplifyAffineExpr(e, (uint32_t)dims, (uint32_t)s->list->num_symbols);
  struct bound b = {mlirAffineMapGet(ctx, dims, s->list->num_symbols, 1, &e), NULL, n};
  b.operands = lowering_alloc(s->l, sizeof(MlirValue) * (size_t)(n + 1));
  for (intptr_t i = 0; i < level; ++i)
    b.operands[i] = s->loops[i]->variable;
  MlirValue *rest = affine_list_operands(s->list);
  for (intptr_t i = 0; i < n - level; ++i)
    b.operands[level + i] = rest[i];
  free(rest);
  return b;
}

bool nest_skewed_bounds(struct lowering *l, struct loop *const *loops, intptr_t n, intptr_t level,
                        MlirOperation iterate, struct nest_bounds *out) {
  if (n > MAX_LOOPS) {
    mlirxEmitError(iterate, "expected %d loops at most in a nest with skewed ones, found %d",
                   MAX_LOOPS, (int)n);
    return false;
  }
  struct affine_list list = {.ctx = l->ctx, .at = iterate};
  struct system *s = calloc(1, sizeof(*s));
  *s = (struct system){.ctx = l->ctx, .l = l, .loops = loops, .n = n, .list = &list};
  bool good = build(s, iterate);
  if (good)
    project(s, level);
  out->num_lower = out->num_upper = 0;
  for (intptr_t i = 0; i < s->num_rows && good; ++i) {
    int64_t c = s->rows[i].c[level];
    int *count = c > 0 ? &out->num_lower : &out->num_upper;
    if (!c)
      continue;
    if (*count == MAX_BOUNDS)
      s->overflow = true;
    else
      (c > 0 ? out->lower : out->upper)[(*count)++] = bound_from(s, &s->rows[i], level);
  }
  if (good && (s->overflow || !out->num_lower || !out->num_upper)) {
    mlirxEmitError(iterate, "the bounds of the skewed nest are too many to be computed");
    good = false;
  }
  free(s);
  affine_list_free(&list);
  return good;
}

// The variable of a loop that was skewed, from those that run in its place.
MlirValue nest_skewed_value(struct ir *ir, const struct loop *loop) {
  if (loop->variable.ptr)
    return loop->variable;
  const struct loop *child = loop->inner_child;
  if (!child)
    return (MlirValue){NULL};
  MlirValue v = nest_skewed_value(ir, child);
  if (!v.ptr && loop->outer_child)
    v = nest_skewed_value(ir, loop->outer_child);
  if (!v.ptr || child->kind != LOOP_SKEW_SECOND)
    return v;
  MlirValue operands[] = {v, nest_skewed_value(ir, child->partner)};
  MlirAffineExpr e =
      mlirAffineAddExprGet(mlirAffineDimExprGet(ir->ctx, 0),
                           scaled(ir->ctx, mlirAffineDimExprGet(ir->ctx, 1), -child->factor));
  if (!mlirxAffineIsDim(operands[0], mlirBlockGetParentOperation(ir->block))) {
    MlirValue product = ir_binary(ir, "arith.muli", operands[1], ir_index(ir, child->factor));
    return ir_binary(ir, "arith.subi", operands[0], product);
  }
  return ir_apply(ir, mlirAffineMapGet(ir->ctx, 2, 0, 1, &e), 2, operands);
}
