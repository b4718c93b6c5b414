// LabelEncoder and CategoryMapper between numbers; label types of both.
#include "dialects/onnx/ops/ml_util.h"
#include "dialects/onnx/ops/op.h"
#include <inttypes.h>
#include <string.h>

// Keys or values, whichever attribute has them.
typedef struct labels {
  onyx_elem elem;
  int64_t n;
  const onnx_attr *attr;
} labels;

static bool labels_of(op_view *v, const char *kind, labels *l) {
  static const struct {
    const char *suffix;
    onyx_elem elem;
  } forms[] = {{"tensor", ONYX_ELEM_UNDEFINED},
               {"int64s", ONYX_I64},
               {"floats", ONYX_F32},
               {"strings", ONYX_STRING}};
  int found = 0;
  for (int i = 0; i < 4; i++) {
    char name[32];
    strcpy(name, kind);
    strcat(name, forms[i].suffix);
    const onnx_attr *a = view_attr(v, name);
    if (!a->kind || (i && !a->n))
      continue;
    found++;
    *l = (labels){forms[i].elem, a->n, a};
    if (!i && a->tensor) {
      l->elem = a->tensor->type.elem;
      l->n = 1;
      for (int d = 0; d < a->tensor->type.rank; d++)
        l->n *= a->tensor->type.dims[d]->value;
    }
  }
  return found == 1 ||
         view_error(v, "%s*: expected one of int64s, floats, strings and tensor, found %d", kind,
                    found);
}

static bool encoder_of(op_view *v, labels *keys, labels *values) {
  if (!labels_of(v, "keys_", keys) || !labels_of(v, "values_", values))
    return false;
  if (keys->n != values->n)
    return view_error(
        v, "keys_* and values_*: expected as many of both, found %" PRId64 " and %" PRId64, keys->n,
        values->n);
  onyx_elem x = view_elem(v, 0);
  if (x != ONYX_ELEM_UNDEFINED && x != keys->elem)
    return view_error(v, "operand 0 ('X'): expected the keys' type %s, found %s",
                      onyx_elem_onnx_name(keys->elem), onyx_elem_onnx_name(x));
  return true;
}

static bool verify_encoder(op_view *v) {
  labels keys, values;
  return encoder_of(v, &keys, &values);
}

static bool shape_encoder(op_view *v, shape_result *results) {
  labels keys, values;
  if (!encoder_of(v, &keys, &values))
    return false;
  results[0].type.elem = values.elem;
  shape_like(v, results, 0, 0);
  return true;
}

static int label_table(comprehension *c, const labels *l) {
  if (l->attr->tensor)
    return l->attr->tensor->data && l->n > 0 ? comp_table(c, l->elem, l->n, l->attr->tensor->data)
                                             : -1;
  return l->elem == ONYX_I64 ? ml_int_table(c, l->attr) : ml_float_table(c, l->elem, l->attr);
}

static const expr *default_label(comprehension *c, const labels *values) {
  op_view *v = c->view;
  const onnx_attr *tensor = view_attr(v, "default_tensor");
  if (tensor->tensor && tensor->tensor->data && tensor->tensor->num_elements == 1)
    return ml_at(c, comp_table(c, tensor->tensor->type.elem, 1, tensor->tensor->data),
                 expr_index(c, 0));
  if (onyx_elem_is_float(values->elem))
    return expr_float(c, values->elem, view_float(v, "default_float"));
  return expr_int(c, values->elem, view_int(v, "default_int64"));
}

// The last key that equals x decides, as a dictionary built from the pairs would; NaN finds NaN.
static bool comp_encoder(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  labels keys, values;
  int rank = view_rank(v, 0);
  if (rank < 0)
    return view_error(v, "operand 0 ('X'): the rank is not known");
  if (!encoder_of(v, &keys, &values))
    return false;
  if (keys.elem == ONYX_STRING || values.elem == ONYX_STRING)
    return view_error(v, "strings are no numbers");
  int key = label_table(c, &keys), value = label_table(c, &values);
  if (key < 0 || value < 0)
    return view_error(v, "keys_* and values_*: expected constants");
  comp_loop loops[ONYX_MAX_RANK + 1];
  const expr *at[ONYX_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    loops[i] = (comp_loop){LOOP_PARALLEL, view_dim(v, 0, i)};
    at[i] = expr_loop(c, i);
  }
  loops[rank] = (comp_loop){LOOP_REDUCTION, dim_const(v->dims, keys.n)};
  comp_stage *s = comp_stage_begin(c, rank + 1, loops);
  const expr *x = expr_read(c, 0, rank, at), *k = ml_at(c, key, expr_loop(c, rank));
  const expr *hit = expr_compare(c, EXPR_EQ, x, k);
  if (onyx_elem_is_float(keys.elem))
    hit = expr_binary(
        c, EXPR_OR, hit,
        expr_binary(c, EXPR_AND, expr_unary(c, EXPR_ISNAN, x), expr_unary(c, EXPR_ISNAN, k)));
  const expr *found = expr_acc(c, 0, ONYX_INDEX), *none = expr_index(c, -1);
  comp_acc_general(c, s, ONYX_INDEX, none, expr_select(c, hit, expr_loop(c, rank), found));
  const expr *safe = expr_binary(c, EXPR_MAX, found, expr_index(c, 0));
  const expr *y = expr_select(c, expr_compare(c, EXPR_EQ, found, none), default_label(c, &values),
                              ml_at(c, value, safe));
  comp_write_at(c, s, comp_result(c, 0), rank, at, y, NULL);
  return true;
}

// CategoryMapper maps strings to numbers and back: its result has the other type.
static bool verify_mapper(op_view *v) {
  const onnx_attr *ints = view_attr(v, "cats_int64s"), *strings = view_attr(v, "cats_strings");
  return ints->n == strings->n ||
         view_error(v,
                    "cats_int64s and cats_strings: expected as many of both, found %" PRId64
                    " and %" PRId64,
                    ints->n, strings->n);
}

static bool shape_mapper(op_view *v, shape_result *results) {
  onyx_elem x = view_elem(v, 0);
  if (x != ONYX_ELEM_UNDEFINED)
    results[0].type.elem = x == ONYX_STRING ? ONYX_I64 : ONYX_STRING;
  shape_like(v, results, 0, 0);
  return verify_mapper(v);
}

const op_def ops_ml_label[] = {
    {"CategoryMapper", verify_mapper, shape_mapper, NULL},
    {"LabelEncoder", verify_encoder, shape_encoder, comp_encoder},
};
const int num_ops_ml_label = sizeof ops_ml_label / sizeof ops_ml_label[0];
