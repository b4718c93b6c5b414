// Products: MatMul, MatMulInteger, Gemm. (Einsum has a file of its own.)
#include "dialects/onnx/ops/op.h"

// --- MatMul and MatMulInteger: NumPy's matmul, vectors promoted

typedef struct product {
  int a, b;      // ranks, -1 unknown
  int rank;      // of the result
  int batch;     // leading dims of the result that are batch dims
  bool row, col; // whether the result has the M and the N dim
  const dim *k;  // contracted extent
  const dim *dims[ONYX_MAX_RANK];
} product;

static bool batch_dims(op_view *v, product *p) {
  int na = p->a > 2 ? p->a - 2 : 0, nb = p->b > 2 ? p->b - 2 : 0;
  p->batch = na > nb ? na : nb;
  for (int i = 0; i < p->batch; i++) {
    int ia = i - (p->batch - na), ib = i - (p->batch - nb);
    const dim *da = ia < 0 ? NULL : view_dim(v, 0, ia), *db = ib < 0 ? NULL : view_dim(v, 1, ib);
    int64_t x, y;
    if (da && db && dim_is_const(da, &x) && dim_is_const(db, &y) && x != y && x != 1 && y != 1)
      return view_error(v,
                        "operands 0 and 1: batch dims %d and %d do not broadcast (%lld and %lld)",
                        ia, ib, (long long)x, (long long)y);
    p->dims[i] = !da ? db : !db ? da : dim_broadcast(v->dims, da, db);
  }
  return true;
}

static bool product_of(op_view *v, product *p) {
  p->a = view_rank(v, 0);
  p->b = view_rank(v, 1);
  if (p->a == 0 || p->b == 0)
    return view_error(v, "operand %d: expected rank 1 or more, found a scalar", p->a == 0 ? 0 : 1);
  if (p->a < 0 || p->b < 0)
    return true;
  if (!batch_dims(v, p))
    return false;
  const dim *ka = view_dim(v, 0, p->a - 1), *kb = view_dim(v, 1, p->b == 1 ? 0 : p->b - 2);
  int64_t x, y;
  if (dim_is_const(ka, &x) && dim_is_const(kb, &y) && x != y)
    return view_error(v, "operands 0 and 1: inner dims differ, %lld and %lld", (long long)x,
                      (long long)y);
  p->k = ka->op == DIM_CONST ? ka : kb;
  p->row = p->a > 1;
  p->col = p->b > 1;
  p->rank = p->batch;
  if (p->row)
    p->dims[p->rank++] = view_dim(v, 0, p->a - 2);
  if (p->col)
    p->dims[p->rank++] = view_dim(v, 1, p->b - 1);
  return true;
}

static bool verify_matmul(op_view *v) {
  product p;
  return product_of(v, &p);
}

static bool shape_matmul(op_view *v, shape_result *results) {
  product p;
  if (!product_of(v, &p))
    return false;
  if (p.a >= 0 && p.b >= 0)
    shape_set(v, results, 0, p.rank, p.dims);
  return true;
}

// Index along a dim that may be 1 where the result's is not.
static const expr *broadcast_index(comprehension *c, const dim *own, const dim *result,
                                   const expr *loop) {
  if (own == result || (own->op == DIM_CONST && own->value != 1))
    return loop;
  if (dim_is(own, 1))
    return expr_index(c, 0);
  const expr *is_one = expr_compare(c, EXPR_EQ, expr_dim(c, own), expr_index(c, 1));
  return expr_select(c, is_one, expr_index(c, 0), loop);
}

// Loops of the nest: the result's dims, then k.
static int product_loops(const product *p, comp_loop *loops) {
  for (int i = 0; i < p->rank; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, p->dims[i]};
  loops[p->rank] = (comp_loop){LOOP_REDUCTION, p->k};
  return p->rank + 1;
}

static void product_batch_index(comprehension *c, const product *p, int operand, int rank,
                                const expr **index) {
  for (int i = 0; i < rank - 2; i++) {
    int at = i + p->batch - (rank - 2);
    index[i] = broadcast_index(c, view_dim(c->view, operand, i), p->dims[at], expr_loop(c, at));
  }
}

// Indices of an element of A (operand 0) and of B (operand 1).
static void index_a(comprehension *c, const product *p, const expr **index) {
  product_batch_index(c, p, 0, p->a, index);
  if (p->row)
    index[p->a - 2] = expr_loop(c, p->batch);
  index[p->a - 1] = expr_loop(c, p->rank);
}
static void index_b(comprehension *c, const product *p, const expr **index) {
  product_batch_index(c, p, 1, p->b, index);
  index[p->b == 1 ? 0 : p->b - 2] = expr_loop(c, p->rank);
  if (p->col)
    index[p->b - 1] = expr_loop(c, p->rank - 1);
}

static bool need_ranks(op_view *v, const product *p) {
  if (p->a < 0 || p->b < 0)
    return view_error(v, "operand %d: the rank is not known", p->a < 0 ? 0 : 1);
  return true;
}

static void write_product(comprehension *c, const product *p, const expr *a, const expr *b,
                          int type, onyx_elem elem) {
  comp_loop loops[ONYX_MAX_RANK + 1];
  comp_stage *s = comp_stage_begin(c, product_loops(p, loops), loops);
  int acc = comp_acc_combine(c, s, ACC_ADD, type, expr_binary(c, EXPR_MUL, a, b), NULL);
  const expr *out[ONYX_MAX_RANK];
  for (int i = 0; i < p->rank; i++)
    out[i] = expr_loop(c, i);
  comp_write_at(c, s, comp_result(c, 0), p->rank, out, expr_cast(c, expr_acc(c, acc, type), elem),
                NULL);
}

static bool comp_matmul(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  product p;
  if (!product_of(v, &p) || !need_ranks(v, &p))
    return false;
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  const expr *ia[ONYX_MAX_RANK], *ib[ONYX_MAX_RANK];
  index_a(c, &p, ia);
  index_b(c, &p, ib);
  write_product(c, &p, expr_cast(c, expr_read(c, 0, p.a, ia), type),
                expr_cast(c, expr_read(c, 1, p.b, ib), type), type, elem);
  return true;
}

// The zero point of an operand at this element: a scalar, a vector along the rows of A (columns of
// B), or a tensor that broadcasts against the operand. NULL: none.
static const expr *zero_point(comprehension *c, int zp, int operand, int rank, int vector_axis,
                              const expr *const *index) {
  op_view *v = c->view;
  if (!view_has(v, zp))
    return NULL;
  int n = view_rank(v, zp);
  const expr *at[ONYX_MAX_RANK];
  if (n == 1)
    at[0] = vector_axis < 0
                ? expr_index(c, 0)
                : broadcast_index(c, view_dim(v, zp, 0), view_dim(v, operand, vector_axis),
                                  index[vector_axis]);
  for (int i = 0; n != 1 && i < n; i++) {
    int axis = i + rank - n;
    at[i] = broadcast_index(c, view_dim(v, zp, i), view_dim(v, operand, axis), index[axis]);
  }
  return expr_cast(c, expr_read(c, zp, n, at), ONYX_I32);
}

static bool verify_matmul_integer(op_view *v) {
  product p;
  if (!product_of(v, &p))
    return false;
  for (int i = 2; i < 4; i++)
    if (view_rank(v, i - 2) >= 0 && view_rank(v, i) > view_rank(v, i - 2) && view_rank(v, i) > 1)
      return view_error(v, "operand %d: expected at most the rank of operand %d (%d), found %d", i,
                        i - 2, view_rank(v, i - 2), view_rank(v, i));
  return true;
}

static bool shape_matmul_integer(op_view *v, shape_result *results) {
  results[0].type.elem = ONYX_I32;
  return shape_matmul(v, results);
}

static bool comp_matmul_integer(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  product p;
  if (!verify_matmul_integer(v) || !product_of(v, &p) || !need_ranks(v, &p))
    return false;
  for (int i = 2; i < 4; i++)
    if (view_has(v, i) && view_rank(v, i) < 0)
      return view_error(v, "operand %d: the rank is not known", i);
  const expr *ia[ONYX_MAX_RANK], *ib[ONYX_MAX_RANK];
  index_a(c, &p, ia);
  index_b(c, &p, ib);
  const expr *a = expr_cast(c, expr_read(c, 0, p.a, ia), ONYX_I32);
  const expr *b = expr_cast(c, expr_read(c, 1, p.b, ib), ONYX_I32);
  const expr *za = zero_point(c, 2, 0, p.a, p.row ? p.a - 2 : -1, ia);
  const expr *zb = zero_point(c, 3, 1, p.b, p.col ? p.b - 1 : -1, ib);
  a = za ? expr_binary(c, EXPR_SUB, a, za) : a;
  b = zb ? expr_binary(c, EXPR_SUB, b, zb) : b;
  write_product(c, &p, a, b, ONYX_I32, ONYX_I32);
  return true;
}

// --- Gemm: alpha * A' * B' + beta * C

typedef struct gemm {
  const dim *m, *n, *k;
  bool known;
  bool trans_a, trans_b;
} gemm;

static bool gemm_bias(op_view *v, const gemm *g) {
  int rank = view_rank(v, 2);
  if (rank > 2)
    return view_error(v, "operand 2 ('C'): expected at most rank 2, found rank %d", rank);
  for (int i = 0; g->known && i < rank; i++) {
    const dim *own = view_dim(v, 2, i), *result = i == rank - 1 ? g->n : g->m;
    int64_t x, y;
    if (dim_is_const(own, &x) && dim_is_const(result, &y) && x != y && x != 1)
      return view_error(v, "operand 2 ('C'): dim %d is %lld, expected 1 or %lld", i, (long long)x,
                        (long long)y);
  }
  return true;
}

static bool gemm_of(op_view *v, gemm *g) {
  int a = view_rank(v, 0), b = view_rank(v, 1);
  if ((a >= 0 && a != 2) || (b >= 0 && b != 2))
    return view_error(v, "operand %d: expected rank 2, found rank %d", a >= 0 && a != 2 ? 0 : 1,
                      a >= 0 && a != 2 ? a : b);
  g->trans_a = view_int(v, "transA") != 0;
  g->trans_b = view_int(v, "transB") != 0;
  g->known = a == 2 && b == 2;
  if (!g->known)
    return true;
  g->m = view_dim(v, 0, g->trans_a);
  g->n = view_dim(v, 1, !g->trans_b);
  const dim *ka = view_dim(v, 0, !g->trans_a), *kb = view_dim(v, 1, g->trans_b);
  int64_t x, y;
  if (dim_is_const(ka, &x) && dim_is_const(kb, &y) && x != y)
    return view_error(v, "operands 0 and 1: inner dims differ, %lld and %lld", (long long)x,
                      (long long)y);
  g->k = ka->op == DIM_CONST ? ka : kb;
  return gemm_bias(v, g);
}

static bool verify_gemm(op_view *v) {
  gemm g;
  return gemm_of(v, &g);
}

static bool shape_gemm(op_view *v, shape_result *results) {
  gemm g;
  if (!gemm_of(v, &g))
    return false;
  const dim *dims[2];
  for (int i = 0; i < 2; i++) {
    const dim *known = g.known ? (i ? g.n : g.m) : NULL;
    if (!known && view_rank(v, i) == 2)
      known = i ? view_dim(v, 1, !g.trans_b) : view_dim(v, 0, g.trans_a);
    dims[i] = known ? known : dim_unknown(v->dims);
  }
  shape_set(v, results, 0, 2, dims);
  return true;
}

// x * factor: integers go through f64 (the factor is a float attribute).
static const expr *scaled(comprehension *c, const expr *x, double factor) {
  if (factor == 1)
    return x;
  int type = onyx_elem_is_float((onyx_elem)x->type) ? x->type : ONYX_F64;
  const expr *y = expr_binary(c, EXPR_MUL, expr_cast(c, x, type), expr_float(c, type, factor));
  return expr_cast(c, y, x->type);
}

static bool comp_gemm(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  gemm g;
  if (!gemm_of(v, &g))
    return false;
  if (!g.known)
    return view_error(v, "operand %d: the rank is not known", view_rank(v, 0) < 0 ? 0 : 1);
  int bias = view_has(v, 2) ? view_rank(v, 2) : 0;
  if (bias < 0)
    return view_error(v, "operand 2 ('C'): the rank is not known");
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  const comp_loop loops[] = {{LOOP_PARALLEL, g.m}, {LOOP_PARALLEL, g.n}, {LOOP_REDUCTION, g.k}};
  const expr *i = expr_loop(c, 0), *j = expr_loop(c, 1), *k = expr_loop(c, 2);
  const expr *ia[] = {g.trans_a ? k : i, g.trans_a ? i : k};
  const expr *ib[] = {g.trans_b ? j : k, g.trans_b ? k : j};
  comp_stage *s = comp_stage_begin(c, 3, loops);
  const expr *product = expr_binary(c, EXPR_MUL, expr_cast(c, expr_read(c, 0, 2, ia), type),
                                    expr_cast(c, expr_read(c, 1, 2, ib), type));
  const expr *y = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, product, NULL), type);
  y = scaled(c, y, view_float(v, "alpha"));
  if (view_has(v, 2)) {
    const expr *at[2];
    for (int d = 0; d < bias; d++)
      at[d] =
          broadcast_index(c, view_dim(v, 2, d), d == bias - 1 ? g.n : g.m, d == bias - 1 ? j : i);
    const expr *bias_value = expr_cast(c, expr_read(c, 2, bias, at), type);
    y = expr_binary(c, EXPR_ADD, y, scaled(c, bias_value, view_float(v, "beta")));
  }
  const expr *out[] = {i, j};
  comp_write_at(c, s, comp_result(c, 0), 2, out, expr_cast(c, y, elem), NULL);
  return true;
}

const op_def ops_matmul[] = {
    {"Gemm", verify_gemm, shape_gemm, comp_gemm},
    {"MatMul", verify_matmul, shape_matmul, comp_matmul},
    {"MatMulInteger", verify_matmul_integer, shape_matmul_integer, comp_matmul_integer},
};
const int num_ops_matmul = sizeof ops_matmul / sizeof ops_matmul[0];
