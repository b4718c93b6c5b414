//===- lower_sort.c - Sorting and selecting by loops ----------------------------------===//
#include "passes/convert/lower_sort.h"

MlirValue lower_numel(struct ir *ir, MlirValue memref) {
  MlirValue n = ir_index(ir, 1);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(mlirValueGetType(memref)); ++i)
    n = ir_binary(ir, "arith.muli", n, ir_dim(ir, memref, i));
  return n;
}

MlirValue lower_flat(struct ir *ir, MlirValue memref, MlirValue *count) {
  int64_t dynamic = ir_dynamic();
  MlirType type = ir_memref(mlirShapedTypeGetElementType(mlirValueGetType(memref)), 1, &dynamic);
  *count = lower_numel(ir, memref);
  return ir_reinterpret(ir, memref, type, count);
}

void lower_copy_all(struct ir *ir, MlirValue from, MlirValue to) {
  if (mlirShapedTypeHasStaticShape(mlirValueGetType(from)) &&
      mlirShapedTypeHasStaticShape(mlirValueGetType(to))) {
    ir_copy(ir, from, to);
    return;
  }
  MlirValue n, m;
  MlirValue flat_from = lower_flat(ir, from, &n), flat_to = lower_flat(ir, to, &m);
  struct ir body;
  MlirValue i = emit_loop(ir, ir_binary(ir, "arith.minsi", n, m), &body);
  ir_store(&body, ir_load(&body, flat_from, 1, &i), flat_to, 1, &i);
}

MlirValue emit_loop(struct ir *ir, MlirValue n, struct ir *body) {
  ir_for(ir, ir_index(ir, 0), n, ir_index(ir, 1), 0, NULL, body);
  return ir_arg(body, 0);
}

struct ir emit_loops(struct ir *ir, intptr_t n, const MlirValue *sizes, MlirValue *index) {
  struct ir at = *ir;
  for (intptr_t i = 0; i < n; ++i) {
    struct ir body;
    index[i] = emit_loop(&at, sizes[i], &body);
    at = body;
  }
  return at;
}

MlirValue emit_scalar_load(struct ir *ir, MlirValue memref) {
  MlirValue index[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
  for (intptr_t i = 0; i < rank; ++i)
    index[i] = ir_index(ir, 0);
  return ir_load(ir, memref, rank, index);
}

void emit_iota(struct ir *ir, MlirValue order, MlirValue n) {
  struct ir body;
  MlirValue i = emit_loop(ir, n, &body);
  ir_store(&body, i, order, 1, &i);
}

MlirValue emit_total_less(struct ir *ir, int elem, MlirValue a, MlirValue b) {
  MlirValue less = emit_compare(ir, EXPR_LT, elem, a, b);
  if (emit_is_integer(elem) || elem == ONYX_BOOL)
    return less;
  MlirValue nan_a = emit_unary(ir, EXPR_ISNAN, elem, a),
            nan_b = emit_unary(ir, EXPR_ISNAN, elem, b);
  MlirValue number_a = ir_binary(ir, "arith.xori", nan_a, ir_int(ir, ir_int_type(ir, 1), 1));
  return ir_binary(ir, "arith.ori", less, ir_binary(ir, "arith.andi", number_a, nan_b));
}

// Merges order[low, middle) and order[middle, high) into scratch[low, high).
static void merge(struct ir *ir, MlirValue order, MlirValue scratch, MlirValue low,
                  MlirValue middle, MlirValue high, sort_before before, void *user) {
  MlirValue one = ir_index(ir, 1), inits[] = {low, middle};
  struct ir body;
  ir_for(ir, low, high, one, 2, inits, &body);
  MlirValue k = ir_arg(&body, 0), a = ir_arg(&body, 1), b = ir_arg(&body, 2);
  // Where one side is used up its last item is read and not taken.
  MlirValue last_a =
      ir_binary(&body, "arith.minsi", a, ir_binary(&body, "arith.subi", middle, one));
  MlirValue last_b = ir_binary(&body, "arith.minsi", b, ir_binary(&body, "arith.subi", high, one));
  MlirValue item_a = ir_load(&body, order, 1, &last_a), item_b = ir_load(&body, order, 1, &last_b);
  MlirValue some_a = ir_cmpi(&body, IR_SLT, a, middle), none_b = ir_cmpi(&body, IR_SGE, b, high);
  MlirValue b_first = before(&body, item_b, item_a, user);
  MlirValue keep = ir_binary(&body, "arith.xori", b_first, ir_int(&body, ir_int_type(&body, 1), 1));
  MlirValue take_a =
      ir_binary(&body, "arith.andi", some_a, ir_binary(&body, "arith.ori", none_b, keep));
  ir_store(&body, ir_select(&body, take_a, item_a, item_b), scratch, 1, &k);
  MlirValue next[] = {ir_select(&body, take_a, ir_binary(&body, "arith.addi", a, one), a),
                      ir_select(&body, take_a, b, ir_binary(&body, "arith.addi", b, one))};
  ir_yield(&body, "scf.yield", 2, next);
}

void emit_sort(struct ir *ir, MlirValue order, MlirValue scratch, MlirValue n, sort_before before,
               void *user) {
  MlirValue width = ir_index(ir, 1);
  struct ir test, turn, body, back;
  ir_while(ir, 1, &width, &test, &turn);
  width = ir_arg(&test, 0);
  MlirValue condition[] = {ir_cmpi(&test, IR_SLT, width, n), width};
  ir_yield(&test, "scf.condition", 2, condition);
  width = ir_arg(&turn, 0);
  MlirValue twice = ir_binary(&turn, "arith.addi", width, width);
  ir_for(&turn, ir_index(&turn, 0), n, twice, 0, NULL, &body);
  MlirValue low = ir_arg(&body, 0);
  MlirValue middle = ir_binary(&body, "arith.minsi", ir_binary(&body, "arith.addi", low, width), n);
  MlirValue high = ir_binary(&body, "arith.minsi", ir_binary(&body, "arith.addi", low, twice), n);
  merge(&body, order, scratch, low, middle, high, before, user);
  MlirValue i = emit_loop(&turn, n, &back);
  ir_store(&back, ir_load(&back, scratch, 1, &i), order, 1, &i);
  ir_yield(&turn, "scf.yield", 1, &twice);
}
