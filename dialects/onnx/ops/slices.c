#include "dialects/onnx/ops/slices.h"

void slices_init(comprehension *c, slices *s, int buffer) {
  const comp_buffer *b = &c->buffers[buffer];
  s->buffer = buffer;
  s->rank = b->rank;
  s->num_kept = 0;
  s->count = dim_const(c->view->dims, 1);
  for (int i = 0; i < b->rank; i++) {
    if (s->along[i])
      s->count = dim_mul(c->view->dims, s->count, b->dims[i]);
    else
      s->kept[s->num_kept++] = b->dims[i];
  }
}

comp_stage *slices_reduce(comprehension *c, const slices *s, const expr **in, const expr **out) {
  comp_loop loops[ONYX_MAX_RANK];
  const comp_buffer *b = &c->buffers[s->buffer];
  int n = 0;
  for (int i = 0; i < s->rank; i++) {
    if (s->along[i])
      continue;
    in[i] = out[n] = expr_loop(c, n);
    loops[n++] = (comp_loop){LOOP_PARALLEL, b->dims[i]};
  }
  for (int i = 0; i < s->rank; i++) {
    if (!s->along[i])
      continue;
    in[i] = expr_loop(c, n);
    loops[n++] = (comp_loop){LOOP_REDUCTION, b->dims[i]};
  }
  return comp_stage_begin(c, n, loops);
}

void slices_index(comprehension *c, const slices *s, const expr **out) {
  for (int i = 0, n = 0; i < s->rank; i++)
    if (!s->along[i])
      out[n++] = expr_loop(c, i);
}

int slices_temp(comprehension *c, const slices *s, int type) {
  return comp_temp(c, (onyx_elem)type, s->num_kept, s->kept);
}

const expr *slices_read(comprehension *c, const slices *s, int temp) {
  const expr *at[ONYX_MAX_RANK];
  slices_index(c, s, at);
  return expr_read(c, temp, s->num_kept, at);
}

static int reduce_mean_of(comprehension *c, const slices *s, int mean, int type) {
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  int temp = slices_temp(c, s, type);
  comp_stage *st = slices_reduce(c, s, in, out);
  const expr *x = expr_cast(c, expr_read(c, s->buffer, s->rank, in), type);
  if (mean >= 0) {
    x = expr_binary(c, EXPR_SUB, x, expr_read(c, mean, s->num_kept, out));
    x = expr_binary(c, EXPR_MUL, x, x);
  }
  int acc = comp_acc_combine(c, st, ACC_ADD, type, x, NULL);
  const expr *n = expr_cast(c, expr_dim(c, s->count), type);
  comp_write_at(c, st, temp, s->num_kept, out, expr_binary(c, EXPR_DIV, expr_acc(c, acc, type), n),
                NULL);
  return temp;
}

int slices_mean(comprehension *c, const slices *s, int type) {
  return reduce_mean_of(c, s, -1, type);
}

int slices_variance(comprehension *c, const slices *s, int mean, int type) {
  return reduce_mean_of(c, s, mean, type);
}
