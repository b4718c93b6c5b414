//===- lower_nest.c - Comprehensions as krnl nests ----------------------------------===//
//
// A stage is one krnl.define_loops: an outer krnl.iterate over the parallel and ordered loops, an
// inner one over the reductions with the accumulators as iter_args. Indices are affine.apply of the
// loops where they can be, so that accesses stay affine.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/lower.h"

#include <stdio.h>
#include <string.h>

struct nest {
  struct lower_block *block;
  struct op_plan *plan;
  const MlirValue *buffers;
  const comp_stage *stage;
  int num_outer;
};

static MlirValue nest_read(struct emit *e, struct ir *at, const expr *x, const MlirValue *index) {
  const struct nest *n = e->user;
  return krnl_build_load(at, n->buffers[x->i], x->num_args, index);
}

static MlirValue nest_extent(struct emit *e, struct ir *at, int buffer, int axis) {
  const struct nest *n = e->user;
  return ir_dim(at, n->buffers[buffer], axis);
}

static bool nest_fails(struct nest *n, const char *what) {
  lower_error(n->block->function->lower, n->plan->op, "%s", what);
  return false;
}

static void set_bounds(MlirContext ctx, int n, const comp_loop *loops, const MlirValue *extents,
                       const bool *computed, struct krnl_bound *lower, struct krnl_bound *upper) {
  for (int i = 0; i < n; ++i) {
    int64_t size;
    lower[i] = krnl_bound_constant(ctx, 0);
    upper[i] = dim_is_const(loops[i].extent, &size) && !computed[i]
                   ? krnl_bound_constant(ctx, size < 0 ? 0 : size)
                   : krnl_bound_value(ctx, &extents[i]);
  }
}

static bool emit_all(struct emit *e, int n, const comp_acc *accs, bool step, MlirValue *out) {
  for (int i = 0; i < n; ++i) {
    out[i] = emit_expr(e, step ? accs[i].step : accs[i].init);
    if (mlirValueIsNull(out[i]))
      return false;
  }
  return true;
}

// The reduction loops; accumulators are final afterwards.
static bool emit_reduction(struct nest *n, struct emit *e, const MlirValue *loops,
                           const struct krnl_bound *lower, const struct krnl_bound *upper) {
  const comp_stage *s = n->stage;
  MlirValue inits[64], steps[64];
  int num_inner = s->num_loops - n->num_outer;
  if (s->num_accs > 64)
    return nest_fails(n, "more than 64 accumulators");
  e->in_reduction = true;
  if (!emit_all(e, s->num_accs, s->accs, false, inits))
    return nest_fails(n, "an accumulator's initial value has no lowering");
  struct ir outer = e->at[1];
  MlirOperation inner = {NULL};
  if (num_inner) {
    inner = krnl_build_iterate(&e->at[1], num_inner, loops + n->num_outer, lower + n->num_outer,
                               upper + n->num_outer, s->num_accs, inits, &e->at[2]);
    e->at[1].before = inner;
    for (int i = 0; i < num_inner; ++i)
      e->loop_values[n->num_outer + i] = ir_arg(&e->at[2], i);
  } else {
    e->at[2] = e->at[1];
  }
  for (int i = 0; i < s->num_accs; ++i)
    e->acc_values[i] = num_inner ? ir_arg(&e->at[2], num_inner + i) : inits[i];
  if (!emit_all(e, s->num_accs, s->accs, true, steps))
    return nest_fails(n, "an expression has no lowering");
  if (num_inner)
    krnl_build_yield(&e->at[2], s->num_accs, steps);
  e->at[1] = outer;
  for (int i = 0; i < s->num_accs; ++i)
    e->acc_values[i] = num_inner ? ir_result(inner, i) : steps[i];
  emit_leave_reduction(e);
  return true;
}

static bool emit_write(struct nest *n, struct emit *e, const comp_write *w) {
  MlirValue value = emit_expr(e, w->value), index[ONYX_MAX_RANK];
  MlirValue guard = w->guard ? emit_expr(e, w->guard) : (MlirValue){NULL};
  bool ok = !mlirValueIsNull(value) && (!w->guard || !mlirValueIsNull(guard));
  for (int i = 0; ok && i < w->num_indices; ++i) {
    index[i] = emit_expr(e, w->index[i]);
    ok = !mlirValueIsNull(index[i]);
  }
  if (!ok)
    return nest_fails(n, "an expression has no lowering");
  struct ir at = e->at[1];
  if (w->guard)
    ir_if(&e->at[1], guard, 0, NULL, &at, NULL);
  krnl_build_store(&at, value, n->buffers[w->buffer], w->num_indices, index);
  emit_wrote(e);
  return true;
}

// Reduction loops that compute how often they run take their bound from the outer loops' body.
static bool emit_bounds(struct nest *n, struct emit *e, struct krnl_bound *upper,
                        MlirValue *counts) {
  for (int i = 0; n->stage->bounds && i < n->stage->num_loops; ++i) {
    if (!n->stage->bounds[i])
      continue;
    counts[i] = emit_expr(e, n->stage->bounds[i]);
    if (mlirValueIsNull(counts[i]))
      return nest_fails(n, "an expression has no lowering");
    upper[i] = krnl_bound_value(e->ctx, &counts[i]);
  }
  return true;
}

static bool emit_body(struct nest *n, struct emit *e, const MlirValue *loops,
                      const struct krnl_bound *lower, struct krnl_bound *upper) {
  MlirValue counts[ONYX_MAX_RANK * 2];
  if (!emit_bounds(n, e, upper, counts))
    return false;
  if (n->stage->num_accs && !emit_reduction(n, e, loops, lower, upper))
    return false;
  for (int i = 0; i < n->stage->num_writes; ++i)
    if (!emit_write(n, e, &n->stage->writes[i]))
      return false;
  return true;
}

// A name for each loop, for schedules: d0, d1, ... and r0, r1, ... for the reductions.
static void loop_labels(const struct nest *n, char text[][8], const char **labels) {
  for (int i = 0; i < n->stage->num_loops; ++i) {
    bool outer = i < n->num_outer;
    snprintf(text[i], 8, "%c%d", outer ? 'd' : 'r', (outer ? i : i - n->num_outer) % 1000);
    labels[i] = text[i];
  }
}

static const char *nest_name(struct nest *n, int stage) {
  struct lower *l = n->block->function->lower;
  const char *name = onnx_node_name_text(l->arena, n->plan->op);
  if (!*name)
    name = onyx_arena_printf(l->arena, "%s_%d", n->plan->view->schema->name, (int)n->plan->node);
  return stage ? onyx_arena_printf(l->arena, "%s.%d", name, stage) : name;
}

static bool emit_nest(struct nest *n, struct emit *e, int stage, const MlirValue *extents,
                      const bool *computed) {
  const comp_stage *s = n->stage;
  MlirContext ctx = e->ctx;
  struct ir ir = n->block->ir;
  MlirValue loops[ONYX_MAX_RANK * 2];
  struct krnl_bound lower[ONYX_MAX_RANK * 2], upper[ONYX_MAX_RANK * 2];
  char text[ONYX_MAX_RANK * 2][8];
  const char *labels[ONYX_MAX_RANK * 2];
  MlirOperation first = {NULL};
  // Sizes computed inside an scf.if or a loop are symbols in a scope of their own only.
  if (n->block->parent && s->num_loops) {
    struct ir body;
    first = krnl_build_region(&ir, &body);
    ir = body;
  }
  loop_labels(n, text, labels);
  if (s->num_loops) {
    MlirOperation define =
        krnl_build_define_loops(&ir, s->num_loops, loops, nest_name(n, stage), labels);
    first = mlirOperationIsNull(first) ? define : first;
  }
  set_bounds(ctx, s->num_loops, s->loops, extents, computed, lower, upper);
  struct ir outside = n->block->ir;
  if (!mlirOperationIsNull(first))
    outside.before = first;
  e->at[0] = e->at[1] = e->at[2] = outside;
  n->block->dims.ir = &e->at[0];
  // Constants that are met inside the nest go before it.
  struct lower_function *f = n->block->function;
  MlirOperation outermost = f->outermost;
  if (mlirOperationIsNull(outermost))
    f->outermost = first;
  if (n->num_outer) {
    krnl_build_iterate(&ir, n->num_outer, loops, lower, upper, 0, NULL, &e->at[1]);
    for (int i = 0; i < n->num_outer; ++i)
      e->loop_values[i] = ir_arg(&e->at[1], i);
  } else if (s->num_loops) {
    e->at[1] = ir;
  }
  bool ok = emit_body(n, e, loops, lower, upper);
  n->block->dims.ir = &n->block->ir;
  f->outermost = outermost;
  return ok;
}

static bool emit_stage(struct nest *n, int stage) {
  const comp_stage *s = n->stage = &n->plan->c->stages[stage];
  MlirValue extents[ONYX_MAX_RANK * 2];
  bool computed[ONYX_MAX_RANK * 2] = {false};
  if (s->num_loops > ONYX_MAX_RANK * 2)
    return nest_fails(n, "too many loops");
  n->num_outer = 0;
  for (int i = 0; i < s->num_loops; ++i) {
    n->num_outer += s->loops[i].kind != LOOP_REDUCTION;
    extents[i] = emit_dim(&n->block->dims, s->loops[i].extent);
    if (mlirValueIsNull(extents[i]))
      return nest_fails(n, "the extent of a loop depends on data that is not known here");
  }
  MlirValue fits = lower_guard(n->block, n->plan, s);
  if (!mlirValueIsNull(fits) && s->num_loops) {
    extents[0] = ir_select(&n->block->ir, fits, extents[0], ir_index(&n->block->ir, 0));
    computed[0] = true;
  }
  struct emit e = {.dims = &n->block->dims,
                   .ctx = n->block->function->lower->ctx,
                   .loops_outside = s->num_loops > 0,
                   .status = n->block->function->status,
                   .node = n->plan->node,
                   .read = nest_read,
                   .extent = nest_extent,
                   .user = n};
  emit_begin(&e, n->plan->c, s);
  bool ok = emit_nest(n, &e, stage, extents, computed);
  emit_end(&e);
  return ok;
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

static MlirValue product(struct ir *ir, int n, const MlirValue *sizes) {
  MlirValue p = ir_index(ir, 1);
  for (int i = 0; i < n; ++i)
    p = ir_binary(ir, "arith.muli", p, sizes[i]);
  return p;
}

static const dim *volume(dim_context *ctx, int rank, const dim *const *dims) {
  const dim *v = dim_const(ctx, 1);
  for (int i = 0; i < rank; ++i)
    v = dim_mul(ctx, v, dims[i]);
  return v;
}

// The sizes of the new shape, checked against the number of elements there is (status 4). Where
// they disagree a dynamic size becomes 0: no element is reachable then. False: nothing to make 0.
static bool checked_sizes(struct lower_block *b, struct op_plan *p, MlirValue of,
                          const onnx_type *t, MlirValue *sizes) {
  const onnx_type *from = &p->view->operands[p->c->alias_of].type;
  dim_context *ctx = p->view->dims;
  if (volume(ctx, t->rank, t->dims) == volume(ctx, from->rank, from->dims))
    return true;
  MlirValue have[ONYX_MAX_RANK];
  for (int i = 0; i < from->rank; ++i)
    have[i] = ir_dim(&b->ir, of, i);
  MlirValue found = product(&b->ir, t->rank, sizes), limit = product(&b->ir, from->rank, have);
  MlirValue ok = ir_cmpi(&b->ir, IR_EQ, found, limit);
  emit_fail_unless(&b->ir, b->function->status, ok, 4, p->node, found, limit);
  MlirValue zero = ir_index(&b->ir, 0);
  bool some = false;
  for (int i = 0; i < t->rank; ++i) {
    if (t->dims[i]->op == DIM_CONST)
      continue;
    sizes[i] = ir_select(&b->ir, ok, sizes[i], zero);
    some = true;
  }
  return some;
}

// A shape all static over a dynamic one: elements are copied as far as there are any.
static bool copy_alias(struct lower_block *b, struct op_plan *p, MlirValue of, const onnx_type *t) {
  const onnx_type *from = &p->view->operands[p->c->alias_of].type;
  MlirContext ctx = b->function->lower->ctx;
  struct storage *s;
  MlirValue to = lower_alloc_dims(b, t->elem, t->rank, t->dims, &s);
  int64_t dynamic = ir_dynamic();
  MlirType flat = ir_memref(emit_type(ctx, (int)t->elem), 1, &dynamic);
  MlirValue sizes[ONYX_MAX_RANK];
  for (int i = 0; i < from->rank; ++i)
    sizes[i] = ir_dim(&b->ir, of, i);
  MlirValue have = product(&b->ir, from->rank, sizes);
  int64_t want = 1;
  for (int i = 0; i < t->rank; ++i)
    want *= t->dims[i]->value;
  MlirValue count = ir_index(&b->ir, want);
  MlirValue flat_from = ir_reinterpret(&b->ir, of, flat, &have);
  MlirValue flat_to = ir_reinterpret(&b->ir, to, flat, &count);
  MlirValue index = ir_binary(&b->ir, "arith.minsi", have, count);
  struct ir body;
  ir_for(&b->ir, ir_index(&b->ir, 0), index, ir_index(&b->ir, 1), 0, NULL, &body);
  MlirValue i = ir_arg(&body, 0);
  ir_store(&body, ir_load(&body, flat_from, 1, &i), flat_to, 1, &i);
  lower_define(b, mlirOperationGetResult(p->op, 0), to, s);
  return true;
}

static bool lower_alias(struct lower_block *b, struct op_plan *p) {
  MlirValue operand = mlirOperationGetOperand(p->op, p->c->alias_of);
  MlirValue of = lower_value(b, operand);
  if (mlirValueIsNull(of))
    return false;
  const onnx_type *t = &p->results[0].type;
  MlirType type = emit_memref_type(b->function->lower->ctx, t->elem, t->rank, t->dims);
  MlirValue sizes[ONYX_MAX_RANK];
  for (int i = 0; i < t->rank; ++i) {
    sizes[i] = lower_size(b, t->dims[i]);
    if (mlirValueIsNull(sizes[i])) {
      lower_error(b->function->lower, p->op,
                  "the size of axis %d depends on data that is not known here", i);
      return false;
    }
  }
  if (!checked_sizes(b, p, of, t, sizes))
    return copy_alias(b, p, of, t);
  MlirValue made = mlirTypeEqual(mlirValueGetType(of), type) && mlirShapedTypeHasStaticShape(type)
                       ? of
                       : ir_reinterpret(&b->ir, of, type, sizes);
  lower_define(b, mlirOperationGetResult(p->op, 0), made, lower_find(b, operand)->storage);
  return true;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

static bool sizes_known(const comprehension *c, const dim *d, int stages_run) {
  if (!d || c->num_late == 0)
    return true;
  for (int k = 0; k < c->num_late; ++k)
    if (c->late[k].symbol == d)
      return c->late[k].stages <= stages_run;
  return sizes_known(c, d->a, stages_run) && sizes_known(c, d->b, stages_run) &&
         sizes_known(c, d->c, stages_run);
}

static MlirValue make_result(struct lower_block *b, struct op_plan *p, int r,
                             const comp_buffer *buffer) {
  struct lower_function *f = b->function;
  struct storage *s = NULL;
  MlirValue memref;
  if (f->is_init && p->offsets[r] >= 0) {
    MlirType type = emit_memref_type(f->lower->ctx, buffer->elem, buffer->rank, buffer->dims);
    memref = ir_view(&b->ir, f->constants, ir_index(&b->ir, p->offsets[r]), type, 0, NULL);
  } else {
    memref = lower_alloc_dims(b, buffer->elem, buffer->rank, buffer->dims, &s);
  }
  if (!mlirValueIsNull(memref))
    lower_define(b, mlirOperationGetResult(p->op, r), memref, s);
  return memref;
}

// Makes the results and temporaries whose sizes are known when so many stages have run.
static bool make_buffers(struct lower_block *b, struct op_plan *p, int stages_run,
                         MlirValue *buffers) {
  comprehension *c = p->c;
  for (int i = c->num_operands; i < c->num_buffers; ++i) {
    const comp_buffer *buffer = &c->buffers[i];
    int r = i - c->num_operands;
    bool result = r < c->num_results, ready = true;
    if (!mlirValueIsNull(buffers[i]) ||
        (result && (!p->view->wanted[r] || p->results[r].type.kind != ONYX_TYPE_TENSOR)))
      continue;
    for (int k = 0; k < buffer->rank; ++k)
      ready &= sizes_known(c, buffer->dims[k], stages_run);
    if (!ready)
      continue;
    struct storage *s; // of a temporary: lives for this op only
    if (result)
      buffers[i] = make_result(b, p, r, buffer);
    else if (buffer->data)
      buffers[i] = lower_table(b, p->op, buffer);
    else
      buffers[i] = lower_alloc_dims(b, buffer->elem, buffer->rank, buffer->dims, &s);
    if (mlirValueIsNull(buffers[i])) {
      lower_error(b->function->lower, p->op,
                  "the size of %s depends on data that is not known here",
                  result ? "a result" : "a temporary");
      return false;
    }
  }
  return true;
}

// Loads the sizes that the stages so far have computed.
static void load_late_sizes(struct lower_block *b, const comprehension *c, int stages_run,
                            const MlirValue *buffers) {
  for (int k = 0; k < c->num_late; ++k) {
    if (c->late[k].stages != stages_run)
      continue;
    MlirValue size =
        ir_to_index(&b->ir, krnl_build_load(&b->ir, buffers[c->late[k].buffer], 0, NULL));
    emit_dim_set(&b->dims, c->late[k].symbol,
                 ir_binary(&b->ir, "arith.maxsi", size, ir_index(&b->ir, 0)));
  }
}

bool lower_comprehension(struct lower_block *b, struct op_plan *p) {
  if (p->c->alias_of >= 0)
    return lower_alias(b, p);
  comprehension *c = p->c;
  MlirValue *buffers =
      lower_alloc(b->function->lower, sizeof(MlirValue) * (size_t)(c->num_buffers + 1));
  for (int i = 0; i < c->num_operands; ++i) {
    if (!view_has(p->view, i))
      continue;
    buffers[i] = lower_value(b, mlirOperationGetOperand(p->op, i));
    if (mlirValueIsNull(buffers[i]))
      return false;
  }
  struct nest n = {.block = b, .plan = p, .buffers = buffers};
  for (int i = 0; i <= c->num_stages; ++i) {
    load_late_sizes(b, c, i, buffers);
    if (!make_buffers(b, p, i, buffers) || (i < c->num_stages && !emit_stage(&n, i)))
      return false;
  }
  return true;
}
