//===- lower_guard.c - Loops that run past a buffer --------------------------------===//
//
// Shapes that should agree may not at run time: the reduction of a MatMul, a broadcast. A read at a
// plain loop variable stays in bounds if the loop's extent is no larger than the axis; where the
// dims do not prove it, one comparison before the nest does. If it fails the status says so (code
// 3) and the nest does not run.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/lower.h"

#include <string.h>

enum { MAX_GUARDS = 64 };

struct guard {
  const dim *extent, *size; // of the loop, of the axis
  bool or_one;              // a broadcast: the axis may be 1 as well, else it must agree
};

struct guards {
  const comprehension *c;
  const comp_stage *stage;
  struct guard list[MAX_GUARDS];
  int count;
  bool *seen;
};

static void add_guard(struct guards *g, const dim *extent, const dim *size, bool or_one) {
  if (extent == size ||
      (extent->op == DIM_CONST && size->op == DIM_CONST && extent->value <= size->value))
    return;
  for (int i = 0; i < g->count; ++i)
    if (g->list[i].extent == extent && g->list[i].size == size)
      return;
  if (g->count < MAX_GUARDS)
    g->list[g->count++] = (struct guard){extent, size, or_one};
}

// select(size == extent, loop, 0): comp_broadcast_index.
static bool is_broadcast(const expr *x) {
  return x->op == EXPR_SELECT && x->args[1]->op == EXPR_LOOP && x->args[2]->op == EXPR_CONST &&
         !x->args[2]->i && x->args[0]->op == EXPR_EQ && x->args[0]->args[0]->op == EXPR_DIM;
}

static void guard_read(struct guards *g, const expr *r) {
  const comp_buffer *b = &g->c->buffers[r->i];
  for (int k = 0; k < r->num_args; ++k) {
    const expr *x = r->args[k];
    if (x->op == EXPR_LOOP)
      add_guard(g, g->stage->loops[x->i].extent, b->dims[k], false);
    else if (is_broadcast(x) && x->args[0]->args[0]->dim == b->dims[k])
      add_guard(g, g->stage->loops[x->args[1]->i].extent, b->dims[k], true);
  }
}

static void guard_expr(struct guards *g, const expr *x) {
  if (!x || g->seen[x->id])
    return;
  g->seen[x->id] = true;
  if (x->op == EXPR_READ && !x->pad)
    guard_read(g, x);
  for (int i = 0; i < x->num_args; ++i)
    guard_expr(g, x->args[i]);
  guard_expr(g, x->pad);
}

static void collect(struct guards *g) {
  const comp_stage *s = g->stage;
  for (int i = 0; i < s->num_accs; ++i) {
    guard_expr(g, s->accs[i].init);
    guard_expr(g, s->accs[i].step);
  }
  for (int i = 0; i < s->num_writes; ++i) {
    guard_expr(g, s->writes[i].value);
    guard_expr(g, s->writes[i].guard);
    for (int k = 0; k < s->writes[i].num_indices; ++k) {
      const expr *x = s->writes[i].index[k];
      guard_expr(g, x);
      if (x->op == EXPR_LOOP && !s->writes[i].guard)
        add_guard(g, s->loops[x->i].extent, g->c->buffers[s->writes[i].buffer].dims[k], false);
    }
  }
}

// i1: all loops of the stage stay in the buffers they read; null when the dims prove it.
MlirValue lower_guard(struct lower_block *b, struct op_plan *p, const comp_stage *s) {
  struct guards g = {
      .c = p->c, .stage = s, .seen = lower_alloc(b->function->lower, p->c->num_exprs + 1)};
  MlirValue all = {NULL};
  collect(&g);
  for (int i = 0; i < g.count; ++i) {
    MlirValue extent = emit_dim(&b->dims, g.list[i].extent),
              size = emit_dim(&b->dims, g.list[i].size);
    if (mlirValueIsNull(extent) || mlirValueIsNull(size))
      continue;
    MlirValue ok = ir_cmpi(&b->ir, g.list[i].or_one ? IR_EQ : IR_SLE, extent, size);
    if (g.list[i].or_one)
      ok = ir_binary(&b->ir, "arith.ori", ok, ir_cmpi(&b->ir, IR_EQ, size, ir_index(&b->ir, 1)));
    emit_fail_unless(&b->ir, b->function->status, ok, 3, p->node, size, extent);
    all = mlirValueIsNull(all) ? ok : ir_binary(&b->ir, "arith.andi", all, ok);
  }
  return all;
}
