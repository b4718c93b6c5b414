// Building comprehensions. Index arithmetic on constants is folded here, so that static ops have
// plain affine indices; everything else is left to the readers.
#include "dialects/onnx/ops/comprehension.h"

#include "dialects/onnx/ops/convert.h"
#include <assert.h>
#include <math.h>
#include <string.h>

static void *grow(op_view *v, void *items, int count, int *capacity, size_t size) {
  if (count < *capacity)
    return items;
  *capacity = *capacity ? *capacity * 2 : 8;
  void *more = onyx_arena_alloc(v->arena, (size_t)*capacity * size);
  if (count)
    memcpy(more, items, (size_t)count * size);
  return more;
}

static int add_buffer(comprehension *c, onyx_elem elem, int rank, const dim *const *dims) {
  c->buffers = grow(c->view, c->buffers, c->num_buffers, &c->cap_buffers, sizeof *c->buffers);
  comp_buffer *b = &c->buffers[c->num_buffers];
  *b = (comp_buffer){elem, rank < 0 ? 0 : rank,
                     ONYX_NEW_ARRAY(c->view->arena, const dim *, rank > 0 ? rank : 1), NULL};
  for (int k = 0; k < rank; k++)
    b->dims[k] = dims[k];
  return c->num_buffers++;
}

void comp_init(comprehension *c, op_view *v, const shape_result *results) {
  *c = (comprehension){
      .view = v, .num_operands = v->num_operands, .num_results = v->num_results, .alias_of = -1};
  for (int i = 0; i < v->num_operands; i++)
    add_buffer(c, v->operands[i].type.elem, v->operands[i].type.rank, v->operands[i].type.dims);
  for (int r = 0; r < v->num_results; r++)
    add_buffer(c, results[r].type.elem, results[r].type.rank, results[r].type.dims);
}

int comp_temp(comprehension *c, onyx_elem elem, int rank, const dim *const *dims) {
  return add_buffer(c, elem, rank, dims);
}

const dim *comp_late_size(comprehension *c, int buffer) {
  assert(c->buffers[buffer].rank == 0 && c->buffers[buffer].elem == ONYX_I64);
  c->late = grow(c->view, c->late, c->num_late, &c->cap_late, sizeof *c->late);
  c->late[c->num_late] = (comp_late){dim_late_symbol(c->view->dims), buffer, c->num_stages};
  return c->late[c->num_late++].symbol;
}

void comp_set_extent(comprehension *c, int r, int axis, const dim *extent) {
  c->buffers[comp_result(c, r)].dims[axis] = extent;
}

int comp_table(comprehension *c, onyx_elem elem, int64_t n, const void *data) {
  const dim *extent = dim_const(c->view->dims, n);
  int table = add_buffer(c, elem, 1, &extent);
  size_t size = (size_t)n * (size_t)onyx_elem_bytes(elem);
  void *copy = onyx_arena_alloc(c->view->arena, size);
  memcpy(copy, data, size);
  c->buffers[table].data = copy;
  return table;
}

// --- expressions

static expr *new_expr(comprehension *c, expr_op op, int type, int num_args,
                      const expr *const *args) {
  expr *e = ONYX_NEW(c->view->arena, expr);
  e->op = op;
  e->type = type;
  e->num_args = num_args;
  if (num_args) {
    e->args = ONYX_NEW_ARRAY(c->view->arena, const expr *, num_args);
    memcpy(e->args, args, (size_t)num_args * sizeof *args);
  }
  e->id = c->num_exprs++;
  return e;
}

static bool is_float_type(int type) {
  return type != ONYX_INDEX && onyx_elem_is_float((onyx_elem)type);
}

const expr *expr_int(comprehension *c, int type, int64_t value) {
  if (is_float_type(type))
    return expr_float(c, type, (double)value);
  expr *e = new_expr(c, EXPR_CONST, type, 0, NULL);
  e->i = type == ONYX_INDEX ? value : onyx_int_wrap((onyx_elem)type, value);
  return e;
}

const expr *expr_float(comprehension *c, int type, double value) {
  if (!is_float_type(type))
    return expr_int(c, type, onyx_int_from_double(ONYX_I64, value));
  expr *e = new_expr(c, EXPR_CONST, type, 0, NULL);
  e->f = onyx_float_round((onyx_elem)type, value);
  return e;
}

const expr *expr_zero(comprehension *c, int type) {
  return expr_int(c, type, 0);
}
const expr *expr_one(comprehension *c, int type) {
  return expr_int(c, type, 1);
}

const expr *expr_lowest(comprehension *c, int type) {
  if (is_float_type(type))
    return expr_float(c, type, -INFINITY);
  return expr_int(c, type, type == ONYX_INDEX ? INT64_MIN : onyx_int_lowest((onyx_elem)type));
}

const expr *expr_highest(comprehension *c, int type) {
  if (is_float_type(type))
    return expr_float(c, type, INFINITY);
  return expr_int(c, type, type == ONYX_INDEX ? INT64_MAX : onyx_int_highest((onyx_elem)type));
}

const expr *expr_index(comprehension *c, int64_t value) {
  return expr_int(c, ONYX_INDEX, value);
}

const expr *expr_loop(comprehension *c, int loop) {
  expr *e = new_expr(c, EXPR_LOOP, ONYX_INDEX, 0, NULL);
  e->i = loop;
  return e;
}

const expr *expr_dim(comprehension *c, const dim *d) {
  if (d->op == DIM_CONST)
    return expr_index(c, d->value);
  expr *e = new_expr(c, EXPR_DIM, ONYX_INDEX, 0, NULL);
  e->dim = d;
  return e;
}

const expr *expr_acc(comprehension *c, int acc, int type) {
  expr *e = new_expr(c, EXPR_ACC, type, 0, NULL);
  e->i = acc;
  return e;
}

const expr *expr_read(comprehension *c, int buffer, int n, const expr *const *index) {
  return expr_read_padded(c, buffer, n, index, NULL);
}

const expr *expr_read_padded(comprehension *c, int buffer, int n, const expr *const *index,
                             const expr *pad) {
  assert(n == c->buffers[buffer].rank);
  expr *e = new_expr(c, EXPR_READ, c->buffers[buffer].elem, n, index);
  e->i = buffer;
  e->pad = pad;
  return e;
}

static bool is_constant(const expr *e, int64_t value) {
  return e->op == EXPR_CONST && e->type == ONYX_INDEX && e->i == value;
}

const expr *expr_unary(comprehension *c, expr_op op, const expr *a) {
  int type = op == EXPR_ISNAN || op == EXPR_ISINF ? ONYX_BOOL : a->type;
  return new_expr(c, op, type, 1, &a);
}

// Folds index arithmetic; NULL when it stays.
static const expr *fold_index(comprehension *c, expr_op op, const expr *a, const expr *b) {
  bool both = a->op == EXPR_CONST && b->op == EXPR_CONST;
  int64_t r;
  switch (op) {
  case EXPR_ADD:
    if (is_constant(a, 0))
      return b;
    if (is_constant(b, 0))
      return a;
    return both && !__builtin_add_overflow(a->i, b->i, &r) ? expr_index(c, r) : NULL;
  case EXPR_SUB:
    if (is_constant(b, 0))
      return a;
    return both && !__builtin_sub_overflow(a->i, b->i, &r) ? expr_index(c, r) : NULL;
  case EXPR_MUL:
    if (is_constant(a, 1) || is_constant(b, 0))
      return b;
    if (is_constant(b, 1) || is_constant(a, 0))
      return a;
    return both && !__builtin_mul_overflow(a->i, b->i, &r) ? expr_index(c, r) : NULL;
  case EXPR_DIV:
  case EXPR_FLOORDIV:
    return is_constant(b, 1) ? a : NULL;
  case EXPR_MOD:
    return is_constant(b, 1) ? expr_index(c, 0) : NULL;
  case EXPR_MIN:
    return both ? (a->i < b->i ? a : b) : NULL;
  case EXPR_MAX:
    return both ? (a->i > b->i ? a : b) : NULL;
  default:
    return NULL;
  }
}

const expr *expr_binary(comprehension *c, expr_op op, const expr *a, const expr *b) {
  assert(a->type == b->type);
  const expr *folded = a->type == ONYX_INDEX ? fold_index(c, op, a, b) : NULL;
  return folded ? folded : new_expr(c, op, a->type, 2, (const expr *[]){a, b});
}

const expr *expr_compare(comprehension *c, expr_op op, const expr *a, const expr *b) {
  assert(a->type == b->type);
  if (a->type == ONYX_INDEX && a->op == EXPR_CONST && b->op == EXPR_CONST) {
    int64_t x = a->i, y = b->i;
    bool holds = op == EXPR_EQ   ? x == y
                 : op == EXPR_NE ? x != y
                 : op == EXPR_LT ? x < y
                 : op == EXPR_LE ? x <= y
                 : op == EXPR_GT ? x > y
                                 : x >= y;
    return expr_int(c, ONYX_BOOL, holds);
  }
  return new_expr(c, op, ONYX_BOOL, 2, (const expr *[]){a, b});
}

const expr *expr_select(comprehension *c, const expr *cond, const expr *t, const expr *f) {
  assert(cond->type == ONYX_BOOL && t->type == f->type);
  if (cond->op == EXPR_CONST)
    return cond->i ? t : f;
  return t == f ? t : new_expr(c, EXPR_SELECT, t->type, 3, (const expr *[]){cond, t, f});
}

const expr *expr_cast(comprehension *c, const expr *a, int type) {
  return expr_cast_saturate(c, a, type, false);
}

const expr *expr_cast_saturate(comprehension *c, const expr *a, int type, bool saturate) {
  if (a->type == type)
    return a;
  bool from_int = a->op == EXPR_CONST && !is_float_type(a->type) && a->type != ONYX_BOOL;
  if (from_int && !is_float_type(type) && type != ONYX_BOOL)
    return expr_int(c, type, a->i);
  expr *e = new_expr(c, EXPR_CAST, type, 1, &a);
  e->saturate = saturate;
  return e;
}

const expr *expr_bitcast(comprehension *c, const expr *a, int type) {
  return a->type == type ? a : new_expr(c, EXPR_BITCAST, type, 1, &a);
}

const expr *expr_check(comprehension *c, const expr *value, const expr *cond, int code,
                       const expr *found, const expr *limit) {
  if (cond->op == EXPR_CONST && cond->i)
    return value;
  expr *e = new_expr(c, EXPR_CHECK, value->type, 4, (const expr *[]){value, cond, found, limit});
  e->i = code;
  return e;
}

// --- stages

comp_stage *comp_stage_begin(comprehension *c, int num_loops, const comp_loop *loops) {
  c->stages = grow(c->view, c->stages, c->num_stages, &c->cap_stages, sizeof *c->stages);
  comp_stage *s = &c->stages[c->num_stages++];
  *s = (comp_stage){.num_loops = num_loops,
                    .loops =
                        ONYX_NEW_ARRAY(c->view->arena, comp_loop, num_loops > 0 ? num_loops : 1)};
  if (num_loops > 0)
    memcpy(s->loops, loops, (size_t)num_loops * sizeof *loops);
  return s;
}

void comp_stage_bound(comprehension *c, comp_stage *s, int loop, const expr *count) {
  if (!s->bounds)
    s->bounds = ONYX_NEW_ARRAY(c->view->arena, const expr *, s->num_loops);
  s->bounds[loop] = count;
}

static comp_acc *new_acc(comprehension *c, comp_stage *s) {
  comp_acc *accs = ONYX_NEW_ARRAY(c->view->arena, comp_acc, s->num_accs + 1);
  if (s->num_accs)
    memcpy(accs, s->accs, (size_t)s->num_accs * sizeof *accs);
  s->accs = accs;
  return &accs[s->num_accs++];
}

static const expr *neutral(comprehension *c, acc_kind kind, int type) {
  switch (kind) {
  case ACC_MUL:
    return expr_one(c, type);
  case ACC_MIN:
    return expr_highest(c, type);
  case ACC_MAX:
    return expr_lowest(c, type);
  case ACC_AND:
    return expr_int(c, type, type == ONYX_BOOL ? 1 : -1);
  default:
    return expr_zero(c, type);
  }
}

int comp_acc_combine(comprehension *c, comp_stage *s, acc_kind kind, int type, const expr *value,
                     const expr *init) {
  static const expr_op ops[] = {[ACC_ADD] = EXPR_ADD, [ACC_MUL] = EXPR_MUL, [ACC_MIN] = EXPR_MIN,
                                [ACC_MAX] = EXPR_MAX, [ACC_AND] = EXPR_AND, [ACC_OR] = EXPR_OR};
  int k = s->num_accs;
  const expr *step = expr_binary(c, ops[kind], expr_acc(c, k, type), value);
  *new_acc(c, s) = (comp_acc){type, init ? init : neutral(c, kind, type), kind, value, step};
  return k;
}

int comp_acc_general(comprehension *c, comp_stage *s, int type, const expr *init,
                     const expr *step) {
  int k = s->num_accs;
  *new_acc(c, s) = (comp_acc){type, init, ACC_GENERAL, NULL, step};
  return k;
}

void comp_write_at(comprehension *c, comp_stage *s, int buffer, int n, const expr *const *index,
                   const expr *value, const expr *guard) {
  assert(n == c->buffers[buffer].rank && value->type == (int)c->buffers[buffer].elem);
  comp_write *writes = ONYX_NEW_ARRAY(c->view->arena, comp_write, s->num_writes + 1);
  if (s->num_writes)
    memcpy(writes, s->writes, (size_t)s->num_writes * sizeof *writes);
  s->writes = writes;
  comp_write *w = &writes[s->num_writes++];
  *w = (comp_write){buffer, n, ONYX_NEW_ARRAY(c->view->arena, const expr *, n > 0 ? n : 1), value,
                    guard};
  if (n > 0)
    memcpy(w->index, index, (size_t)n * sizeof *index);
}

// --- short forms

void comp_require(comprehension *c, const expr *cond, int code, const expr *found,
                  const expr *limit) {
  if (cond->op == EXPR_CONST && cond->i)
    return;
  int scratch = comp_temp(c, ONYX_BOOL, 0, NULL);
  const expr *value = expr_check(c, expr_int(c, ONYX_BOOL, 1), cond, code, found, limit);
  comp_stage *s = comp_stage_begin(c, 0, NULL);
  comp_write_at(c, s, scratch, 0, NULL, value, NULL);
}

void comp_require_broadcast(comprehension *c, int num_operands, const int *operands) {
  const comp_buffer *out = &c->buffers[comp_result(c, 0)];
  for (int i = 0; i < num_operands; i++) {
    comp_buffer in = c->buffers[operands[i]];
    for (int k = 0; k < in.rank; k++) {
      const dim *d = in.dims[k], *extent = out->dims[out->rank - in.rank + k];
      if (d == extent || dim_is(d, 1))
        continue;
      const expr *have = expr_dim(c, d), *want = expr_dim(c, extent);
      const expr *fits = expr_binary(c, EXPR_OR, expr_compare(c, EXPR_EQ, have, expr_index(c, 1)),
                                     expr_compare(c, EXPR_EQ, have, want));
      comp_require(c, fits, 3, have, want);
      out = &c->buffers[comp_result(c, 0)]; // the check's scratch may have moved the buffers
    }
  }
}

void comp_broadcast_index(comprehension *c, int buffer, int rank, int first_loop,
                          const expr **out) {
  comp_buffer in = c->buffers[buffer], result = c->buffers[comp_result(c, 0)];
  for (int k = 0; k < in.rank; k++) {
    int loop = first_loop + rank - in.rank + k;
    const expr *variable = expr_loop(c, loop);
    if (dim_is(in.dims[k], 1))
      out[k] = expr_index(c, 0);
    else if (in.dims[k]->op == DIM_CONST || loop >= result.rank || in.dims[k] == result.dims[loop])
      out[k] = variable;
    else // 0 also where the two disagree: in bounds all the same
      out[k] = expr_select(
          c, expr_compare(c, EXPR_EQ, expr_dim(c, in.dims[k]), expr_dim(c, result.dims[loop])),
          variable, expr_index(c, 0));
  }
}

const expr *comp_read_broadcast(comprehension *c, int buffer, int rank) {
  const expr *index[ONYX_MAX_RANK];
  comp_broadcast_index(c, buffer, rank, 0, index);
  return expr_read(c, buffer, c->buffers[buffer].rank, index);
}

comp_stage *comp_stage_over(comprehension *c, int buffer) {
  comp_loop loops[ONYX_MAX_RANK];
  comp_buffer b = c->buffers[buffer];
  for (int k = 0; k < b.rank; k++)
    loops[k] = (comp_loop){LOOP_PARALLEL, b.dims[k]};
  return comp_stage_begin(c, b.rank, loops);
}

void comp_write_point(comprehension *c, comp_stage *s, int buffer, const expr *value) {
  const expr *index[ONYX_MAX_RANK];
  int rank = c->buffers[buffer].rank;
  for (int k = 0; k < rank; k++)
    index[k] = expr_loop(c, k);
  comp_write_at(c, s, buffer, rank, index, value, NULL);
}

int expr_compute_type(int type) {
  return is_float_type(type) && onyx_elem_bits((onyx_elem)type) < 32 ? ONYX_F32 : type;
}
