// TreeEnsembleClassifier and TreeEnsembleRegressor to TreeEnsemble-5.
//
// The old form lists nodes by (tree, node) pairs and any number of weights for a leaf; the new one
// has inner nodes and leaves in two arrays, and a leaf has one weight. A tree whose leaves have k
// weights becomes k trees that differ in their leaves. Base values become trees of one leaf.
#include "importer/upgrade/upgrade.h"

#include <stdio.h>
#include <string.h>

enum { LEAF = -1, LEAVES_MAX = 100000000 };

typedef struct old_node {
  int64_t tree, id;
  int mode; // LEAF or TreeEnsemble's number
  int64_t feature, missing_true;
  double split;
  int when_true, when_false; // indices
  int first_weight, num_weights;
  bool is_child, visited;
} old_node;

typedef struct weight {
  int node, next; // next of the same node, -1
  int64_t target;
  double value;
} weight;

// What the new operator's attributes list.
typedef struct lists {
  int count, room;
  int64_t *data[6];
  double *split;
} lists;

enum { FEATURE, MODE, MISSING, TRUE_ID, FALSE_ID, LEAF_FLAGS, NODE_LISTS };
enum { TARGET = 0, LEAF_LISTS };

typedef struct ensemble {
  upgrader *u;
  const node *n;
  onyx_elem elem;
  old_node *nodes;
  int num_nodes;
  weight *weights;
  int num_weights;
  double scale; // of all weights: 1 / trees for an average
  lists inner, leaves;
  int64_t *roots;
  int num_roots, room_roots;
} ensemble;

static _Noreturn void bad(const ensemble *e, const char *why) {
  up_fail(e->u, e->n, why);
}

static int push(ensemble *e, lists *l, int num_lists) {
  import *im = e->u->im;
  if (l->count >= LEAVES_MAX)
    bad(e, "has too many leaves");
  if (l->count == l->room) {
    int room = l->room ? l->room * 2 : 64;
    for (int i = 0; i < num_lists; i++) {
      int64_t *data = NEW_ARRAY(im, int64_t, (size_t)room);
      if (l->count)
        memcpy(data, l->data[i], (size_t)l->count * sizeof *data);
      l->data[i] = data;
    }
    double *split = NEW_ARRAY(im, double, (size_t)room);
    if (l->count)
      memcpy(split, l->split, (size_t)l->count * sizeof *split);
    l->split = split;
    l->room = room;
  }
  return l->count++;
}

static int64_t new_leaf(ensemble *e, int64_t target, double value) {
  int i = push(e, &e->leaves, LEAF_LISTS);
  e->leaves.data[TARGET][i] = target;
  e->leaves.split[i] = value * e->scale;
  return i;
}

static void add_root(ensemble *e, int64_t root) {
  if (e->num_roots == e->room_roots) {
    e->room_roots = e->room_roots ? e->room_roots * 2 : 64;
    int64_t *roots = NEW_ARRAY(e->u->im, int64_t, (size_t)e->room_roots);
    if (e->num_roots)
      memcpy(roots, e->roots, (size_t)e->num_roots * sizeof *roots);
    e->roots = roots;
  }
  e->roots[e->num_roots++] = root;
}

// A tree of one leaf: an inner node that goes to it either way.
static void add_single(ensemble *e, int64_t target, double value) {
  int i = push(e, &e->inner, NODE_LISTS);
  int64_t leaf = new_leaf(e, target, value);
  e->inner.data[TRUE_ID][i] = e->inner.data[FALSE_ID][i] = leaf;
  e->inner.data[LEAF_FLAGS][i] = 3;
  add_root(e, i);
}

// Reading the old attributes.

static const attr *list_of(ensemble *e, const char *name, onyx_attr_kind kind, int count) {
  const attr *a = attr_find(e->n, name);
  if (!a)
    return NULL;
  if (a->kind != kind || a->count != count)
    node_fail(e->u->im, e->n, "attribute '%s' has %d entries, expected %d", name, a->count, count);
  return a;
}

static const attr *need_ints(ensemble *e, const char *name, int count) {
  const attr *a = list_of(e, name, ONYX_ATTR_INTS, count);
  if (!a)
    node_fail(e->u->im, e->n, "lacks attribute '%s'", name);
  return a;
}

// Numbers as a list of floats or, since version 3, as a tensor. NULL when neither is there.
static double *numbers(ensemble *e, const char *name, int *count) {
  char tensor_name[64];
  snprintf(tensor_name, sizeof tensor_name, "%s_as_tensor", name);
  const attr *floats = attr_find(e->n, name), *a = attr_find(e->n, tensor_name);
  if (a && a->kind == ONYX_ATTR_TENSOR && a->count) {
    const tensor *t = a->tensors[0];
    if ((t->elem != ONYX_F32 && t->elem != ONYX_F64) || t->count > LEAVES_MAX)
      node_fail(e->u->im, e->n, "attribute '%s' is no tensor of floats", tensor_name);
    double *v = NEW_ARRAY(e->u->im, double, t->count + 1);
    for (uint64_t i = 0; i < t->count; i++) {
      float single;
      if (t->elem == ONYX_F64) {
        memcpy(&v[i], t->bytes + i * sizeof *v, sizeof *v);
        continue;
      }
      memcpy(&single, t->bytes + i * sizeof single, sizeof single);
      v[i] = single;
    }
    *count = (int)t->count;
    return v;
  }
  *count = 0;
  if (!floats || floats->kind != ONYX_ATTR_FLOATS)
    return NULL;
  double *v = NEW_ARRAY(e->u->im, double, (size_t)floats->count + 1);
  for (int i = 0; i < floats->count; i++)
    v[i] = floats->floats[i];
  *count = floats->count;
  return v;
}

static double *need_numbers(ensemble *e, const char *name, int expected) {
  int count;
  double *v = numbers(e, name, &count);
  if (!v || count != expected)
    node_fail(e->u->im, e->n, "attribute '%s' has %d entries, expected %d", name, count, expected);
  return v;
}

static int mode_number(ensemble *e, str mode) {
  static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                      "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  for (int i = 0; i < 6; i++)
    if (str_is(mode, modes[i]))
      return i;
  if (!str_is(mode, "LEAF"))
    node_fail(e->u->im, e->n, "has unknown node mode '%s'", str_show(e->u->im, mode));
  return LEAF;
}

static str pair_key(ensemble *e, int64_t tree, int64_t id) {
  int64_t *key = NEW_ARRAY(e->u->im, int64_t, 2);
  key[0] = tree;
  key[1] = id;
  return (str){(const char *)key, 2 * sizeof *key};
}

static int find_node(ensemble *e, const map *by_pair, int64_t tree, int64_t id) {
  size_t index = (size_t)map_get(by_pair, pair_key(e, tree, id));
  if (!index)
    node_fail(e->u->im, e->n, "tree %lld has no node %lld", (long long)tree, (long long)id);
  return (int)index - 1;
}

static void read_nodes(ensemble *e, map *by_pair) {
  const attr *ids = attr_find(e->n, "nodes_nodeids");
  int count = e->num_nodes = ids && ids->kind == ONYX_ATTR_INTS ? ids->count : 0;
  if (count == 0)
    bad(e, "has no nodes");
  const attr *trees = need_ints(e, "nodes_treeids", count);
  const attr *features = need_ints(e, "nodes_featureids", count);
  const attr *yes = need_ints(e, "nodes_truenodeids", count);
  const attr *no = need_ints(e, "nodes_falsenodeids", count);
  const attr *modes = list_of(e, "nodes_modes", ONYX_ATTR_STRINGS, count);
  const attr *missing = attr_find(e->n, "nodes_missing_value_tracks_true");
  if (missing && missing->count)
    missing = need_ints(e, "nodes_missing_value_tracks_true", count);
  else
    missing = NULL;
  double *splits = need_numbers(e, "nodes_values", count);
  if (!modes)
    bad(e, "lacks attribute 'nodes_modes'");
  e->nodes = NEW_ARRAY(e->u->im, old_node, (size_t)count);
  for (int i = 0; i < count; i++) {
    e->nodes[i] = (old_node){.tree = trees->ints[i],
                             .id = ids->ints[i],
                             .mode = mode_number(e, modes->strings[i]),
                             .feature = features->ints[i],
                             .split = splits[i],
                             .first_weight = -1,
                             .missing_true = missing ? missing->ints[i] != 0 : 0};
    str key = pair_key(e, trees->ints[i], ids->ints[i]);
    if (map_get(by_pair, key))
      bad(e, "has two nodes of one number in a tree");
    map_set(e->u->im, by_pair, key, (void *)((size_t)i + 1));
  }
  for (int i = 0; i < count; i++) {
    old_node *o = &e->nodes[i];
    if (o->mode == LEAF)
      continue;
    o->when_true = find_node(e, by_pair, o->tree, yes->ints[i]);
    o->when_false = find_node(e, by_pair, o->tree, no->ints[i]);
    e->nodes[o->when_true].is_child = e->nodes[o->when_false].is_child = true;
  }
}

// Weights of leaves; prefix is "class" or "target".
static void read_weights(ensemble *e, map *by_pair, const char *prefix, int64_t num_targets) {
  char name[4][32];
  static const char *const suffixes[] = {"ids", "nodeids", "treeids", "weights"};
  for (int i = 0; i < 4; i++)
    snprintf(name[i], sizeof name[i], "%s_%s", prefix, suffixes[i]);
  const attr *targets = attr_find(e->n, name[0]);
  int count = e->num_weights = targets && targets->kind == ONYX_ATTR_INTS ? targets->count : 0;
  if (count == 0)
    bad(e, "has no weights");
  const attr *ids = need_ints(e, name[1], count), *trees = need_ints(e, name[2], count);
  double *values = need_numbers(e, name[3], count);
  e->weights = NEW_ARRAY(e->u->im, weight, (size_t)count);
  for (int i = count - 1; i >= 0; i--) { // from behind: each leaf's list stays in order
    int at = find_node(e, by_pair, trees->ints[i], ids->ints[i]);
    if (targets->ints[i] < 0 || targets->ints[i] >= num_targets)
      node_fail(e->u->im, e->n, "weight %d is for target %lld of %lld", i,
                (long long)targets->ints[i], (long long)num_targets);
    e->weights[i] = (weight){at, e->nodes[at].first_weight, targets->ints[i], values[i]};
    e->nodes[at].first_weight = i;
    e->nodes[at].num_weights++;
  }
}

// Writing the new form.

static int64_t leaf_of_copy(ensemble *e, const old_node *o, int copy) {
  int w = o->first_weight;
  for (int i = 0; i < copy && w >= 0; i++)
    w = e->weights[w].next;
  return w < 0 ? new_leaf(e, 0, 0) : new_leaf(e, e->weights[w].target, e->weights[w].value);
}

typedef struct todo {
  int old;
  int64_t parent; // new index, -1 for the root
  bool when_true;
} todo;

static void link_child(ensemble *e, const todo *t, int64_t index, bool leaf) {
  if (t->parent < 0)
    return;
  e->inner.data[t->when_true ? TRUE_ID : FALSE_ID][t->parent] = index;
  if (leaf)
    e->inner.data[LEAF_FLAGS][t->parent] |= t->when_true ? 1 : 2;
}

// One copy of a tree. Each node is reached once, or the nodes are no tree.
static void copy_tree(ensemble *e, int root, int copy, todo *stack) {
  int depth = 0, steps = 0;
  stack[depth++] = (todo){root, -1, false};
  while (depth) {
    todo t = stack[--depth];
    const old_node *o = &e->nodes[t.old];
    if (++steps > e->num_nodes)
      bad(e, "has nodes that are no tree");
    if (o->mode == LEAF) {
      link_child(e, &t, leaf_of_copy(e, o, copy), true);
      continue;
    }
    int i = push(e, &e->inner, NODE_LISTS);
    e->inner.data[FEATURE][i] = o->feature;
    e->inner.data[MODE][i] = o->mode;
    e->inner.data[MISSING][i] = o->missing_true;
    e->inner.split[i] = o->split;
    link_child(e, &t, i, false);
    if (t.parent < 0)
      add_root(e, i);
    if (depth + 2 > e->num_nodes + 1)
      bad(e, "has nodes that are no tree");
    stack[depth++] = (todo){o->when_false, i, false};
    stack[depth++] = (todo){o->when_true, i, true};
  }
}

// The most weights that a leaf of the tree under root has, at least one.
static int count_copies(ensemble *e, int root, todo *stack) {
  int depth = 0, most = 1;
  stack[depth++].old = root;
  while (depth) {
    old_node *o = &e->nodes[stack[--depth].old];
    if (o->visited)
      bad(e, "has nodes that are no tree");
    o->visited = true;
    if (o->mode == LEAF) {
      most = o->num_weights > most ? o->num_weights : most;
      continue;
    }
    stack[depth++].old = o->when_false;
    stack[depth++].old = o->when_true;
  }
  return most;
}

static int count_trees(ensemble *e) {
  int count = 0;
  for (int i = 0; i < e->num_nodes; i++)
    count += !e->nodes[i].is_child;
  return count;
}

static void write_trees(ensemble *e, bool single_weights) {
  todo *stack = NEW_ARRAY(e->u->im, todo, (size_t)e->num_nodes + 2);
  for (int root = 0; root < e->num_nodes; root++) {
    const old_node *o = &e->nodes[root];
    if (o->is_child)
      continue;
    int copies = count_copies(e, root, stack);
    if (single_weights && copies > 1)
      bad(e, "has several weights for a leaf, of which only sums and averages have a newer form");
    for (int copy = 0; copy < copies; copy++)
      if (o->mode != LEAF) {
        copy_tree(e, root, copy, stack);
      } else {
        int w = o->first_weight;
        for (int i = 0; i < copy; i++)
          w = e->weights[w].next;
        add_single(e, w < 0 ? 0 : e->weights[w].target, w < 0 ? 0 : e->weights[w].value);
      }
  }
  for (int i = 0; i < e->num_nodes; i++)
    if (!e->nodes[i].visited)
      bad(e, "has nodes that are no tree");
}

static void set_floats(ensemble *e, node *to, const char *name, int count, const double *v) {
  int64_t dims[] = {count};
  void *bytes;
  if (e->elem == ONYX_F64) {
    bytes = NEW_ARRAY(e->u->im, double, (size_t)count + 1);
    memcpy(bytes, v, (size_t)count * sizeof *v);
  } else {
    float *singles = bytes = NEW_ARRAY(e->u->im, float, (size_t)count + 1);
    for (int i = 0; i < count; i++)
      singles[i] = (float)v[i];
  }
  const tensor **list = NEW(e->u->im, const tensor *);
  *list = tensor_new(e->u->im, e->elem, 1, dims, bytes);
  attr *a = attr_add(e->u->im, to, name, ONYX_ATTR_TENSOR);
  a->tensors = list;
  a->count = 1;
}

static void set_modes(ensemble *e, node *to) {
  int64_t dims[] = {e->inner.count};
  unsigned char *bytes = NEW_ARRAY(e->u->im, unsigned char, (size_t)e->inner.count + 1);
  for (int i = 0; i < e->inner.count; i++)
    bytes[i] = (unsigned char)e->inner.data[MODE][i];
  const tensor **list = NEW(e->u->im, const tensor *);
  *list = tensor_new(e->u->im, ONYX_U8, 1, dims, bytes);
  attr *a = attr_add(e->u->im, to, "nodes_modes", ONYX_ATTR_TENSOR);
  a->tensors = list;
  a->count = 1;
}

static void set_leaf_flags(ensemble *e, node *to, const char *name, int bit) {
  int64_t *v = NEW_ARRAY(e->u->im, int64_t, (size_t)e->inner.count + 1);
  for (int i = 0; i < e->inner.count; i++)
    v[i] = (e->inner.data[LEAF_FLAGS][i] & bit) != 0;
  attr_set_ints(e->u->im, to, name, e->inner.count, v);
}

static void set_attrs(ensemble *e, node *to, int64_t targets, int aggregate, int post) {
  import *im = e->u->im;
  int count = e->inner.count;
  attr_set_int(im, to, "aggregate_function", aggregate);
  attr_set_int(im, to, "n_targets", targets);
  attr_set_int(im, to, "post_transform", post);
  attr_set_ints(im, to, "tree_roots", e->num_roots, e->roots);
  attr_set_ints(im, to, "nodes_featureids", count, e->inner.data[FEATURE]);
  attr_set_ints(im, to, "nodes_truenodeids", count, e->inner.data[TRUE_ID]);
  attr_set_ints(im, to, "nodes_falsenodeids", count, e->inner.data[FALSE_ID]);
  attr_set_ints(im, to, "nodes_missing_value_tracks_true", count, e->inner.data[MISSING]);
  set_leaf_flags(e, to, "nodes_trueleafs", 1);
  set_leaf_flags(e, to, "nodes_falseleafs", 2);
  set_floats(e, to, "nodes_splits", count, e->inner.split);
  set_modes(e, to);
  attr_set_ints(im, to, "leaf_targetids", e->leaves.count, e->leaves.data[TARGET]);
  set_floats(e, to, "leaf_weights", e->leaves.count, e->leaves.split);
}

// The operand as the new operator takes it: integers become floats.
static value *operand(ensemble *e) {
  value *x = node_in(e->n, 0);
  if (!x)
    bad(e, "lacks its operand");
  if (value_elem(x) == ONYX_F32 || value_elem(x) == ONYX_F64)
    return x;
  node *cast = up_node(e->u, e->n, "Cast", 1, &x);
  attr_set_int(e->u->im, cast, "to", ONYX_F32);
  return up_emit(e->u, e->n, cast);
}

static ensemble begin(upgrader *u, const node *n) {
  ensemble e = {.u = u, .n = n, .scale = 1};
  e.elem = value_elem(node_in(n, 0)) == ONYX_F64 ? ONYX_F64 : ONYX_F32;
  return e;
}

enum { NONE = 0, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT };

static int post_number(ensemble *e) {
  static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  str post = attr_str(e->n, "post_transform", "NONE");
  for (int i = 0; i < 5; i++)
    if (str_is(post, names[i]))
      return i;
  node_fail(e->u->im, e->n, "has unknown post_transform '%s'", str_show(e->u->im, post));
}

// Turns n into a Cast to float where the old operator gave that of doubles.
static void finish_as_float(ensemble *e, node *n, value *y) {
  up_become(e->u, n, e->elem == ONYX_F64 ? "Cast" : "Identity", 1, &y);
  if (e->elem == ONYX_F64)
    attr_set_int(e->u->im, n, "to", ONYX_F32);
}

static void regressor(upgrader *u, node *n) {
  static const char *const aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  ensemble e = begin(u, n);
  int64_t targets = attr_int(n, "n_targets", 1);
  int aggregate = 1, post = post_number(&e), num_base;
  str wanted = attr_str(n, "aggregate_function", "SUM");
  for (int i = 0; i < 4; i++)
    if (str_is(wanted, aggregates[i]))
      aggregate = i;
  map by_pair = {0};
  read_nodes(&e, &by_pair);
  read_weights(&e, &by_pair, "target", targets);
  double *base = numbers(&e, "base_values", &num_base);
  if (base && num_base != targets && num_base != 0)
    bad(&e, "has not one base value for each target");
  bool extreme = aggregate >= 2;
  if (extreme && num_base)
    bad(&e, "base values of a minimum or maximum have no newer form");
  if (aggregate == 0) { // copies of trees would count in an average
    e.scale = 1.0 / count_trees(&e);
    aggregate = 1;
  }
  write_trees(&e, extreme);
  e.scale = 1;
  for (int i = 0; i < num_base; i++)
    if (base[i] != 0)
      add_single(&e, i, base[i]);
  value *x = operand(&e);
  if (e.elem == ONYX_F32) {
    up_become(u, n, "TreeEnsemble", 1, &x);
    set_attrs(&e, n, targets, aggregate, post);
    return;
  }
  node *helper = up_node(u, n, "TreeEnsemble", 1, &x);
  set_attrs(&e, helper, targets, aggregate, post);
  finish_as_float(&e, n, up_emit(u, n, helper));
}

// Labels of the classes at `index`, of shape [N].
static void emit_labels(ensemble *e, value *index, value *out) {
  const attr *strings = attr_find(e->n, "classlabels_strings");
  const attr *ints = attr_find(e->n, "classlabels_int64s");
  value *labels;
  if (strings && strings->count) {
    int64_t dims[] = {strings->count};
    tensor *t = tensor_new(e->u->im, ONYX_STRING, 1, dims, NULL);
    t->strings = strings->strings;
    labels = up_constant(e->u, e->n, t);
  } else {
    labels = up_ints(e->u, e->n, ints->count, ints->ints);
  }
  value *in[] = {labels, index};
  node *gather = up_node(e->u, e->n, "Gather", 2, in);
  if (out)
    gather->out[0] = out;
  up_emit(e->u, e->n, gather);
}

static value *emit_unary(ensemble *e, const char *op, value *in) {
  return up_op(e->u, e->n, op, 1, &in);
}

static value *emit_two_columns(ensemble *e, value *first, value *second) {
  value *in[] = {first, second};
  node *concat = up_node(e->u, e->n, "Concat", 2, in);
  attr_set_int(e->u->im, concat, "axis", 1);
  return up_emit(e->u, e->n, concat);
}

// Whether the score of a single class chooses the second of two: above 0.5 when no weight is
// negative (a probability), else above 0.
static value *second_chosen(ensemble *e, value *score, bool probability) {
  value *flat_in[] = {score, up_int(e->u, e->n, -1)};
  value *in[] = {up_op(e->u, e->n, "Reshape", 2, flat_in),
                 up_scalar(e->u, e->n, e->elem, probability ? 0.5 : 0)};
  value *yes = up_op(e->u, e->n, "Greater", 2, in);
  node *cast = up_node(e->u, e->n, "Cast", 1, &yes);
  attr_set_int(e->u->im, cast, "to", ONYX_I64);
  return up_emit(e->u, e->n, cast);
}

static value *emit_trees(ensemble *e, value *x, int64_t targets, int post) {
  node *helper = up_node(e->u, e->n, "TreeEnsemble", 1, &x);
  set_attrs(e, helper, targets, 1, post);
  return up_emit(e->u, e->n, helper);
}

// Two classes, weights for class 0 only: the score s is that of the second class. The scores are
// (-s, s) through the logistic function if asked, else (1 - s, s) when s is a probability, else
// (-s, s) (onnxruntime; the standard is silent).
static value *one_score(ensemble *e, value *x, int post, bool probability, value **chosen) {
  if (post == PROBIT)
    bad(e, "PROBIT of two classes with weights for one has no newer form");
  value *s = emit_trees(e, x, 1, NONE);
  *chosen = second_chosen(e, s, probability);
  value *negative = emit_unary(e, "Neg", s);
  if (post == LOGISTIC)
    return emit_two_columns(e, emit_unary(e, "Sigmoid", negative), emit_unary(e, "Sigmoid", s));
  if (probability) {
    value *in[] = {up_scalar(e->u, e->n, e->elem, 1), s};
    return emit_two_columns(e, up_op(e->u, e->n, "Sub", 2, in), s);
  }
  return emit_two_columns(e, negative, s);
}

static value *transform(ensemble *e, value *x, value *raw, int64_t targets, int post) {
  if (post == NONE)
    return raw;
  if (post == LOGISTIC)
    return emit_unary(e, "Sigmoid", raw);
  if (post == SOFTMAX)
    return up_op_axis(e->u, e->n, "Softmax", raw, 1);
  return emit_trees(e, x, targets, post);
}

// A score for each class; the label is that of the highest, of equal ones the first. Where weights
// are for the second of two classes only, its score alone chooses.
static value *all_scores(ensemble *e, value *x, int64_t classes, int post, bool second_only,
                         bool probability, value **chosen) {
  value *raw = emit_trees(e, x, classes, NONE);
  if (second_only) {
    value *in[] = {raw, up_int(e->u, e->n, 1)};
    node *column = up_node(e->u, e->n, "Gather", 2, in);
    attr_set_int(e->u->im, column, "axis", 1);
    *chosen = second_chosen(e, up_emit(e->u, e->n, column), probability);
  } else {
    node *top = up_node(e->u, e->n, "ArgMax", 1, &raw);
    attr_set_int(e->u->im, top, "axis", 1);
    attr_set_int(e->u->im, top, "keepdims", 0);
    *chosen = up_emit(e->u, e->n, top);
  }
  return transform(e, x, raw, classes, post);
}

static void classifier(upgrader *u, node *n) {
  node *old = NEW(u->im, node);
  *old = *n; // its attributes are read while n becomes something else
  ensemble e = begin(u, old);
  const attr *strings = attr_find(n, "classlabels_strings"),
             *ints = attr_find(n, "classlabels_int64s");
  int64_t classes = strings && strings->count ? strings->count : ints ? ints->count : 0;
  if (classes == 0)
    bad(&e, "has no class labels");
  map by_pair = {0};
  read_nodes(&e, &by_pair);
  read_weights(&e, &by_pair, "class", classes);
  int post = post_number(&e), num_base;
  double *base = numbers(&e, "base_values", &num_base);
  bool one_class = true, probability = true;
  for (int i = 0; i < e.num_weights; i++) {
    one_class &= e.weights[i].target == e.weights[0].target;
    probability &= e.weights[i].value >= 0;
  }
  bool single = classes == 2 && one_class && e.weights[0].target == 0;
  bool second_only = classes == 2 && one_class && !single;
  if (num_base && (single ? num_base != 1 : second_only || num_base != classes))
    bad(&e, "has not one base value for each class");
  write_trees(&e, false);
  for (int i = 0; i < num_base; i++)
    if (base[i] != 0)
      add_single(&e, i, base[i]);
  value *x = operand(&e), *chosen, *scores;
  if (single)
    scores = one_score(&e, x, post, probability, &chosen);
  else
    scores = all_scores(&e, x, classes, post, second_only, probability, &chosen);
  emit_labels(&e, chosen, n->num_out > 0 ? n->out[0] : NULL);
  // The node itself gives the scores.
  n->out[0] = node_has_out(n, 1) ? n->out[1] : value_new(u->im, str_of(""), NULL);
  n->declared[0] = n->num_out > 1 ? n->declared[1] : NULL;
  n->num_out = 1;
  finish_as_float(&e, n, scores);
}

// Steps of one operator stand together, oldest first.
static const upgrade_step steps[] = {
    {"TreeEnsembleClassifier", 5, classifier},
    {"TreeEnsembleRegressor", 5, regressor},
};
const upgrade_family upgrade_trees = {steps, sizeof steps / sizeof *steps};
