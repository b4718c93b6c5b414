#include "importer/order.h"
#include "importer/tensors.h"

#include <string.h>

typedef struct producers {
  map by_name; // name to index + 1
  bool repeated;
} producers;

typedef struct edges {
  import *im;
  const producers *made;
  size_t *from; // producers of one node
  size_t count, room;
} edges;

// Names that the graphs around a use define, from the inside out.
typedef struct hidden {
  map names;
  const struct hidden *outer;
} hidden;

static void add_name(edges *e, str name, const hidden *inside) {
  for (; inside; inside = inside->outer)
    if (map_get(&inside->names, name))
      return;
  if (name.n == 0)
    return;
  size_t index = (size_t)map_get(&e->made->by_name, name);
  if (!index)
    return;
  if (e->count == e->room) {
    size_t room = e->room ? e->room * 2 : 16;
    size_t *larger = NEW_ARRAY(e->im, size_t, room);
    if (e->count)
      memcpy(larger, e->from, e->count * sizeof *larger);
    e->from = larger;
    e->room = room;
  }
  e->from[e->count++] = index - 1;
}

static void add_subgraphs(edges *e, const Onnx__NodeProto *n, const hidden *outer);

// Names that a subgraph uses and does not define. What it defines hides the outer names.
static void add_graph(edges *e, const Onnx__GraphProto *g, const hidden *outer) {
  hidden inner = {.outer = outer};
  static char here;
  for (size_t i = 0; i < g->n_input; i++)
    map_set(e->im, &inner.names, str_read(g->input[i]->name), &here);
  for (size_t i = 0; i < g->n_initializer; i++)
    map_set(e->im, &inner.names, str_read(g->initializer[i]->name), &here);
  for (size_t i = 0; i < g->n_node; i++)
    for (size_t k = 0; k < g->node[i]->n_output; k++)
      map_set(e->im, &inner.names, str_read(g->node[i]->output[k]), &here);
  for (size_t i = 0; i < g->n_node; i++) {
    for (size_t k = 0; k < g->node[i]->n_input; k++)
      add_name(e, str_read(g->node[i]->input[k]), &inner);
    add_subgraphs(e, g->node[i], &inner);
  }
  for (size_t i = 0; i < g->n_output; i++)
    add_name(e, str_read(g->output[i]->name), &inner);
}

static void add_subgraphs(edges *e, const Onnx__NodeProto *n, const hidden *outer) {
  for (size_t i = 0; i < n->n_attribute; i++) {
    const Onnx__AttributeProto *a = n->attribute[i];
    if (a->g)
      add_graph(e, a->g, outer);
    for (size_t k = 0; k < a->n_graphs; k++)
      add_graph(e, a->graphs[k], outer);
  }
}

static void find_edges(edges *e, const Onnx__NodeProto *n) {
  e->count = 0;
  for (size_t k = 0; k < n->n_input; k++)
    add_name(e, str_read(n->input[k]), NULL);
  add_subgraphs(e, n, NULL);
}

typedef struct visit {
  size_t node;
  size_t *from, count, next;
} visit;

enum { UNSEEN = 0, OPEN, DONE };

// Depth first from each node in turn: a sorted list comes out as it is.
static const size_t *sort(import *im, size_t count, Onnx__NodeProto *const *nodes,
                          const producers *made) {
  size_t *order = NEW_ARRAY(im, size_t, count + 1), placed = 0;
  unsigned char *state = NEW_ARRAY(im, unsigned char, count + 1);
  visit *stack = NEW_ARRAY(im, visit, count + 1);
  for (size_t root = 0; root < count; root++) {
    size_t depth = 0, node = root;
    bool enter = state[root] == UNSEEN;
    while (enter || depth) {
      if (enter) {
        edges e = {.im = im, .made = made};
        find_edges(&e, nodes[node]);
        state[node] = OPEN;
        stack[depth++] = (visit){node, e.from, e.count, 0};
      }
      visit *top = &stack[depth - 1];
      enter = false;
      if (top->next == top->count) {
        state[top->node] = DONE;
        order[placed++] = top->node;
        depth--;
        continue;
      }
      node = top->from[top->next++];
      if (state[node] == OPEN)
        import_fail(im, "node '%s' (%s): its operands depend on its results",
                    str_show(im, str_read(nodes[node]->name)),
                    str_show(im, str_read(nodes[node]->op_type)));
      enter = state[node] == UNSEEN;
    }
  }
  return order;
}

const size_t *order_nodes(import *im, size_t count, Onnx__NodeProto *const *nodes) {
  size_t *order = NEW_ARRAY(im, size_t, count + 1);
  producers made = {0};
  for (size_t i = 0; i < count; i++) {
    order[i] = i;
    for (size_t k = 0; k < nodes[i]->n_output; k++) {
      str name = str_read(nodes[i]->output[k]);
      if (name.n == 0)
        continue;
      made.repeated |= map_get(&made.by_name, name) != NULL;
      map_set(im, &made.by_name, name, (void *)(i + 1));
    }
  }
  if (made.repeated)
    return order; // a name that is defined twice means the latest, so the order stays
  edges e = {.im = im, .made = &made};
  for (size_t i = 0; i < count; i++) {
    find_edges(&e, nodes[i]);
    for (size_t k = 0; k < e.count; k++)
      if (e.from[k] >= i)
        return sort(im, count, nodes, &made);
  }
  return order;
}
