// Control flow: Scan-8 worked on a batch.
#include "importer/infer.h"
#include "importer/upgrade/upgrade.h"

// All operands had a batch dimension in front, and the body ran for each sample. That is a scan
// over the batch, without a state, whose body is the scan over the sequence.
static void scan_batch(upgrader *u, node *n) {
  if (node_in(n, 0))
    up_fail(u, n, "sequence_lens has no counterpart since version 9");
  int count = n->num_in - 1;
  node *inner = node_new(u->im, n->name, "Scan", count, n->num_out);
  graph *body = NEW(u->im, graph);
  inner->row = onyx_schema_newest("", "Scan");
  inner->opset = inner->row->since;
  body->outer = u->into;
  body->in = NEW_ARRAY(u->im, value *, (size_t)count + 1);
  body->out = NEW_ARRAY(u->im, value *, (size_t)n->num_out + 1);
  for (int i = 0; i < count; i++) {
    value *sample = value_new(u->im, str_of(""), type_unshaped(u->im, n->in[i + 1]->type));
    body->in[body->num_in++] = inner->in[i] = sample;
  }
  for (int i = 0; i < n->num_out; i++)
    body->out[body->num_out++] = inner->out[i] = value_new(u->im, str_of(""), NULL);
  inner->attrs = n->attrs;
  inner->num_attrs = n->num_attrs;
  attr_rename(inner, "directions", "scan_input_directions");
  infer_types(u->im, inner);
  graph_append(body, inner);

  node_set_inputs(u->im, n, count, n->in + 1);
  n->attrs = NULL;
  n->num_attrs = 0;
  attr_set_int(u->im, n, "num_scan_inputs", count);
  graph **list = NEW(u->im, graph *);
  *list = body;
  attr *a = attr_add(u->im, n, "body", ONYX_ATTR_GRAPH);
  a->graphs = list;
  a->count = 1;
}

static const upgrade_step steps[] = {
    {"Scan", 8, scan_batch},
};
const upgrade_family upgrade_control = {steps, sizeof steps / sizeof *steps};
