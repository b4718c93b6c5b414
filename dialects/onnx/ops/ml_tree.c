// TreeEnsemble: nodes in flat tables; a walk is a reduction over the depth whose accumulator is the
// node.
#include "dialects/onnx/ops/convert.h"
#include "dialects/onnx/ops/ml_util.h"
#include "dialects/onnx/ops/op.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, NUM_MODES };

// Flat tree: state s < num_nodes is a node, else leaf s - num_nodes.
typedef struct forest {
  int64_t num_nodes, num_leaves, num_trees, targets, depth;
  int64_t *feature, *yes, *no, *missing; // missing: NaN goes to yes
  double *split;
  int64_t *mode;
  int64_t cap;
  uint8_t used[NUM_MODES];
  bool any_missing;
} forest;

static const onnx_attr *ints(op_view *v, const char *name, int64_t n, const char *like) {
  const onnx_attr *a = view_attr(v, name);
  if (a->n == n)
    return a;
  view_error(v, "%s: expected %" PRId64 " entries as %s, found %" PRId64, name, n, like, a->n);
  return NULL;
}

// Number k of a tensor attribute.
static double tensor_number(const onnx_attr *a, int64_t k) {
  return onyx_element_to_double(a->tensor->type.elem, a->tensor->data, k);
}

static bool tensor_of(op_view *v, const char *name, int64_t n, const onnx_attr **out) {
  *out = view_attr(v, name);
  if (!(*out)->tensor || (*out)->tensor->num_elements != n)
    return view_error(v, "%s: expected a tensor of %" PRId64 " elements, found %" PRId64, name, n,
                      (*out)->tensor ? (*out)->tensor->num_elements : 0);
  return (*out)->tensor->data || view_error(v, "%s: the values are not known", name);
}

static bool forest_sizes(op_view *v, forest *f) {
  f->num_nodes = view_attr(v, "nodes_featureids")->n;
  f->num_leaves = view_attr(v, "leaf_targetids")->n;
  f->num_trees = view_attr(v, "tree_roots")->n;
  f->targets = view_attr(v, "n_targets")->kind ? view_int(v, "n_targets") : 1;
  if (f->num_nodes < 1 || f->num_leaves < 1 || f->num_trees < 1 || f->targets < 1)
    return view_error(v, "expected at least one node, leaf, tree root and target");
  for (int64_t i = 0; i < f->num_leaves; i++) {
    int64_t t = view_attr(v, "leaf_targetids")->ints[i];
    if (t < 0 || t >= f->targets)
      return view_error(v,
                        "leaf_targetids: entry %" PRId64 " is %" PRId64 ", expected below %" PRId64,
                        i, t, f->targets);
  }
  return true;
}

// Room for the nodes and for those that sets are spread into.
static void forest_alloc(op_view *v, forest *f, int64_t members) {
  f->cap = f->num_nodes + members;
  f->feature = ONYX_NEW_ARRAY(v->arena, int64_t, f->cap);
  f->yes = ONYX_NEW_ARRAY(v->arena, int64_t, f->cap);
  f->no = ONYX_NEW_ARRAY(v->arena, int64_t, f->cap);
  f->missing = ONYX_NEW_ARRAY(v->arena, int64_t, f->cap);
  f->mode = ONYX_NEW_ARRAY(v->arena, int64_t, f->cap);
  f->split = ONYX_NEW_ARRAY(v->arena, double, f->cap);
}

static bool read_branch(op_view *v, const char *name, const char *leaf, const forest *f,
                        int64_t *out) {
  const onnx_attr *to = ints(v, name, f->num_nodes, "nodes_featureids");
  const onnx_attr *is_leaf = ints(v, leaf, f->num_nodes, "nodes_featureids");
  if (!to || !is_leaf)
    return false;
  for (int64_t i = 0; i < f->num_nodes; i++) {
    int64_t end = is_leaf->ints[i] ? f->num_leaves : f->num_nodes;
    if (to->ints[i] < 0 || to->ints[i] >= end)
      return view_error(v, "%s: entry %" PRId64 " is %" PRId64 ", expected below %" PRId64, name, i,
                        to->ints[i], end);
    out[i] = is_leaf->ints[i] ? -1 - to->ints[i]
                              : to->ints[i]; // leaves negative until nodes are counted
  }
  return true;
}

// A node that asks for membership becomes a chain of equality tests, one a member.
static bool spread_sets(op_view *v, forest *f) {
  const onnx_attr *values = view_attr(v, "membership_values");
  int64_t at = 0, total = values->tensor ? values->tensor->num_elements : 0, n = f->num_nodes;
  for (int64_t i = 0; i < f->num_nodes; i++) {
    if (f->mode[i] != MEMBER)
      continue;
    int64_t node = i, no = f->no[i], count = 0;
    for (; at < total && !isnan(tensor_number(values, at)); at++, count++) {
      if (count > 0) {
        f->no[node] = n;
        node = n++;
        f->feature[node] = f->feature[i];
        f->yes[node] = f->yes[i];
        f->missing[node] = 0;
      }
      f->mode[node] = EQ;
      f->split[node] = tensor_number(values, at);
      f->no[node] = no;
    }
    at++; // the NaN that ends a set
    if (count == 0)
      return view_error(v, "membership_values: node %" PRId64 " has no members", i);
  }
  f->num_nodes = n;
  return true;
}

// Depth of the forest: longest walk, by relaxing edges at most num_nodes times (a longer one is a
// cycle).
static bool measure(op_view *v, forest *f) {
  int64_t *depth = ONYX_NEW_ARRAY(v->arena, int64_t, f->num_nodes);
  int64_t *stack = ONYX_NEW_ARRAY(v->arena, int64_t, f->num_nodes + 1);
  char *state = ONYX_NEW_ARRAY(v->arena, char, f->num_nodes); // 1: on the walk, 2: done
  const onnx_attr *roots = view_attr(v, "tree_roots");
  for (int64_t r = 0; r < roots->n; r++) {
    if (roots->ints[r] < 0 || roots->ints[r] >= f->num_nodes)
      return view_error(v, "tree_roots: entry %" PRId64 " is %" PRId64 ", expected below %" PRId64,
                        r, roots->ints[r], f->num_nodes);
    int64_t top = 0;
    stack[top++] = roots->ints[r];
    while (top) {
      int64_t n = stack[top - 1], below = 0, next = -1;
      int64_t branch[] = {f->yes[n], f->no[n]};
      state[n] = 1;
      for (int k = 0; k < 2; k++) {
        if (branch[k] < 0)
          continue;
        if (state[branch[k]] == 1)
          return view_error(v, "node %" PRId64 " is its own ancestor", branch[k]);
        if (!state[branch[k]])
          next = branch[k];
        else if (depth[branch[k]] > below)
          below = depth[branch[k]];
      }
      if (next >= 0) {
        stack[top++] = next;
        continue;
      }
      depth[n] = below + 1;
      state[n] = 2;
      top--;
    }
    f->depth = depth[roots->ints[r]] > f->depth ? depth[roots->ints[r]] : f->depth;
  }
  return true;
}

static bool read_nodes(op_view *v, forest *f) {
  const onnx_attr *modes, *splits, *weights, *members = view_attr(v, "membership_values");
  if (!tensor_of(v, "nodes_modes", f->num_nodes, &modes) ||
      !tensor_of(v, "nodes_splits", f->num_nodes, &splits) ||
      !tensor_of(v, "leaf_weights", f->num_leaves, &weights))
    return false;
  if (members->tensor && !members->tensor->data && members->tensor->num_elements)
    return view_error(v, "membership_values: expected a constant tensor");
  forest_alloc(v, f, members->tensor ? members->tensor->num_elements : 0);
  const onnx_attr *missing = view_attr(v, "nodes_missing_value_tracks_true");
  if (missing->n &&
      !(missing = ints(v, "nodes_missing_value_tracks_true", f->num_nodes, "nodes_featureids")))
    return false;
  for (int64_t i = 0; i < f->num_nodes; i++) {
    f->feature[i] = view_attr(v, "nodes_featureids")->ints[i];
    f->split[i] = tensor_number(splits, i);
    f->mode[i] = (int64_t)tensor_number(modes, i);
    f->missing[i] = missing->n ? missing->ints[i] != 0 : 0;
    f->any_missing |= f->missing[i] != 0;
    if (f->mode[i] < LEQ || f->mode[i] > MEMBER)
      return view_error(v, "nodes_modes: entry %" PRId64 " is %" PRId64 ", expected 0 to 6", i,
                        f->mode[i]);
    if (f->feature[i] < 0)
      return view_error(v, "nodes_featureids: entry %" PRId64 " is negative", i);
  }
  return read_branch(v, "nodes_truenodeids", "nodes_trueleafs", f, f->yes) &&
         read_branch(v, "nodes_falsenodeids", "nodes_falseleafs", f, f->no);
}

static bool forest_of(op_view *v, forest *f) {
  *f = (forest){0};
  if (!forest_sizes(v, f) || !read_nodes(v, f) || !spread_sets(v, f) || !measure(v, f))
    return false;
  for (int64_t i = 0; i < f->num_nodes; i++) {
    f->used[f->mode[i]] = 1;
    f->yes[i] = f->yes[i] < 0 ? f->num_nodes - 1 - f->yes[i] : f->yes[i];
    f->no[i] = f->no[i] < 0 ? f->num_nodes - 1 - f->no[i] : f->no[i];
  }
  return true;
}

// Values that live in files are not read to verify.
static bool values_known(op_view *v) {
  static const char *const names[] = {"nodes_modes", "nodes_splits", "leaf_weights",
                                      "membership_values"};
  for (int i = 0; i < 4; i++) {
    const onnx_operand *t = view_attr(v, names[i])->tensor;
    if (t && t->num_elements && !t->data)
      return false;
  }
  return true;
}

static bool verify_tree(op_view *v) {
  forest f;
  int64_t aggregate = view_int(v, "aggregate_function"), post = view_int(v, "post_transform");
  if (view_rank(v, 0) >= 0 && view_rank(v, 0) != 2)
    return view_error(v, "operand 0 ('X'): expected rank 2, found rank %d", view_rank(v, 0));
  if (aggregate < 0 || aggregate > 3)
    return view_error(v, "aggregate_function: expected 0 to 3, found %" PRId64, aggregate);
  if (post < ML_NONE || post > ML_PROBIT)
    return view_error(v, "post_transform: expected 0 to 4, found %" PRId64, post);
  return !values_known(v) || forest_of(v, &f);
}

static bool shape_tree(op_view *v, shape_result *results) {
  int64_t targets = view_attr(v, "n_targets")->kind ? view_int(v, "n_targets") : 1;
  const dim *dims[] = {view_rank(v, 0) == 2 ? view_dim(v, 0, 0) : dim_unknown(v->dims),
                       dim_const(v->dims, targets)};
  results[0].type.elem = view_elem(v, 0);
  shape_set(v, results, 0, 2, dims);
  return true;
}

// --- the walk

static int table_of(comprehension *c, int64_t n, const int64_t *values) {
  return comp_table(c, ONYX_I64, n, values);
}

static const expr *test(comprehension *c, int mode, const expr *x, const expr *split) {
  static const expr_op ops[] = {EXPR_LE, EXPR_LT, EXPR_GE, EXPR_GT, EXPR_EQ, EXPR_NE};
  return expr_compare(c, ops[mode], x, split);
}

// The test of a node; only modes that occur cost anything.
static const expr *node_test(comprehension *c, const forest *f, int modes, const expr *node,
                             const expr *x, const expr *split) {
  const expr *yes = NULL;
  for (int m = NEQ; m >= LEQ; m--) {
    if (!f->used[m])
      continue;
    const expr *t = test(c, m, x, split);
    if (yes)
      yes = expr_select(
          c, expr_compare(c, EXPR_EQ, ml_at(c, modes, node), expr_int(c, ONYX_I64, m)), t, yes);
    else
      yes = t;
  }
  return yes;
}

// Temporary [rows, trees] of the leaf that each row reaches in each tree.
static int walk(comprehension *c, const forest *f, int type) {
  op_view *v = c->view;
  const dim *shape[] = {view_dim(v, 0, 0), dim_const(v->dims, f->num_trees)};
  int leaves = comp_temp(c, ONYX_I64, 2, shape);
  int feature = table_of(c, f->num_nodes, f->feature), modes = table_of(c, f->num_nodes, f->mode);
  int yes = table_of(c, f->num_nodes, f->yes), no = table_of(c, f->num_nodes, f->no);
  onnx_attr splits = {.n = f->num_nodes, .floats = f->split};
  int split = ml_float_table(c, type, &splits);
  int roots = ml_int_table(c, view_attr(v, "tree_roots"));
  const comp_loop loops[] = {{LOOP_PARALLEL, shape[0]},
                             {LOOP_PARALLEL, shape[1]},
                             {LOOP_REDUCTION, dim_const(v->dims, f->depth)}};
  comp_stage *s = comp_stage_begin(c, 3, loops);
  const expr *row = expr_loop(c, 0), *tree = expr_loop(c, 1), *state = expr_acc(c, 0, ONYX_INDEX);
  const expr *node = expr_binary(c, EXPR_MIN, state, expr_index(c, f->num_nodes - 1));
  const expr *columns = expr_dim(c, view_dim(v, 0, 1)),
             *column = expr_cast(c, ml_at(c, feature, node), ONYX_INDEX);
  const expr *last = expr_binary(c, EXPR_SUB, columns, expr_index(c, 1));
  const expr *safe = expr_check(c, expr_binary(c, EXPR_MIN, column, last),
                                expr_compare(c, EXPR_LT, column, columns), 1, column, columns);
  int64_t known, widest = 0;
  for (int64_t i = 0; i < f->num_nodes; i++)
    widest = f->feature[i] > widest ? f->feature[i] : widest;
  if (dim_is_const(view_dim(v, 0, 1), &known) && widest < known)
    safe = column;
  const expr *at[] = {row, safe}, *x = expr_cast(c, expr_read(c, 0, 2, at), type);
  const expr *taken = node_test(c, f, modes, node, x, ml_at(c, split, node));
  if (f->any_missing) {
    const expr *tracks =
        expr_compare(c, EXPR_NE, ml_at(c, table_of(c, f->num_nodes, f->missing), node),
                     expr_int(c, ONYX_I64, 0));
    taken = expr_binary(c, EXPR_OR, taken,
                        expr_binary(c, EXPR_AND, tracks, expr_unary(c, EXPR_ISNAN, x)));
  }
  const expr *next = expr_select(c, taken, ml_at(c, yes, node), ml_at(c, no, node));
  const expr *inner = expr_compare(c, EXPR_LT, state, expr_index(c, f->num_nodes));
  comp_acc_general(c, s, ONYX_INDEX, expr_cast(c, ml_at(c, roots, tree), ONYX_INDEX),
                   expr_select(c, inner, expr_cast(c, next, ONYX_INDEX), state));
  const expr *out[] = {row, tree};
  const expr *leaf = expr_binary(c, EXPR_SUB, state, expr_index(c, f->num_nodes));
  comp_write_at(c, s, leaves, 2, out, expr_cast(c, leaf, ONYX_I64), NULL);
  return leaves;
}

// Adds up (or takes the least, the greatest of) the weights that the leaves give each target.
static void aggregate(comprehension *c, const forest *f, int leaves, int scores, int type) {
  op_view *v = c->view;
  enum { AVERAGE, SUM, MIN, MAX };
  int64_t function = view_int(v, "aggregate_function");
  double *weights = ONYX_NEW_ARRAY(v->arena, double, f->num_leaves);
  for (int64_t i = 0; i < f->num_leaves; i++)
    weights[i] = tensor_number(view_attr(v, "leaf_weights"), i);
  onnx_attr values = {.n = f->num_leaves, .floats = weights};
  int weight = ml_float_table(c, type, &values),
      target = ml_int_table(c, view_attr(v, "leaf_targetids"));
  const comp_loop loops[] = {{LOOP_PARALLEL, view_dim(v, 0, 0)},
                             {LOOP_PARALLEL, dim_const(v->dims, f->targets)},
                             {LOOP_REDUCTION, dim_const(v->dims, f->num_trees)}};
  comp_stage *s = comp_stage_begin(c, 3, loops);
  const expr *at[] = {expr_loop(c, 0), expr_loop(c, 2)},
             *out[] = {expr_loop(c, 0), expr_loop(c, 1)};
  const expr *leaf = expr_cast(c, expr_read(c, leaves, 2, at), ONYX_INDEX);
  const expr *mine =
      expr_compare(c, EXPR_EQ, expr_cast(c, ml_at(c, target, leaf), ONYX_INDEX), out[1]);
  const expr *w = ml_at(c, weight, leaf), *zero = expr_zero(c, type);
  acc_kind kind = function == MIN ? ACC_MIN : function == MAX ? ACC_MAX : ACC_ADD;
  const expr *none = function == MIN   ? expr_highest(c, type)
                     : function == MAX ? expr_lowest(c, type)
                                       : zero;
  int acc =
      comp_acc_combine(c, s, kind, type, f->targets == 1 ? w : expr_select(c, mine, w, none), NULL);
  const expr *y = expr_acc(c, acc, type);
  if (function == AVERAGE)
    y = expr_binary(c, EXPR_DIV, y, expr_float(c, type, (double)f->num_trees));
  if (kind != ACC_ADD && f->targets > 1) // a target that no tree speaks of
    y = expr_select(c, expr_compare(c, EXPR_EQ, y, none), zero, y);
  comp_write_at(c, s, scores, 2, out, y, NULL);
}

static bool comp_tree(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  forest f;
  if (view_rank(v, 0) < 0)
    return view_error(v, "operand 0 ('X'): the rank is not known");
  if (!forest_of(v, &f))
    return false;
  int type = ml_compute_type(view_elem(v, 0));
  const dim *shape[] = {view_dim(v, 0, 0), dim_const(v->dims, f.targets)};
  int leaves = walk(c, &f, type), scores = comp_temp(c, (onyx_elem)type, 2, shape);
  aggregate(c, &f, leaves, scores, type);
  ml_post_transform(c, (ml_transform)view_int(v, "post_transform"), scores, comp_result(c, 0));
  return true;
}

const op_def ops_ml_tree[] = {{"TreeEnsemble", verify_tree, shape_tree, comp_tree}};
const int num_ops_ml_tree = 1;
