#include "importer/infer.h"

#include <stdlib.h>
#include <string.h>

const type *type_unshaped(import *im, const type *t) {
  if (!t || t->kind == ONYX_TYPE_NONE)
    return t;
  if (t->kind == ONYX_TYPE_TENSOR)
    return t->ranked || t->sparse ? type_tensor(im, t->elem) : t;
  type *copy = NEW(im, type);
  *copy = *t;
  copy->of = type_unshaped(im, t->of);
  return copy;
}

static const type *elem_attr(import *im, const node *n, const char *name, const type *fallback) {
  const attr *a = attr_find(n, name);
  if (!a || a->kind != ONYX_ATTR_INT || a->i == 0)
    return fallback;
  if (a->i < 0 || a->i >= ONYX_ELEM_COUNT)
    node_fail(im, n, "attribute '%s' has unknown element type %lld", name, (long long)a->i);
  return type_tensor(im, (onyx_elem)a->i);
}

static const type *operand_type(const node *n, int i) {
  const value *v = node_in(n, i);
  return v ? v->type : NULL;
}

static const type *inner(const type *t) {
  return t && (t->kind == ONYX_TYPE_SEQ || t->kind == ONYX_TYPE_OPT) ? t->of : NULL;
}

// Rules for results that no operand of the same constraint decides.
typedef const type *rule_fn(import *im, const node *n, int result);

static const type *rule_to(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "to", NULL);
}

static const type *rule_dtype_f32(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "dtype", type_tensor(im, ONYX_F32));
}

static const type *rule_dtype_i32(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "dtype", type_tensor(im, ONYX_I32));
}

static const type *rule_dtype_like(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "dtype", operand_type(n, 0));
}

static const type *rule_window(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "output_datatype", type_tensor(im, ONYX_F32));
}

static const type *rule_quantize(import *im, const node *n, int r) {
  (void)r;
  const type *zero_point = operand_type(n, 2);
  return zero_point ? zero_point : elem_attr(im, n, "output_dtype", type_tensor(im, ONYX_U8));
}

static const type *rule_dequantize(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "output_dtype", operand_type(n, 1));
}

static const type *rule_fill(import *im, const node *n, int r) {
  (void)r;
  const attr *a = attr_find(n, "value");
  return type_tensor(im, a && a->count ? a->tensors[0]->elem : ONYX_F32);
}

static const type *rule_stash(import *im, const node *n, int r) {
  (void)r;
  return elem_attr(im, n, "stash_type", type_tensor(im, ONYX_F32));
}

static const type *rule_seq_of_operand(import *im, const node *n, int r) {
  (void)r;
  const type *t = operand_type(n, 0);
  return t ? type_wrap(im, ONYX_TYPE_SEQ, t) : NULL;
}

static const type *rule_seq_empty(import *im, const node *n, int r) {
  return type_wrap(im, ONYX_TYPE_SEQ, rule_dtype_f32(im, n, r));
}

static const type *rule_inner(import *im, const node *n, int r) {
  (void)im;
  (void)r;
  return inner(operand_type(n, 0));
}

// OptionalGetElement takes what is no optional as it is.
static const type *rule_opt_element(import *im, const node *n, int r) {
  (void)im;
  (void)r;
  const type *t = operand_type(n, 0);
  return t && t->kind == ONYX_TYPE_OPT ? t->of : t;
}

static const type *rule_optional(import *im, const node *n, int r) {
  (void)r;
  const attr *a = attr_find(n, "type");
  const type *t = operand_type(n, 0) ? operand_type(n, 0) : a && a->count ? a->types[0] : NULL;
  return t ? type_wrap(im, ONYX_TYPE_OPT, t) : NULL;
}

static const type *subgraph_out(const node *n, const char *name, int i) {
  const attr *a = attr_find(n, name);
  const graph *g = a && a->count ? a->graphs[0] : NULL;
  return g && i >= 0 && i < g->num_out ? g->out[i]->type : NULL;
}

static const type *rule_if(import *im, const node *n, int r) {
  const type *then_type = subgraph_out(n, "then_branch", r);
  const type *else_type = subgraph_out(n, "else_branch", r);
  if (!then_type || !else_type)
    node_fail(im, n, "a branch has no output %d", r);
  // A branch may give a value where the other gives an optional of it.
  if (!type_same_kind(then_type, else_type))
    node_fail(im, n, "output %d is %s in then_branch and %s in else_branch", r,
              type_show(im, then_type), type_show(im, else_type));
  return then_type;
}

// The body gives the condition first, then what is carried, then the scan outputs.
static const type *rule_loop(import *im, const node *n, int r) {
  (void)im;
  return subgraph_out(n, "body", r + 1);
}

static const type *rule_scan(import *im, const node *n, int r) {
  (void)im;
  return subgraph_out(n, "body", r);
}

static const type *rule_sequence_map(import *im, const node *n, int r) {
  const type *t = subgraph_out(n, "body", r);
  return t ? type_wrap(im, ONYX_TYPE_SEQ, t) : NULL;
}

static const type *rule_constant(import *im, const node *n, int r) {
  (void)im;
  (void)r;
  return n->out[0]->type;
}

static bool names_strings(const node *n, const char *attr_name) {
  const attr *a = attr_find(n, attr_name);
  return a && a->count > 0;
}

// Labels of the classifiers are strings or integers.
static const type *rule_labels(import *im, const node *n, int r) {
  (void)r;
  return type_tensor(im, names_strings(n, "classlabels_strings") ? ONYX_STRING : ONYX_I64);
}

static const type *rule_zip_map(import *im, const node *n, int r) {
  (void)r;
  type *t = NEW(im, type);
  bool strings = names_strings(n, "classlabels_strings");
  *t = (type){.kind = ONYX_TYPE_MAP,
              .key = strings ? ONYX_STRING : ONYX_I64,
              .of = type_tensor(im, ONYX_F32)};
  return type_wrap(im, ONYX_TYPE_SEQ, t);
}

static const type *rule_cast_map(import *im, const node *n, int r) {
  (void)r;
  str to = attr_str(n, "cast_to", "TO_FLOAT");
  return type_tensor(im, str_is(to, "TO_STRING")  ? ONYX_STRING
                         : str_is(to, "TO_INT64") ? ONYX_I64
                                                  : ONYX_F32);
}

static const type *rule_category_mapper(import *im, const node *n, int r) {
  (void)r;
  const type *t = operand_type(n, 0);
  return t ? type_tensor(im, t->elem == ONYX_STRING ? ONYX_I64 : ONYX_STRING) : NULL;
}

static const type *rule_label_encoder(import *im, const node *n, int r) {
  (void)r;
  const attr *a = attr_find(n, "values_tensor");
  if (a && a->count)
    return type_tensor(im, a->tensors[0]->elem);
  return type_tensor(im, attr_find(n, "values_strings")  ? ONYX_STRING
                         : attr_find(n, "values_int64s") ? ONYX_I64
                                                         : ONYX_F32);
}

static const type *rule_dict_vectorizer(import *im, const node *n, int r) {
  (void)r;
  (void)im;
  const type *t = operand_type(n, 0);
  return t && t->kind == ONYX_TYPE_MAP ? t->of : NULL;
}

// Results of the optimizers repeat their tensor operands: after the rate R and the step T come the
// tensors, then gradients and states. Adagrad, Momentum and Adam give tensors, then states.
static const type *rule_optimizer(import *im, const node *n, int r) {
  (void)im;
  (void)r;
  return operand_type(n, 2);
}

static const type *rule_gradient(import *im, const node *n, int r) {
  (void)im;
  return operand_type(n, r);
}

typedef struct rule {
  const char *op;
  rule_fn *apply;
} rule;

static const rule rules[] = {
    // sorted by name
    {"Adagrad", rule_optimizer},
    {"Adam", rule_optimizer},
    {"Bernoulli", rule_dtype_like},
    {"BitCast", rule_to},
    {"BlackmanWindow", rule_window},
    {"Cast", rule_to},
    {"CastMap", rule_cast_map},
    {"CategoryMapper", rule_category_mapper},
    {"ConcatFromSequence", rule_inner},
    {"Constant", rule_constant},
    {"ConstantOfShape", rule_fill},
    {"DequantizeLinear", rule_dequantize},
    {"DictVectorizer", rule_dict_vectorizer},
    {"EyeLike", rule_dtype_like},
    {"Gradient", rule_gradient},
    {"HammingWindow", rule_window},
    {"HannWindow", rule_window},
    {"If", rule_if},
    {"LabelEncoder", rule_label_encoder},
    {"LayerNormalization", rule_stash},
    {"LinearClassifier", rule_labels},
    {"Loop", rule_loop},
    {"MelWeightMatrix", rule_window},
    {"Momentum", rule_optimizer},
    {"Multinomial", rule_dtype_i32},
    {"Optional", rule_optional},
    {"OptionalGetElement", rule_opt_element},
    {"QuantizeLinear", rule_quantize},
    {"RandomNormal", rule_dtype_f32},
    {"RandomNormalLike", rule_dtype_like},
    {"RandomUniform", rule_dtype_f32},
    {"RandomUniformLike", rule_dtype_like},
    {"SVMClassifier", rule_labels},
    {"Scan", rule_scan},
    {"SequenceAt", rule_inner},
    {"SequenceConstruct", rule_seq_of_operand},
    {"SequenceEmpty", rule_seq_empty},
    {"SequenceMap", rule_sequence_map},
    {"SplitToSequence", rule_seq_of_operand},
    {"TreeEnsembleClassifier", rule_labels},
    {"ZipMap", rule_zip_map},
};

static int by_name(const void *key, const void *element) {
  const node *n = key;
  return strcmp(n->op.p, ((const rule *)element)->op);
}

static const type *apply_rule(import *im, const node *n, int result) {
  const rule *r = bsearch(n, rules, sizeof rules / sizeof *rules, sizeof *rules, by_name);
  return r ? r->apply(im, n, result) : NULL;
}

// The only type that a constraint allows, NULL when it allows several.
static const type *only_type(import *im, const onyx_schema_constraint *c) {
  uint64_t low = c->types.bits[0], high = c->types.bits[1];
  if (__builtin_popcountll(low) + __builtin_popcountll(high) != 1)
    return NULL;
  return type_of_schema(im, low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high));
}

static const type *decide(import *im, const node *n, const onyx_schema_param *p, int result,
                          const type *const *bound) {
  const type *t = p->heterogeneous ? NULL : bound[p->constraint];
  if (!t)
    t = only_type(im, &n->row->constraints[p->constraint]);
  return t ? t : apply_rule(im, n, result);
}

static void check_operand(import *im, const node *n, int i, const onyx_schema_param *p,
                          const type **bound) {
  const type *t = n->in[i]->type;
  if (!t)
    return;
  int row = type_schema_index(t);
  if (row < 0 || !onyx_type_set_has(&n->row->constraints[p->constraint].types, row))
    node_fail(im, n, "operand %d ('%s') is %s, which %s does not take", i,
              str_show(im, n->in[i]->name), type_show(im, t), p->name);
  if (p->heterogeneous)
    return;
  if (!bound[p->constraint])
    bound[p->constraint] = t;
  else if (!type_same_kind(bound[p->constraint], t))
    node_fail(im, n, "operand %d ('%s') is %s, another of constraint %s is %s", i,
              str_show(im, n->in[i]->name), type_show(im, t),
              n->row->constraints[p->constraint].name, type_show(im, bound[p->constraint]));
}

void infer_types(import *im, node *n) {
  const type **bound = NEW_ARRAY(im, const type *, (size_t)n->row->num_constraints + 1);
  for (int i = 0; i < n->num_in; i++) {
    const onyx_schema_param *p = onyx_schema_input(n->row, i);
    if (n->in[i] && p)
      check_operand(im, n, i, p, bound);
  }
  for (int i = 0; i < n->num_out; i++) {
    const onyx_schema_param *p = onyx_schema_output(n->row, i);
    if (!n->out[i] || !p)
      continue;
    const type *t = decide(im, n, p, i, bound);
    if (!t)
      t = n->declared[i];
    if (!t)
      node_fail(im, n, "the type of result %d ('%s') cannot be known", i,
                str_show(im, n->out[i]->name));
    n->out[i]->type = type_unshaped(im, t);
  }
}
