// Einsum: NumPy's equations, with ellipsis, repeated labels and implicit output.
#include "dialects/onnx/ops/op.h"
#include <ctype.h>
#include <string.h>

// Labels: 0..51 letters (upper case first), 52.. the dims of the ellipsis, aligned at the right.
enum { LETTERS = 52, MAX_LABELS = LETTERS + ONYX_MAX_RANK };

typedef struct term {
  int rank;
  int label[ONYX_MAX_RANK];
} term;

typedef struct einsum {
  int num_terms;
  term *terms; // one an operand
  term out;
  bool known;                    // the ranks of all operands are
  const dim *extent[MAX_LABELS]; // NULL: label not used
} einsum;

static int label_of(char ch) {
  return isupper((unsigned char)ch) ? ch - 'A' : 26 + ch - 'a';
}

// One term's text, up to `end`, with `dots` dims behind its ellipsis. *letters counts the letters.
static bool parse_term(op_view *v, const char *p, const char *end, int dots, term *t,
                       bool *ellipsis) {
  t->rank = 0;
  *ellipsis = false;
  for (; p < end; p++) {
    if (*p == ' ')
      continue;
    if (end - p >= 3 && !strncmp(p, "...", 3)) {
      if (*ellipsis)
        return view_error(v, "equation: a term has two ellipses");
      *ellipsis = true;
      p += 2;
      for (int i = 0; i < dots && t->rank < ONYX_MAX_RANK; i++)
        t->label[t->rank++] = MAX_LABELS - dots + i;
      continue;
    }
    if (!isalpha((unsigned char)*p))
      return view_error(v, "equation: expected letters, '...', ',' or '->', found '%c'", *p);
    if (t->rank == ONYX_MAX_RANK)
      return view_error(v, "equation: a term has more than %d labels", ONYX_MAX_RANK);
    t->label[t->rank++] = label_of(*p);
  }
  return true;
}

static const char *term_end(const char *p, const char *end) {
  while (p < end && *p != ',')
    p++;
  return p;
}

// Joins the extents of equal labels; a constant disagreement is an error, 1 broadcasts.
static bool bind_extents(op_view *v, einsum *e, int operand) {
  const term *t = &e->terms[operand];
  for (int i = 0; i < t->rank; i++) {
    const dim *own = view_dim(v, operand, i), **all = &e->extent[t->label[i]];
    int64_t x, y;
    if (*all && dim_is_const(*all, &x) && dim_is_const(own, &y) && x != y && x != 1 && y != 1)
      return view_error(v, "operand %d: dim %d is %lld, but its label stands for %lld elsewhere",
                        operand, i, (long long)y, (long long)x);
    *all = *all ? dim_broadcast(v->dims, *all, own) : own;
  }
  return true;
}

static bool parse_inputs(op_view *v, einsum *e, const char *p, const char *end) {
  e->num_terms = 1;
  for (const char *q = p; q < end; q++)
    e->num_terms += *q == ',';
  if (e->num_terms != v->num_operands)
    return view_error(v, "equation: has %d terms for %d operands", e->num_terms, v->num_operands);
  e->terms = ONYX_NEW_ARRAY(v->arena, term, e->num_terms);
  e->known = true;
  for (int i = 0; i < e->num_terms; i++, p++) {
    const char *stop = term_end(p, end);
    bool ellipsis;
    term *t = &e->terms[i];
    if (!parse_term(v, p, stop, 0, t, &ellipsis))
      return false;
    int rank = view_rank(v, i), dots = rank - t->rank;
    if (rank < 0)
      e->known = false;
    else if (dots < 0 || (dots > 0 && !ellipsis))
      return view_error(v, "operand %d: the equation has %d labels for rank %d", i, t->rank, rank);
    else if (!parse_term(v, p, stop, dots, t, &ellipsis) || !bind_extents(v, e, i))
      return false;
    p = stop;
  }
  return true;
}

// Without "->": the ellipsis' dims, then the letters that occur once, in alphabetical order.
static void implicit_output(einsum *e) {
  int count[MAX_LABELS] = {0};
  for (int i = 0; i < e->num_terms; i++)
    for (int k = 0; k < e->terms[i].rank; k++)
      count[e->terms[i].label[k]]++;
  e->out.rank = 0;
  for (int l = LETTERS; l < MAX_LABELS; l++)
    if (count[l])
      e->out.label[e->out.rank++] = l;
  for (int l = 0; l < LETTERS; l++)
    if (count[l] == 1)
      e->out.label[e->out.rank++] = l;
}

static int ellipsis_dims(const einsum *e) {
  int n = 0;
  for (int l = LETTERS; l < MAX_LABELS; l++)
    n += e->extent[l] != NULL;
  return n;
}

static bool einsum_of(op_view *v, einsum *e) {
  memset(e, 0, sizeof *e);
  const char *text = view_string(v, "equation"), *arrow = strstr(text, "->");
  const char *end = text + strlen(text);
  if (!parse_inputs(v, e, text, arrow ? arrow : end) || !e->known)
    return v->error == NULL;
  if (!arrow) {
    implicit_output(e);
    return true;
  }
  bool ellipsis;
  if (!parse_term(v, arrow + 2, end, ellipsis_dims(e), &e->out, &ellipsis))
    return false;
  for (int i = 0; i < e->out.rank; i++) {
    if (!e->extent[e->out.label[i]])
      return view_error(v, "equation: label %d of the output occurs in no input", i);
    for (int k = 0; k < i; k++)
      if (e->out.label[k] == e->out.label[i])
        return view_error(v, "equation: a label occurs twice in the output");
  }
  return true;
}

static bool verify_einsum(op_view *v) {
  einsum e;
  return einsum_of(v, &e);
}

static bool shape_einsum(op_view *v, shape_result *results) {
  einsum e;
  if (!einsum_of(v, &e))
    return false;
  if (!e.known)
    return true;
  const dim *dims[ONYX_MAX_RANK];
  for (int i = 0; i < e.out.rank; i++)
    dims[i] = e.extent[e.out.label[i]];
  shape_set(v, results, 0, e.out.rank, dims);
  return true;
}

// Loops over the output's labels, then over the summed ones; loop[l] is label l's.
static int einsum_loops(const einsum *e, comp_loop *loops, int *loop) {
  int n = 0;
  for (int l = 0; l < MAX_LABELS; l++)
    loop[l] = -1;
  for (int i = 0; i < e->out.rank; i++) {
    loop[e->out.label[i]] = n;
    loops[n++] = (comp_loop){LOOP_PARALLEL, e->extent[e->out.label[i]]};
  }
  for (int l = 0; l < MAX_LABELS; l++) {
    if (!e->extent[l] || loop[l] >= 0)
      continue;
    loop[l] = n;
    loops[n++] = (comp_loop){LOOP_REDUCTION, e->extent[l]};
  }
  return n;
}

static const expr *einsum_read(comprehension *c, const einsum *e, int operand, const int *loop) {
  const term *t = &e->terms[operand];
  const expr *index[ONYX_MAX_RANK];
  for (int i = 0; i < t->rank; i++) {
    const dim *own = view_dim(c->view, operand, i);
    const expr *l = expr_loop(c, loop[t->label[i]]);
    if (own == e->extent[t->label[i]] || (own->op == DIM_CONST && own->value != 1))
      index[i] = l;
    else if (dim_is(own, 1))
      index[i] = expr_index(c, 0);
    else
      index[i] = expr_select(c, expr_compare(c, EXPR_EQ, expr_dim(c, own), expr_index(c, 1)),
                             expr_index(c, 0), l);
  }
  return expr_read(c, operand, t->rank, index);
}

static bool comp_einsum(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  einsum e;
  if (!einsum_of(v, &e))
    return false;
  if (!e.known)
    return view_error(v, "the rank of an operand is not known");
  comp_loop loops[MAX_LABELS];
  int loop[MAX_LABELS];
  int n = einsum_loops(&e, loops, loop);
  onyx_elem elem = view_elem(v, 0);
  int type = expr_compute_type(elem);
  comp_stage *s = comp_stage_begin(c, n, loops);
  const expr *y = NULL;
  for (int i = 0; i < e.num_terms; i++) {
    const expr *x = expr_cast(c, einsum_read(c, &e, i, loop), type);
    y = y ? expr_binary(c, EXPR_MUL, y, x) : x;
  }
  if (n > e.out.rank)
    y = expr_acc(c, comp_acc_combine(c, s, ACC_ADD, type, y, NULL), type);
  const expr *out[ONYX_MAX_RANK];
  for (int i = 0; i < e.out.rank; i++)
    out[i] = expr_loop(c, i);
  comp_write_at(c, s, comp_result(c, 0), e.out.rank, out, expr_cast(c, y, elem), NULL);
  return true;
}

const op_def ops_einsum[] = {{"Einsum", verify_einsum, shape_einsum, comp_einsum}};
const int num_ops_einsum = 1;
