#include "importer/stats.h"
#include "importer/literal.h"
#include "onnx.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct op_count {
  str op;
  int count;
} op_count;

typedef struct tally {
  import *im;
  map by_op;
  op_count **ops;
  int num_ops, room;
  int nodes, subgraphs, constants, large;
  uint64_t bytes;
} tally;

static void count_op(tally *t, str op) {
  op_count *c = map_get(&t->by_op, op);
  if (!c) {
    c = NEW(t->im, op_count);
    c->op = op;
    map_set(t->im, &t->by_op, op, c);
    if (t->num_ops == t->room) {
      t->room = t->room ? t->room * 2 : 32;
      op_count **larger = NEW_ARRAY(t->im, op_count *, (size_t)t->room);
      if (t->num_ops)
        memcpy(larger, t->ops, (size_t)t->num_ops * sizeof *larger);
      t->ops = larger;
    }
    t->ops[t->num_ops++] = c;
  }
  c->count++;
}

static void count_tensor(tally *t, const tensor *data) {
  t->constants++;
  t->bytes += data->size;
  t->large += data->count > (uint64_t)t->im->options.inline_elements;
}

static void count_graph(tally *t, const graph *g) {
  for (int i = 0; i < g->num_constants; i++)
    count_tensor(t, g->constants[i]->data);
  for (const node *n = g->first; n; n = n->next) {
    if (n->num_out == 1 && n->out[0] && n->out[0]->data) {
      count_tensor(t, n->out[0]->data);
      continue;
    }
    t->nodes++;
    count_op(t, n->row || n->callee.n ? n->op : str_format(t->im, "%s.%s", n->domain.p, n->op.p));
    for (int i = 0; i < n->num_attrs; i++)
      for (int k = 0; n->attrs[i].graphs && k < n->attrs[i].count; k++) {
        t->subgraphs++;
        count_graph(t, n->attrs[i].graphs[k]);
      }
  }
}

// Most frequent first, then by name.
static int by_count(const void *a, const void *b) {
  const op_count *x = *(op_count *const *)a, *y = *(op_count *const *)b;
  return x->count != y->count ? y->count - x->count : strcmp(x->op.p, y->op.p);
}

static void print_values(import *im, FILE *out, const char *what, int count, value *const *values) {
  for (int i = 0; i < count; i++) {
    fprintf(out, "%s %s ", what, str_show(im, values[i]->name));
    literal_type(out, values[i]->type);
    const type *t = values[i]->type;
    for (int k = 0; t && t->kind == ONYX_TYPE_TENSOR && k < t->rank; k++)
      if (t->dims[k].param.n && t->dims[k].size < 0)
        fprintf(out, " %d:%s", k, str_show(im, t->dims[k].param));
    fputc('\n', out);
  }
}

void print_stats(import *im, const model *m, FILE *out) {
  tally t = {.im = im};
  for (int i = 0; i < m->num_functions; i++)
    count_graph(&t, m->functions[i]);
  count_graph(&t, m->main);
  fprintf(out, "ir_version %" PRId64 "\n", im->proto->ir_version);
  for (int i = 0; i < m->num_opsets; i++)
    fprintf(out, "opset %s %" PRId64 "\n",
            m->opsets[i].domain.n ? str_show(im, m->opsets[i].domain) : "ai.onnx",
            m->opsets[i].version);
  print_values(im, out, "input", m->main->num_in, m->main->in);
  print_values(im, out, "output", m->main->num_out, m->main->out);
  fprintf(out, "nodes %d\nsubgraphs %d\n", t.nodes, t.subgraphs);
  fprintf(out, "constants %d, %d of them in files\nweights %" PRIu64 " bytes\n", t.constants,
          t.large, t.bytes);
  if (t.num_ops)
    qsort(t.ops, (size_t)t.num_ops, sizeof *t.ops, by_count);
  for (int i = 0; i < t.num_ops; i++)
    fprintf(out, "%8d %s\n", t.ops[i]->count, str_show(im, t.ops[i]->op));
}
