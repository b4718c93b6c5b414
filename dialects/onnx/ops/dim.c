// Hash-consed dims. Sums are kept as linear forms (like terms joined, ordered by id), products as
// ordered factor lists, so that expressions equal by the ring's laws are the same node. Every node
// has an interval that its value lies in, which decides comparisons, min and max.
//
// Only laws that hold for all integers are used; what holds for extents alone comes in through the
// interval of symbols made by dim_sym_extent.
#include "dialects/onnx/ops/dim.h"

#include <string.h>

typedef struct bounds {
  int64_t lo, hi; // INT64_MIN, INT64_MAX: none known
} bounds;

struct dim_context {
  onyx_arena *arena;
  const dim **table; // open addressing, capacity a power of two
  size_t capacity, used;
  bounds *bounds; // by id
  size_t cap_bounds;
  unsigned count;
  int64_t unknowns;
};

dim_context *dim_context_create(onyx_arena *arena) {
  dim_context *ctx = ONYX_NEW(arena, dim_context);
  ctx->arena = arena;
  ctx->capacity = 256;
  ctx->table = ONYX_NEW_ARRAY(arena, const dim *, ctx->capacity);
  return ctx;
}

onyx_arena *dim_arena(dim_context *ctx) {
  return ctx->arena;
}
unsigned dim_count(const dim_context *ctx) {
  return ctx->count;
}

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static uint64_t hash_of(dim_op op, int64_t value, const dim *a, const dim *b, const dim *c) {
  uint64_t h = mix((uint64_t)op + 1, (uint64_t)value);
  h = mix(h, a ? a->id + 1u : 0);
  h = mix(h, b ? b->id + 1u : 0);
  return mix(h, c ? c->id + 1u : 0);
}

static void grow(dim_context *ctx) {
  size_t capacity = ctx->capacity * 2;
  const dim **table = ONYX_NEW_ARRAY(ctx->arena, const dim *, capacity);
  for (size_t i = 0; i < ctx->capacity; i++) {
    const dim *d = ctx->table[i];
    if (!d)
      continue;
    size_t at = hash_of(d->op, d->value, d->a, d->b, d->c) & (capacity - 1);
    while (table[at])
      at = (at + 1) & (capacity - 1);
    table[at] = d;
  }
  ctx->table = table;
  ctx->capacity = capacity;
}

static bounds no_bounds(void) {
  return (bounds){INT64_MIN, INT64_MAX};
}
static bounds bounds_of(const dim_context *ctx, const dim *d) {
  return ctx->bounds[d->id];
}

// --- arithmetic on bounds: an unknown end stays unknown, an overflow makes it so

static int64_t end_add(int64_t a, int64_t b, int64_t none) {
  int64_t sum;
  return a == none || b == none || __builtin_add_overflow(a, b, &sum) ? none : sum;
}

static bounds bounds_add(bounds a, bounds b) {
  return (bounds){end_add(a.lo, b.lo, INT64_MIN), end_add(a.hi, b.hi, INT64_MAX)};
}

static bounds bounds_neg(bounds a) {
  return (bounds){a.hi == INT64_MAX || a.hi == INT64_MIN ? INT64_MIN : -a.hi,
                  a.lo == INT64_MIN ? INT64_MAX : -a.lo};
}

static bounds bounds_mul(bounds a, bounds b) {
  if (a.lo >= 0 && b.lo >= 0) {
    bounds r = {0, INT64_MAX};
    if (__builtin_mul_overflow(a.lo, b.lo, &r.lo))
      r.lo = 0;
    if (a.hi == INT64_MAX || b.hi == INT64_MAX || __builtin_mul_overflow(a.hi, b.hi, &r.hi))
      r.hi = INT64_MAX;
    return r;
  }
  if (b.lo == b.hi && b.lo < 0 && b.lo != INT64_MIN)
    return bounds_neg(bounds_mul(a, (bounds){-b.lo, -b.lo}));
  if (b.lo == b.hi && b.lo > 0) {
    bounds r = a;
    if (a.lo == INT64_MIN || __builtin_mul_overflow(a.lo, b.lo, &r.lo))
      r.lo = INT64_MIN;
    if (a.hi == INT64_MAX || __builtin_mul_overflow(a.hi, b.lo, &r.hi))
      r.hi = INT64_MAX;
    return r;
  }
  return no_bounds();
}

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static bounds bounds_div(bounds a, bounds b, bool up) {
  if (b.lo == b.hi && b.lo > 0) {
    bounds r;
    r.lo = a.lo == INT64_MIN ? INT64_MIN : up ? -floor_div(-a.lo, b.lo) : floor_div(a.lo, b.lo);
    r.hi = a.hi == INT64_MAX   ? INT64_MAX
           : a.hi == INT64_MIN ? INT64_MIN
           : up                ? -floor_div(-a.hi, b.lo)
                               : floor_div(a.hi, b.lo);
    return r;
  }
  if (a.lo >= 0 && b.lo >= 0)
    return (bounds){0, a.hi};
  return no_bounds();
}

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static bounds bounds_for(dim_context *ctx, dim_op op, int64_t value, const dim *a, const dim *b,
                         const dim *c) {
  bounds x = a ? bounds_of(ctx, a) : no_bounds(), y = b ? bounds_of(ctx, b) : no_bounds();
  switch (op) {
  case DIM_CONST:
    return (bounds){value, value};
  case DIM_ADD:
    return bounds_add(x, y);
  case DIM_SUB:
    return bounds_add(x, bounds_neg(y));
  case DIM_MUL:
    return bounds_mul(x, y);
  case DIM_FLOORDIV:
  case DIM_CEILDIV:
    return bounds_div(x, y, op == DIM_CEILDIV);
  case DIM_MOD:
    if (y.lo > 0)
      return (bounds){0, y.hi == INT64_MAX ? INT64_MAX : y.hi - 1};
    return no_bounds();
  case DIM_MIN:
    return (bounds){min64(x.lo, y.lo), min64(x.hi, y.hi)};
  case DIM_MAX:
    return (bounds){max64(x.lo, y.lo), max64(x.hi, y.hi)};
  case DIM_EQ:
  case DIM_LT:
    return (bounds){0, 1};
  case DIM_SELECT: {
    bounds z = bounds_of(ctx, c);
    return (bounds){min64(y.lo, z.lo), max64(y.hi, z.hi)};
  }
  case DIM_SYM:
  case DIM_UNKNOWN:
    break;
  }
  return no_bounds();
}

static void set_bounds(dim_context *ctx, unsigned id, bounds b) {
  if (id >= ctx->cap_bounds) {
    size_t capacity = ctx->cap_bounds ? ctx->cap_bounds * 2 : 256;
    bounds *more = ONYX_NEW_ARRAY(ctx->arena, bounds, capacity);
    if (ctx->cap_bounds)
      memcpy(more, ctx->bounds, ctx->cap_bounds * sizeof(bounds));
    ctx->bounds = more;
    ctx->cap_bounds = capacity;
  }
  ctx->bounds[id] = b;
}

static const dim *node(dim_context *ctx, dim_op op, int64_t value, const dim *a, const dim *b,
                       const dim *c) {
  size_t at = hash_of(op, value, a, b, c) & (ctx->capacity - 1);
  for (const dim *d; (d = ctx->table[at]); at = (at + 1) & (ctx->capacity - 1))
    if (d->op == op && d->value == value && d->a == a && d->b == b && d->c == c)
      return d;
  dim *d = ONYX_NEW(ctx->arena, dim);
  bool unknown = op == DIM_UNKNOWN || (a && a->unknown) || (b && b->unknown) || (c && c->unknown);
  *d = (dim){op, value, a, b, c, ctx->count++, unknown};
  set_bounds(ctx, d->id, bounds_for(ctx, op, value, a, b, c));
  ctx->table[at] = d;
  if (++ctx->used * 2 > ctx->capacity)
    grow(ctx);
  return d;
}

static const dim *binary(dim_context *ctx, dim_op op, const dim *a, const dim *b) {
  return node(ctx, op, 0, a, b, NULL);
}

const dim *dim_const(dim_context *ctx, int64_t value) {
  return node(ctx, DIM_CONST, value, NULL, NULL, NULL);
}
const dim *dim_sym(dim_context *ctx, int64_t symbol) {
  return node(ctx, DIM_SYM, symbol, NULL, NULL, NULL);
}
const dim *dim_sym_extent(dim_context *ctx, int64_t symbol) {
  const dim *d = dim_sym(ctx, symbol);
  ctx->bounds[d->id].lo = max64(ctx->bounds[d->id].lo, 0);
  return d;
}
const dim *dim_unknown(dim_context *ctx) {
  return node(ctx, DIM_UNKNOWN, ctx->unknowns++, NULL, NULL, NULL);
}
const dim *dim_unknown_extent(dim_context *ctx) {
  const dim *d = dim_unknown(ctx);
  ctx->bounds[d->id].lo = 0;
  return d;
}

const dim *dim_late_symbol(dim_context *ctx) {
  return dim_sym_extent(ctx, INT64_MIN + ctx->unknowns++);
}

void dim_bounds(const dim_context *ctx, const dim *d, int64_t *lo, int64_t *hi) {
  bounds b = bounds_of(ctx, d);
  *lo = b.lo;
  *hi = b.hi;
}

// --- sums

#define MAX_TERMS 24

typedef struct linear {
  int n;
  bool overflow, full; // full: too many terms, the form is of no use
  int64_t constant;
  const dim *term[MAX_TERMS]; // by id
  int64_t coef[MAX_TERMS];    // not 0
} linear;

static void linear_term(linear *l, const dim *t, int64_t coef) {
  int at = 0;
  while (at < l->n && l->term[at]->id < t->id)
    at++;
  if (at < l->n && l->term[at] == t) {
    l->overflow |= __builtin_add_overflow(l->coef[at], coef, &l->coef[at]);
    if (l->coef[at] == 0) {
      l->n--;
      for (int i = at; i < l->n; i++)
        l->term[i] = l->term[i + 1], l->coef[i] = l->coef[i + 1];
    }
    return;
  }
  if (coef == 0)
    return;
  if (l->n == MAX_TERMS) {
    l->full = true;
    return;
  }
  for (int i = l->n++; i > at; i--)
    l->term[i] = l->term[i - 1], l->coef[i] = l->coef[i - 1];
  l->term[at] = t;
  l->coef[at] = coef;
}

// l += coef * d
static void linear_add(linear *l, const dim *d, int64_t coef) {
  int64_t product;
  switch (d->op) {
  case DIM_CONST:
    l->overflow |= __builtin_mul_overflow(d->value, coef, &product);
    l->overflow |= __builtin_add_overflow(l->constant, product, &l->constant);
    return;
  case DIM_ADD:
  case DIM_SUB:
    if (l->full || l->overflow)
      return;
    linear_add(l, d->a, coef);
    l->overflow |= d->op == DIM_SUB && coef == INT64_MIN;
    if (!l->overflow)
      linear_add(l, d->b, d->op == DIM_SUB ? -coef : coef);
    return;
  case DIM_MUL:
    if (d->b->op == DIM_CONST) {
      l->overflow |= __builtin_mul_overflow(d->b->value, coef, &product);
      if (!l->overflow)
        linear_term(l, d->a, product);
      return;
    }
    break;
  default:
    break;
  }
  linear_term(l, d, coef);
}

static const dim *scaled(dim_context *ctx, const dim *t, int64_t coef) {
  return coef == 1 ? t : binary(ctx, DIM_MUL, t, dim_const(ctx, coef));
}

// Positive terms, minus negative ones, plus the constant.
static const dim *linear_build(dim_context *ctx, const linear *l) {
  if (l->overflow)
    return dim_unknown(ctx);
  const dim *sum = NULL;
  for (int i = 0; i < l->n; i++)
    if (l->coef[i] > 0) {
      const dim *t = scaled(ctx, l->term[i], l->coef[i]);
      sum = sum ? binary(ctx, DIM_ADD, sum, t) : t;
    }
  int64_t constant = l->constant;
  if (!sum && l->n) {
    sum = dim_const(ctx, constant);
    constant = 0;
  }
  for (int i = 0; i < l->n; i++)
    if (l->coef[i] < 0) {
      if (l->coef[i] == INT64_MIN)
        return dim_unknown(ctx);
      sum = binary(ctx, DIM_SUB, sum, scaled(ctx, l->term[i], -l->coef[i]));
    }
  if (!sum)
    return dim_const(ctx, constant);
  return constant ? binary(ctx, DIM_ADD, sum, dim_const(ctx, constant)) : sum;
}

static const dim *sum_of(dim_context *ctx, const dim *a, const dim *b, bool minus) {
  linear l = {0};
  linear_add(&l, a, 1);
  if (!l.overflow && !l.full)
    linear_add(&l, b, minus ? -1 : 1);
  return l.full ? binary(ctx, minus ? DIM_SUB : DIM_ADD, a, b) : linear_build(ctx, &l);
}

const dim *dim_add(dim_context *ctx, const dim *a, const dim *b) {
  if (dim_is(a, 0))
    return b;
  return dim_is(b, 0) ? a : sum_of(ctx, a, b, false);
}

const dim *dim_sub(dim_context *ctx, const dim *a, const dim *b) {
  return dim_is(b, 0) ? a : sum_of(ctx, a, b, true);
}

// The difference where it is a constant.
static bool constant_difference(const dim *a, const dim *b, int64_t *value) {
  linear l = {0};
  linear_add(&l, a, 1);
  if (!l.overflow && !l.full)
    linear_add(&l, b, -1);
  *value = l.constant;
  return !l.overflow && !l.full && l.n == 0;
}

// --- products

static int collect_factors(const dim *d, const dim **factors, int n, int64_t *constant, bool *bad) {
  if (d->op == DIM_CONST) {
    *bad |= __builtin_mul_overflow(*constant, d->value, constant);
  } else if (d->op == DIM_MUL) {
    n = collect_factors(d->a, factors, n, constant, bad);
    if (n >= 0)
      n = collect_factors(d->b, factors, n, constant, bad);
  } else if (n >= 0) {
    if (n == MAX_TERMS)
      return -1;
    int at = n;
    for (; at > 0 && factors[at - 1]->id > d->id; at--)
      factors[at] = factors[at - 1];
    factors[at] = d;
    n++;
  }
  return n;
}

const dim *dim_mul(dim_context *ctx, const dim *a, const dim *b) {
  if (dim_is(a, 1))
    return b;
  if (dim_is(b, 1))
    return a;
  if (dim_is(a, 0) || dim_is(b, 0))
    return dim_const(ctx, 0);
  const dim *factors[MAX_TERMS];
  int64_t constant = 1;
  bool overflow = false;
  int n = collect_factors(a, factors, 0, &constant, &overflow);
  if (n >= 0)
    n = collect_factors(b, factors, n, &constant, &overflow);
  if (overflow)
    return dim_unknown(ctx);
  if (n < 0)
    return binary(ctx, DIM_MUL, a, b);
  if (n == 0)
    return dim_const(ctx, constant);
  // A constant times a sum is distributed, so that the sum's linear form stays visible.
  if (n == 1 && (factors[0]->op == DIM_ADD || factors[0]->op == DIM_SUB)) {
    linear l = {0};
    linear_add(&l, factors[0], constant);
    if (!l.full)
      return linear_build(ctx, &l);
  }
  const dim *product = factors[0];
  for (int i = 1; i < n; i++)
    product = binary(ctx, DIM_MUL, product, factors[i]);
  return constant == 1 ? product : binary(ctx, DIM_MUL, product, dim_const(ctx, constant));
}

// --- quotients

// Splits a = c * quotient + rest, with the terms that c divides in the quotient.
static bool split_multiple(dim_context *ctx, const dim *a, int64_t c, const dim **quotient,
                           const dim **rest) {
  linear l = {0}, q = {0}, r = {0};
  linear_add(&l, a, 1);
  if (l.overflow || l.full || c <= 0)
    return false;
  for (int i = 0; i < l.n; i++) {
    linear *to = l.coef[i] % c == 0 ? &q : &r;
    to->term[to->n] = l.term[i];
    to->coef[to->n++] = l.coef[i] % c == 0 ? l.coef[i] / c : l.coef[i];
  }
  q.constant = floor_div(l.constant, c);
  r.constant = l.constant - q.constant * c;
  *quotient = linear_build(ctx, &q);
  *rest = linear_build(ctx, &r);
  return true;
}

static const dim *quotient_of(dim_context *ctx, dim_op op, const dim *a, const dim *b) {
  int64_t y;
  if (!dim_is_const(b, &y))
    return dim_is(a, 0) ? a : binary(ctx, op, a, b);
  if (y == 0)
    return dim_const(ctx, 0);
  if (y == 1)
    return a;
  if (y == -1)
    return dim_sub(ctx, dim_const(ctx, 0), a);
  if (a->op == DIM_CONST) {
    int64_t q = floor_div(a->value, y);
    return dim_const(ctx, op == DIM_CEILDIV && a->value % y != 0 ? q + 1 : q);
  }
  const dim *q, *rest;
  if (split_multiple(ctx, a, y, &q, &rest) && !dim_is(q, 0)) {
    const dim *tail =
        rest->op == DIM_CONST ? quotient_of(ctx, op, rest, b) : binary(ctx, op, rest, b);
    return dim_add(ctx, q, tail);
  }
  int64_t inner, both;
  if (a->op == op && y > 0 && dim_is_const(a->b, &inner) && inner > 0 &&
      !__builtin_mul_overflow(inner, y, &both))
    return binary(ctx, op, a->a, dim_const(ctx, both));
  bounds x = bounds_of(ctx, a);
  if (op == DIM_FLOORDIV && y > 0 && x.lo >= 0 && x.hi < y)
    return dim_const(ctx, 0);
  return binary(ctx, op, a, b);
}

const dim *dim_floordiv(dim_context *ctx, const dim *a, const dim *b) {
  return quotient_of(ctx, DIM_FLOORDIV, a, b);
}
const dim *dim_ceildiv(dim_context *ctx, const dim *a, const dim *b) {
  return quotient_of(ctx, DIM_CEILDIV, a, b);
}

const dim *dim_mod(dim_context *ctx, const dim *a, const dim *b) {
  int64_t y;
  if (!dim_is_const(b, &y))
    return a == b || dim_is(a, 0) ? dim_const(ctx, 0) : binary(ctx, DIM_MOD, a, b);
  if (y == 0)
    return a;
  if (y == 1 || y == -1)
    return dim_const(ctx, 0);
  if (a->op == DIM_CONST)
    return dim_const(ctx, a->value - floor_div(a->value, y) * y);
  const dim *q, *rest;
  if (split_multiple(ctx, a, y, &q, &rest))
    a = rest;
  bounds x = bounds_of(ctx, a);
  if (y > 0 && x.lo >= 0 && x.hi < y)
    return a;
  return binary(ctx, DIM_MOD, a, b);
}

// --- comparison

static const dim *extremum(dim_context *ctx, dim_op op, const dim *a, const dim *b) {
  if (a == b)
    return a;
  bool max = op == DIM_MAX;
  int64_t difference;
  if (constant_difference(a, b, &difference))
    return (difference > 0) == max ? a : b;
  bounds x = bounds_of(ctx, a), y = bounds_of(ctx, b);
  if (x.lo >= y.hi) // a >= b
    return max ? a : b;
  if (y.lo >= x.hi)
    return max ? b : a;
  if (a->op == DIM_CONST || (b->op != DIM_CONST && a->id > b->id)) {
    const dim *t = a;
    a = b;
    b = t;
  }
  // max(max(x, y), y), and two constants
  if (a->op == op && (a->a == b || a->b == b))
    return a;
  if (b->op == op && (b->a == a || b->b == a))
    return b;
  if (a->op == op && a->b->op == DIM_CONST && b->op == DIM_CONST)
    return extremum(ctx, op, a->a, extremum(ctx, op, a->b, b));
  return binary(ctx, op, a, b);
}

const dim *dim_min(dim_context *ctx, const dim *a, const dim *b) {
  return extremum(ctx, DIM_MIN, a, b);
}
const dim *dim_max(dim_context *ctx, const dim *a, const dim *b) {
  return extremum(ctx, DIM_MAX, a, b);
}

const dim *dim_eq(dim_context *ctx, const dim *a, const dim *b) {
  int64_t difference;
  if (constant_difference(a, b, &difference))
    return dim_const(ctx, difference == 0);
  bounds x = bounds_of(ctx, a), y = bounds_of(ctx, b);
  if (x.lo > y.hi || y.lo > x.hi)
    return dim_const(ctx, 0);
  if (a->op == DIM_CONST || (b->op != DIM_CONST && a->id > b->id))
    return binary(ctx, DIM_EQ, b, a);
  return binary(ctx, DIM_EQ, a, b);
}

const dim *dim_lt(dim_context *ctx, const dim *a, const dim *b) {
  int64_t difference;
  if (constant_difference(a, b, &difference))
    return dim_const(ctx, difference < 0);
  bounds x = bounds_of(ctx, a), y = bounds_of(ctx, b);
  if (x.hi < y.lo)
    return dim_const(ctx, 1);
  if (x.lo >= y.hi)
    return dim_const(ctx, 0);
  return binary(ctx, DIM_LT, a, b);
}

const dim *dim_select(dim_context *ctx, const dim *c, const dim *t, const dim *f) {
  if (t == f)
    return t;
  if (c->op == DIM_CONST)
    return c->value ? t : f;
  bounds x = bounds_of(ctx, c);
  if (x.lo > 0 || x.hi < 0)
    return t;
  // a == b ? a : b is b, and a == b ? b : a is a
  if (c->op == DIM_EQ && ((c->a == t && c->b == f) || (c->a == f && c->b == t)))
    return f;
  return node(ctx, DIM_SELECT, 0, c, t, f);
}

const dim *dim_broadcast(dim_context *ctx, const dim *a, const dim *b) {
  if (a == b || dim_is(b, 1))
    return a;
  if (dim_is(a, 1))
    return b;
  if (a->op == DIM_CONST)
    return a; // not 1, so b is a or 1
  if (b->op == DIM_CONST)
    return b;
  if (a->id > b->id) { // commutative where the two agree
    const dim *t = a;
    a = b;
    b = t;
  }
  return dim_select(ctx, dim_eq(ctx, a, dim_const(ctx, 1)), b, a);
}

const dim *dim_wrap(dim_context *ctx, const dim *index, const dim *extent) {
  return dim_select(ctx, dim_lt(ctx, index, dim_const(ctx, 0)), dim_add(ctx, index, extent), index);
}

const dim *dim_clamp(dim_context *ctx, const dim *v, const dim *lo, const dim *hi) {
  return dim_min(ctx, dim_max(ctx, v, lo), hi);
}

// --- readers

// Shared nodes are visited once a use: a graph that would take more visits than this is given up.
#define EVAL_VISITS 1000000
#define TEXT_NODES 2000

typedef struct evaluation {
  int64_t (*symbol)(int64_t sym, void *user);
  void *user;
  int visits;
} evaluation;

static bool eval_dim(evaluation *e, const dim *d, int64_t *value) {
  int64_t a = 0, b = 0;
  if (++e->visits > EVAL_VISITS)
    return false;
  switch (d->op) {
  case DIM_CONST:
    *value = d->value;
    return true;
  case DIM_SYM:
    if (!e->symbol)
      return false;
    *value = e->symbol(d->value, e->user);
    return true;
  case DIM_UNKNOWN:
    return false;
  case DIM_SELECT:
    return eval_dim(e, d->a, &a) && eval_dim(e, a ? d->b : d->c, value);
  default:
    break;
  }
  if (!eval_dim(e, d->a, &a) || !eval_dim(e, d->b, &b))
    return false;
  bool division = d->op == DIM_FLOORDIV || d->op == DIM_CEILDIV || d->op == DIM_MOD;
  if (division && a == INT64_MIN && b == -1)
    return false;
  switch (d->op) {
  case DIM_ADD:
    return !__builtin_add_overflow(a, b, value);
  case DIM_SUB:
    return !__builtin_sub_overflow(a, b, value);
  case DIM_MUL:
    return !__builtin_mul_overflow(a, b, value);
  case DIM_FLOORDIV:
    *value = b ? floor_div(a, b) : 0;
    return true;
  case DIM_CEILDIV:
    *value = b ? floor_div(a, b) + (a % b != 0) : 0;
    return true;
  case DIM_MOD:
    *value = b ? a - floor_div(a, b) * b : a;
    return true;
  case DIM_MIN:
    *value = min64(a, b);
    return true;
  case DIM_MAX:
    *value = max64(a, b);
    return true;
  case DIM_EQ:
    *value = a == b;
    return true;
  default: // DIM_LT
    *value = a < b;
    return true;
  }
}

bool dim_eval(const dim *d, int64_t (*symbol)(int64_t sym, void *user), void *user,
              int64_t *value) {
  evaluation e = {symbol, user, 0};
  return eval_dim(&e, d, value);
}

// Precedence: 0 ternary, 1 comparison, 2 sum, 3 product, 4 atom.
static char *text_of(onyx_arena *arena, const dim *d, const char *(*name)(int64_t, void *),
                     void *user, int *left, int outer) {
  static const struct {
    const char *infix;
    int level;
  } forms[] = {[DIM_ADD] = {" + ", 2},
               [DIM_SUB] = {" - ", 2},
               [DIM_MUL] = {" * ", 3},
               [DIM_FLOORDIV] = {" floordiv ", 3},
               [DIM_CEILDIV] = {" ceildiv ", 3},
               [DIM_MOD] = {" mod ", 3},
               [DIM_EQ] = {" == ", 1},
               [DIM_LT] = {" < ", 1},
               [DIM_MIN] = {NULL, 4},
               [DIM_MAX] = {NULL, 4},
               [DIM_SELECT] = {" ? ", 0}};
  const char *symbol;
  if (--*left < 0)
    return onyx_arena_printf(arena, "..");
  switch (d->op) {
  case DIM_CONST:
    return onyx_arena_printf(arena, "%lld", (long long)d->value);
  case DIM_SYM:
    symbol = name ? name(d->value, user) : NULL;
    return symbol ? onyx_arena_printf(arena, "%s", symbol)
                  : onyx_arena_printf(arena, "s%lld", (long long)d->value);
  case DIM_UNKNOWN:
    return onyx_arena_printf(arena, "?%lld", (long long)d->value);
  case DIM_MIN:
  case DIM_MAX:
    return onyx_arena_printf(arena, "%s(%s, %s)", d->op == DIM_MIN ? "min" : "max",
                             text_of(arena, d->a, name, user, left, 0),
                             text_of(arena, d->b, name, user, left, 0));
  default:
    break;
  }
  int level = forms[d->op].level;
  bool wrap = level < outer;
  char *a = text_of(arena, d->a, name, user, left, level == 0 ? 1 : level);
  char *b = text_of(arena, d->b, name, user, left, level + 1);
  if (d->op == DIM_SELECT)
    return onyx_arena_printf(arena, "%s%s ? %s : %s%s", wrap ? "(" : "", a, b,
                             text_of(arena, d->c, name, user, left, 1), wrap ? ")" : "");
  if (d->op == DIM_ADD && d->b->op == DIM_CONST && d->b->value < 0 && d->b->value != INT64_MIN)
    return onyx_arena_printf(arena, "%s%s - %lld%s", wrap ? "(" : "", a, (long long)-d->b->value,
                             wrap ? ")" : "");
  return onyx_arena_printf(arena, "%s%s%s%s%s", wrap ? "(" : "", a, forms[d->op].infix, b,
                           wrap ? ")" : "");
}

char *dim_text(onyx_arena *arena, const dim *d, const char *(*name)(int64_t sym, void *user),
               void *user) {
  int left = TEXT_NODES;
  return text_of(arena, d, name, user, &left, 0);
}
