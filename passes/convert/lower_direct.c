//===- lower_direct.c - Operators that are no loop nests: the table -------------------===//
#include "passes/convert/lower.h"

#include <string.h>

static bool emit_onnx_dim(struct lower_block *b, struct op_plan *p) {
  MlirValue of = lower_value(b, mlirOperationGetOperand(p->op, 0));
  if (mlirValueIsNull(of))
    return false;
  MlirAttribute axis = mlirOperationGetAttributeByName(p->op, ir_str("axis"));
  int64_t one = 1, a = mlirAttributeIsNull(axis) ? 0 : mlirIntegerAttrGetValueSInt(axis);
  if (a < 0 || a >= mlirShapedTypeGetRank(mlirValueGetType(of))) {
    lower_error(b->function->lower, p->op, "axis %d is not there", (int)a);
    return false;
  }
  struct storage *s;
  MlirType i64 = ir_int_type(&b->ir, 64);
  MlirValue to = lower_alloc_buffer(b, ir_memref(i64, 1, &one), 0, NULL, &s);
  MlirValue zero = ir_index(&b->ir, 0);
  ir_store(&b->ir, ir_from_index(&b->ir, ir_dim(&b->ir, of, a), i64), to, 1, &zero);
  lower_define(b, mlirOperationGetResult(p->op, 0), to, s);
  return true;
}

static const struct direct_lowering helpers[] = {{"Dim", NULL, emit_onnx_dim, NULL},
                                                 {NULL, NULL, NULL, NULL}};

// One table a family, each ended by an entry without name.
extern const struct direct_lowering lower_control_table[], lower_select_table[],
    lower_sequence_table[], lower_string_table[];
static const struct direct_lowering *const tables[] = {
    helpers, lower_control_table, lower_select_table, lower_sequence_table, lower_string_table};

const struct direct_lowering *lower_direct_find(const char *name) {
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
    for (const struct direct_lowering *d = tables[i]; d->name; ++d)
      if (!strcmp(d->name, name))
        return d;
  return NULL;
}
