// Text of a comprehension, and its count of arithmetic operations.
#include "dialects/onnx/ops/comprehension.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[] = {[EXPR_CONST] = "const",     [EXPR_LOOP] = "loop",
                                       [EXPR_DIM] = "dim",         [EXPR_ACC] = "acc",
                                       [EXPR_READ] = "read",       [EXPR_ADD] = "add",
                                       [EXPR_SUB] = "sub",         [EXPR_MUL] = "mul",
                                       [EXPR_DIV] = "div",         [EXPR_FLOORDIV] = "floordiv",
                                       [EXPR_MOD] = "mod",         [EXPR_REM] = "rem",
                                       [EXPR_MIN] = "min",         [EXPR_MAX] = "max",
                                       [EXPR_POW] = "pow",         [EXPR_AND] = "and",
                                       [EXPR_OR] = "or",           [EXPR_XOR] = "xor",
                                       [EXPR_SHL] = "shl",         [EXPR_SHR] = "shr",
                                       [EXPR_ATAN2] = "atan2",     [EXPR_NEG] = "neg",
                                       [EXPR_ABS] = "abs",         [EXPR_NOT] = "not",
                                       [EXPR_FLOOR] = "floor",     [EXPR_CEIL] = "ceil",
                                       [EXPR_ROUND] = "round",     [EXPR_TRUNC] = "trunc",
                                       [EXPR_SQRT] = "sqrt",       [EXPR_EXP] = "exp",
                                       [EXPR_LOG] = "log",         [EXPR_LOG1P] = "log1p",
                                       [EXPR_EXPM1] = "expm1",     [EXPR_SIN] = "sin",
                                       [EXPR_COS] = "cos",         [EXPR_TAN] = "tan",
                                       [EXPR_ASIN] = "asin",       [EXPR_ACOS] = "acos",
                                       [EXPR_ATAN] = "atan",       [EXPR_SINH] = "sinh",
                                       [EXPR_COSH] = "cosh",       [EXPR_TANH] = "tanh",
                                       [EXPR_ASINH] = "asinh",     [EXPR_ACOSH] = "acosh",
                                       [EXPR_ATANH] = "atanh",     [EXPR_ERF] = "erf",
                                       [EXPR_EQ] = "eq",           [EXPR_NE] = "ne",
                                       [EXPR_LT] = "lt",           [EXPR_LE] = "le",
                                       [EXPR_GT] = "gt",           [EXPR_GE] = "ge",
                                       [EXPR_ISNAN] = "isnan",     [EXPR_ISINF] = "isinf",
                                       [EXPR_SELECT] = "select",   [EXPR_CAST] = "cast",
                                       [EXPR_BITCAST] = "bitcast", [EXPR_CHECK] = "check"};

typedef struct text {
  onyx_arena *arena;
  FILE *out;
  const comprehension *c;
} text;

static const char *type_name(int type) {
  const char *name = type == ONYX_INDEX ? "index" : onyx_elem_mlir_name((onyx_elem)type);
  return name ? name : "none";
}

static char *dim_string(const text *t, const dim *d) {
  return dim_text(t->arena, d, NULL, NULL);
}

static void print_expr(const text *t, const expr *e);

static void print_args(const text *t, int n, const expr *const *args) {
  for (int i = 0; i < n; i++) {
    if (i)
      fputs(", ", t->out);
    print_expr(t, args[i]);
  }
}

static void print_expr(const text *t, const expr *e) {
  switch (e->op) {
  case EXPR_CONST:
    if (e->type != ONYX_INDEX && onyx_elem_is_float((onyx_elem)e->type))
      fprintf(t->out, "%.9g:%s", e->f, type_name(e->type));
    else if (e->type == ONYX_INDEX)
      fprintf(t->out, "%lld", (long long)e->i);
    else
      fprintf(t->out, "%lld:%s", (long long)e->i, type_name(e->type));
    return;
  case EXPR_LOOP:
    fprintf(t->out, "i%lld", (long long)e->i);
    return;
  case EXPR_DIM:
    fprintf(t->out, "dim(%s)", dim_string(t, e->dim));
    return;
  case EXPR_ACC:
    fprintf(t->out, "acc%lld", (long long)e->i);
    return;
  case EXPR_READ:
    fprintf(t->out, "b%lld[", (long long)e->i);
    print_args(t, e->num_args, e->args);
    fputs("]", t->out);
    if (e->pad) {
      fputs(" else ", t->out);
      print_expr(t, e->pad);
    }
    return;
  default:
    break;
  }
  fprintf(t->out, "%s", op_names[e->op]);
  if (e->op == EXPR_CAST || e->op == EXPR_BITCAST)
    fprintf(t->out, "<%s%s>", type_name(e->type), e->saturate ? ", saturate" : "");
  if (e->op == EXPR_CHECK)
    fprintf(t->out, "<%lld>", (long long)e->i);
  fputs("(", t->out);
  print_args(t, e->num_args, e->args);
  fputs(")", t->out);
}

static void print_stage(const text *t, const comp_stage *s) {
  static const char *const kinds[] = {"parallel", "ordered", "reduction"};
  fputs("for", t->out);
  for (int i = 0; i < s->num_loops; i++)
    fprintf(t->out, "%s i%d %s 0..%s", i ? "," : "", i, kinds[s->loops[i].kind],
            dim_string(t, s->loops[i].extent));
  fputs(":\n", t->out);
  for (int k = 0; k < s->num_accs; k++) {
    fprintf(t->out, "  acc%d : %s = ", k, type_name(s->accs[k].type));
    print_expr(t, s->accs[k].init);
    fputs(" then ", t->out);
    print_expr(t, s->accs[k].step);
    fputs("\n", t->out);
  }
  for (int w = 0; w < s->num_writes; w++) {
    fprintf(t->out, "  b%d[", s->writes[w].buffer);
    print_args(t, s->writes[w].num_indices, s->writes[w].index);
    fputs("] = ", t->out);
    print_expr(t, s->writes[w].value);
    if (s->writes[w].guard) {
      fputs(" if ", t->out);
      print_expr(t, s->writes[w].guard);
    }
    fputs("\n", t->out);
  }
}

char *comp_text(onyx_arena *arena, const comprehension *c) {
  char *bytes = NULL;
  size_t size = 0;
  text t = {arena, open_memstream(&bytes, &size), c};
  if (!t.out)
    return onyx_arena_printf(arena, "%s", "");
  for (int b = 0; b < c->num_buffers; b++) {
    fprintf(t.out, "b%d : ", b);
    for (int k = 0; k < c->buffers[b].rank; k++)
      fprintf(t.out, "%s x ", dim_string(&t, c->buffers[b].dims[k]));
    fprintf(t.out, "%s%s\n", type_name(c->buffers[b].elem),
            b < c->num_operands                    ? ""
            : b < c->num_operands + c->num_results ? " (result)"
                                                   : " (temporary)");
  }
  if (c->alias_of >= 0)
    fprintf(t.out, "alias of b%d\n", c->alias_of);
  for (int s = 0; s < c->num_stages; s++) {
    for (int k = 0; k < c->num_late; k++)
      if (c->late[k].stages == s)
        fprintf(t.out, "%s = b%d\n", dim_string(&t, c->late[k].symbol), c->late[k].buffer);
    print_stage(&t, &c->stages[s]);
  }
  fclose(t.out);
  char *copy = onyx_arena_printf(arena, "%s", bytes ? bytes : "");
  free(bytes);
  return copy;
}

// --- cost

static bool counts(const expr *e) {
  if (e->type == ONYX_INDEX || e->type == ONYX_BOOL)
    return false;
  return (e->op >= EXPR_ADD && e->op <= EXPR_POW) || e->op == EXPR_ATAN2 || e->op == EXPR_NEG ||
         e->op == EXPR_ABS || (e->op >= EXPR_FLOOR && e->op <= EXPR_ERF);
}

// Operations reachable from e that were not counted yet.
static int64_t count_expr(const expr *e, unsigned char *seen) {
  if (!e || seen[e->id])
    return 0;
  seen[e->id] = 1;
  int64_t n = counts(e);
  if (e->op == EXPR_READ)
    return count_expr(e->pad, seen); // its indices are index arithmetic
  for (int i = 0; i < e->num_args; i++)
    n += count_expr(e->args[i], seen);
  return n;
}

const dim *comp_flops(const comprehension *c) {
  dim_context *dims = c->view->dims;
  const dim *total = dim_const(dims, 0);
  for (int s = 0; s < c->num_stages; s++) {
    const comp_stage *stage = &c->stages[s];
    unsigned char *seen = ONYX_NEW_ARRAY(c->view->arena, unsigned char, c->num_exprs + 1);
    const dim *outer = dim_const(dims, 1), *inner = outer;
    for (int i = 0; i < stage->num_loops; i++) {
      const dim *extent = dim_max(dims, stage->loops[i].extent, dim_const(dims, 0));
      if (stage->loops[i].kind == LOOP_REDUCTION)
        inner = dim_mul(dims, inner, extent);
      else
        outer = dim_mul(dims, outer, extent);
    }
    int64_t steps = 0, writes = 0;
    for (int k = 0; k < stage->num_accs; k++)
      steps += count_expr(stage->accs[k].step, seen);
    for (int w = 0; w < stage->num_writes; w++)
      writes += count_expr(stage->writes[w].value, seen);
    const dim *each =
        dim_add(dims, dim_mul(dims, inner, dim_const(dims, steps)), dim_const(dims, writes));
    total = dim_add(dims, total, dim_mul(dims, outer, each));
  }
  return total;
}
