#include "importer/custom.h"
#include "importer/infer.h"

#include <string.h>

enum { ALL = -1 }; // results

// An operator's result: a fixed element type, or that of an operand.
typedef struct custom_rule {
  const char *op;
  int result;
  onyx_elem elem; // UNDEFINED: as the operand
  int operand;
} custom_rule;

// com.microsoft, where the first operand of floats would be the wrong answer.
static const custom_rule rules[] = {
    {"BeamSearch", 0, ONYX_I32, 0},
    {"DequantizeLinear", ALL, 0, 1},
    {"DequantizeBFP", ALL, ONYX_F32, 0},
    {"DynamicQuantizeLSTM", ALL, ONYX_F32, 0},
    {"DynamicQuantizeMatMul", ALL, ONYX_F32, 0},
    {"EmbedLayerNormalization", 1, ONYX_I32, 0},
    {"GatherBlockQuantized", ALL, 0, 2},
    {"GreedySearch", 0, ONYX_I32, 0},
    {"MatMulInteger16", ALL, ONYX_I32, 0},
    {"MatMulIntegerToFloat", ALL, 0, 2},
    {"MulInteger", ALL, ONYX_I32, 0},
    {"NhwcMaxPool", ALL, 0, 0},
    {"QAttention", ALL, 0, 3},
    {"QEmbedLayerNormalization", 0, ONYX_F32, 0},
    {"QEmbedLayerNormalization", 1, ONYX_I32, 0},
    {"QGemm", ALL, 0, 8},
    {"QLinearAdd", ALL, 0, 0},
    {"QLinearAveragePool", ALL, 0, 0},
    {"QLinearConcat", ALL, 0, 1},
    {"QLinearConv", ALL, 0, 7},
    {"QLinearGlobalAveragePool", ALL, 0, 0},
    {"QLinearLeakyRelu", ALL, 0, 0},
    {"QLinearMul", ALL, 0, 0},
    {"QLinearReduceMean", ALL, 0, 0},
    {"QLinearSigmoid", ALL, 0, 0},
    {"QLinearSoftmax", ALL, 0, 0},
    {"QLinearWhere", ALL, 0, 1},
    {"QuantizeLinear", ALL, 0, 2},
    {"Range", ALL, 0, 0},
    {"Sampling", 0, ONYX_I32, 0},
    {"Tokenizer", ALL, ONYX_STRING, 0},
    {"Unique", 1, ONYX_I64, 0},
    {"Unique", 2, ONYX_I64, 0},
};

static const type *by_table(import *im, const node *n, int result) {
  if (!str_is(n->domain, "com.microsoft"))
    return NULL;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const custom_rule *r = &rules[i];
    if (!str_is(n->op, r->op) || (r->result != ALL && r->result != result))
      continue;
    const value *v = node_in(n, r->operand);
    if (r->elem)
      return type_tensor(im, r->elem);
    return v ? v->type : NULL;
  }
  return NULL;
}

static const type *by_operands(const node *n) {
  for (int i = 0; i < n->num_in; i++)
    if (onyx_elem_is_float(value_elem(n->in[i])))
      return n->in[i]->type;
  return n->num_in && n->in[0] ? n->in[0]->type : NULL;
}

void custom_types(import *im, node *n) {
  for (int i = 0; i < n->num_out; i++) {
    value *v = n->out[i];
    if (!v)
      continue;
    const type *t = n->declared[i];
    if (!t)
      t = type_unshaped(im, by_table(im, n, i));
    if (!t)
      t = type_unshaped(im, by_operands(n));
    if (!t)
      node_fail(im, n, "the type of result %d ('%s') is not declared", i, str_show(im, v->name));
    v->type = t;
  }
}
