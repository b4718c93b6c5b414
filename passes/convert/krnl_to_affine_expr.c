//===- krnl_to_affine_expr.c - Affine expressions over values ------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>

enum { DIMS, SYMBOLS, EXPRS };

void affine_list_free(struct affine_list *list) {
  free(list->dims);
  free(list->symbols);
  free(list->exprs);
}

static void *grow(void *items, intptr_t n, intptr_t *room, size_t size) {
  if (n < *room)
    return items;
  *room = *room ? 2 * *room : 8;
  return realloc(items, size * (size_t)*room);
}

static MlirAffineExpr dim(struct affine_list *list, MlirValue value) {
  for (intptr_t i = 0; i < list->num_dims; ++i)
    if (mlirValueEqual(list->dims[i], value))
      return mlirAffineDimExprGet(list->ctx, i);
  list->dims = grow(list->dims, list->num_dims, &list->room[DIMS], sizeof(MlirValue));
  list->dims[list->num_dims] = value;
  return mlirAffineDimExprGet(list->ctx, list->num_dims++);
}

static MlirAffineExpr symbol(struct affine_list *list, MlirValue value) {
  for (intptr_t i = 0; i < list->num_symbols; ++i)
    if (mlirValueEqual(list->symbols[i], value))
      return mlirAffineSymbolExprGet(list->ctx, i);
  list->symbols = grow(list->symbols, list->num_symbols, &list->room[SYMBOLS], sizeof(MlirValue));
  list->symbols[list->num_symbols] = value;
  return mlirAffineSymbolExprGet(list->ctx, list->num_symbols++);
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

static MlirAffineExpr none(void) {
  return (MlirAffineExpr){NULL};
}

static bool is_positive_constant(MlirAffineExpr e) {
  return mlirAffineExprIsAConstant(e) && mlirAffineConstantExprGetValue(e) > 0;
}

// lhs op rhs as `like` combines them; null if that is no affine expression.
static MlirAffineExpr combine(MlirAffineExpr like, MlirAffineExpr lhs, MlirAffineExpr rhs) {
  if (mlirAffineExprIsAAdd(like))
    return mlirAffineAddExprGet(lhs, rhs);
  if (mlirAffineExprIsAMul(like)) {
    if (mlirAffineExprIsAConstant(lhs))
      return mlirAffineMulExprGet(rhs, lhs);
    return mlirAffineExprIsAConstant(rhs) ? mlirAffineMulExprGet(lhs, rhs) : none();
  }
  if (!is_positive_constant(rhs))
    return none();
  if (mlirAffineExprIsAMod(like))
    return mlirAffineModExprGet(lhs, rhs);
  return mlirAffineExprIsAFloorDiv(like) ? mlirAffineFloorDivExprGet(lhs, rhs)
                                         : mlirAffineCeilDivExprGet(lhs, rhs);
}

// expr with dims and symbols replaced by `inputs` (dims first).
static MlirAffineExpr substitute(MlirAffineExpr expr, intptr_t num_dims,
                                 const MlirAffineExpr *inputs) {
  if (mlirAffineExprIsADim(expr))
    return inputs[mlirAffineDimExprGetPosition(expr)];
  if (mlirAffineExprIsASymbol(expr))
    return inputs[num_dims + mlirAffineSymbolExprGetPosition(expr)];
  if (mlirAffineExprIsAConstant(expr))
    return expr;
  MlirAffineExpr lhs = substitute(mlirAffineBinaryOpExprGetLHS(expr), num_dims, inputs);
  MlirAffineExpr rhs = substitute(mlirAffineBinaryOpExprGetRHS(expr), num_dims, inputs);
  if (mlirAffineExprIsNull(lhs) || mlirAffineExprIsNull(rhs))
    return none();
  return combine(expr, lhs, rhs);
}

// Every result of map(operands) to `each`.
static bool substitute_map(struct affine_list *list, MlirAffineMap map, const MlirValue *operands,
                           MlirAffineExpr *results) {
  intptr_t n = mlirAffineMapGetNumInputs(map);
  MlirAffineExpr *inputs = calloc((size_t)n + 1, sizeof(*inputs));
  bool good = true;
  for (intptr_t i = 0; i < n && good; ++i)
    good = affine_list_value(list, operands[i], &inputs[i]);
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map) && good; ++i) {
    results[i] = substitute(mlirAffineMapGetResult(map, i), mlirAffineMapGetNumDims(map), inputs);
    good = !mlirAffineExprIsNull(results[i]);
  }
  free(inputs);
  return good;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool value_of(struct affine_list *list, MlirValue value, int depth, MlirAffineExpr *out);

static bool sum(struct affine_list *list, MlirOperation def, int depth, int64_t sign,
                MlirAffineExpr *out) {
  MlirAffineExpr a, b;
  if (!value_of(list, mlirOperationGetOperand(def, 0), depth, &a) ||
      !value_of(list, mlirOperationGetOperand(def, 1), depth, &b))
    return false;
  if (sign < 0)
    b = mlirAffineMulExprGet(b, mlirAffineConstantExprGet(list->ctx, -1));
  *out = mlirAffineAddExprGet(a, b);
  return true;
}

static bool product(struct affine_list *list, MlirOperation def, int depth, MlirAffineExpr *out) {
  MlirAffineExpr a, b;
  if (!value_of(list, mlirOperationGetOperand(def, 0), depth, &a) ||
      !value_of(list, mlirOperationGetOperand(def, 1), depth, &b))
    return false;
  if (mlirAffineExprIsAConstant(a))
    *out = mlirAffineMulExprGet(b, a);
  else if (mlirAffineExprIsAConstant(b))
    *out = mlirAffineMulExprGet(a, b);
  else
    return false;
  return true;
}

static bool quotient(struct affine_list *list, MlirOperation def, int depth, MlirAffineExpr *out) {
  MlirAffineExpr a, b;
  if (!value_of(list, mlirOperationGetOperand(def, 0), depth, &a) ||
      !value_of(list, mlirOperationGetOperand(def, 1), depth, &b) || !is_positive_constant(b))
    return false;
  *out = mlirAffineFloorDivExprGet(a, b);
  return true;
}

static bool value_of(struct affine_list *list, MlirValue value, int depth, MlirAffineExpr *out) {
  int64_t constant;
  if (ir_constant_int(value, &constant)) {
    *out = mlirAffineConstantExprGet(list->ctx, constant);
    return true;
  }
  if (mlirxAffineIsSymbol(value, list->at)) {
    *out = symbol(list, value);
    return true;
  }
  if (mlirxAffineIsDim(value, list->at)) {
    *out = dim(list, value);
    return true;
  }
  if (depth == 0 || !mlirValueIsAOpResult(value))
    return false;
  MlirOperation def = mlirOpResultGetOwner(value);
  if (ir_is(def, "arith.addi"))
    return sum(list, def, depth - 1, 1, out);
  if (ir_is(def, "arith.subi"))
    return sum(list, def, depth - 1, -1, out);
  if (ir_is(def, "arith.muli"))
    return product(list, def, depth - 1, out);
  if (ir_is(def, "arith.floordivsi"))
    return quotient(list, def, depth - 1, out);
  return false;
}

// Deep chains of index arithmetic are rare, and each level may double the work.
enum { MAX_DEPTH = 12 };

bool affine_list_value(struct affine_list *list, MlirValue value, MlirAffineExpr *out) {
  return value_of(list, value, MAX_DEPTH, out);
}

static void push(struct affine_list *list, MlirAffineExpr expr) {
  list->exprs = grow(list->exprs, list->num_exprs, &list->room[EXPRS], sizeof(MlirAffineExpr));
  list->exprs[list->num_exprs++] = expr;
}

bool affine_list_add_value(struct affine_list *list, MlirValue value) {
  MlirAffineExpr expr;
  if (!affine_list_value(list, value, &expr))
    return false;
  push(list, expr);
  return true;
}

bool affine_list_add_map(struct affine_list *list, MlirAffineMap map, const MlirValue *operands) {
  intptr_t n = mlirAffineMapGetNumResults(map);
  MlirAffineExpr *results = calloc((size_t)n + 1, sizeof(*results));
  bool good = substitute_map(list, map, operands, results);
  for (intptr_t i = 0; i < n && good; ++i)
    push(list, results[i]);
  free(results);
  return good;
}

MlirAffineMap affine_list_map(const struct affine_list *list) {
  return mlirAffineMapGet(list->ctx, list->num_dims, list->num_symbols, list->num_exprs,
                          list->exprs);
}

MlirValue *affine_list_operands(const struct affine_list *list) {
  MlirValue *all = malloc(sizeof(*all) * (size_t)(affine_list_num_operands(list) + 1));
  for (intptr_t i = 0; i < list->num_dims; ++i)
    all[i] = list->dims[i];
  for (intptr_t i = 0; i < list->num_symbols; ++i)
    all[list->num_dims + i] = list->symbols[i];
  return all;
}

//===----------------------------------------------------------------------===//
// Expansion to arith
//===----------------------------------------------------------------------===//

static MlirValue expand(struct ir *ir, MlirAffineExpr e, intptr_t num_dims,
                        const MlirValue *operands) {
  if (mlirAffineExprIsADim(e))
    return operands[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsASymbol(e))
    return operands[num_dims + mlirAffineSymbolExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e))
    return ir_index(ir, mlirAffineConstantExprGetValue(e));
  MlirValue a = expand(ir, mlirAffineBinaryOpExprGetLHS(e), num_dims, operands);
  MlirValue b = expand(ir, mlirAffineBinaryOpExprGetRHS(e), num_dims, operands);
  if (mlirAffineExprIsAAdd(e))
    return ir_binary(ir, "arith.addi", a, b);
  if (mlirAffineExprIsAMul(e))
    return ir_binary(ir, "arith.muli", a, b);
  if (mlirAffineExprIsAFloorDiv(e))
    return ir_binary(ir, "arith.floordivsi", a, b);
  if (mlirAffineExprIsACeilDiv(e))
    return ir_binary(ir, "arith.ceildivsi", a, b);
  // Affine's mod is never negative: a - b * floor(a / b).
  MlirValue floor = ir_binary(ir, "arith.floordivsi", a, b);
  return ir_binary(ir, "arith.subi", a, ir_binary(ir, "arith.muli", floor, b));
}

MlirValue affine_expand(struct ir *ir, MlirAffineMap map, intptr_t i, const MlirValue *operands) {
  return expand(ir, mlirAffineMapGetResult(map, i), mlirAffineMapGetNumDims(map), operands);
}
