//===- emit_expr.c - Expression graphs, each made once where its operands are ------===//
#include "passes/convert/emit.h"

#include <stdlib.h>
#include <string.h>

void emit_begin(struct emit *e, const comprehension *c, const comp_stage *stage) {
  size_t n = c->num_exprs + 1;
  e->c = c;
  e->stage = stage;
  e->memo = calloc(n, sizeof(MlirValue));
  e->level = malloc(n);
  memset(e->level, -1, n);
  e->volatile_ = malloc(n);
  memset(e->volatile_, -1, n);
  e->loop_values = calloc((size_t)stage->num_loops + 1, sizeof(MlirValue));
  e->acc_values = calloc((size_t)stage->num_accs + 1, sizeof(MlirValue));
}

void emit_end(struct emit *e) {
  free(e->memo);
  free(e->level);
  free(e->volatile_);
  free(e->loop_values);
  free(e->acc_values);
}

//===----------------------------------------------------------------------===//
// Where an expression can be made
//===----------------------------------------------------------------------===//

static bool writes_buffer(const struct emit *e, int64_t buffer) {
  for (int i = 0; i < e->stage->num_writes; ++i)
    if (e->stage->writes[i].buffer == buffer)
      return true;
  return false;
}

static bool is_volatile(struct emit *e, const expr *x) {
  if (e->volatile_[x->id] >= 0)
    return e->volatile_[x->id];
  bool v = x->op == EXPR_READ && writes_buffer(e, x->i);
  for (int i = 0; i < x->num_args && !v; ++i)
    v = is_volatile(e, x->args[i]);
  if (x->pad && !v)
    v = is_volatile(e, x->pad);
  e->volatile_[x->id] = v;
  return v;
}

// No element of an empty buffer may be read because its index happens to be free of loops.
static bool never_empty(const comp_buffer *b) {
  for (int i = 0; i < b->rank; ++i)
    if (b->dims[i]->op != DIM_CONST || b->dims[i]->value < 1)
      return false;
  return true;
}

static int level_of(struct emit *e, const expr *x) {
  if (e->level[x->id] >= 0)
    return e->level[x->id];
  int level = 0;
  for (int i = 0; i < x->num_args; ++i) {
    int l = level_of(e, x->args[i]);
    level = l > level ? l : level;
  }
  if (x->pad) {
    int l = level_of(e, x->pad);
    level = l > level ? l : level;
  }
  switch (x->op) {
  case EXPR_LOOP:
    level = e->stage->loops[x->i].kind == LOOP_REDUCTION ? 2 : 1;
    break;
  case EXPR_ACC:
    level = e->in_reduction ? 2 : 1;
    break;
  case EXPR_CHECK: // fails only where a body runs
    level = level < 1 ? 1 : level;
    break;
  case EXPR_READ:
    if (e->loops_outside && level == 0 &&
        (is_volatile(e, x) || (!x->pad && !never_empty(&e->c->buffers[x->i]))))
      level = 1;
    if (e->in_reduction && is_volatile(e, x))
      level = level < 1 ? 1 : level;
    break;
  default:
    break;
  }
  e->level[x->id] = (signed char)level;
  return level;
}

void emit_leave_reduction(struct emit *e) {
  e->in_reduction = false;
  for (unsigned i = 0; i < e->c->num_exprs; ++i) {
    if (e->level[i] < 2)
      continue;
    e->level[i] = -1;
    e->memo[i] = (MlirValue){NULL};
  }
}

void emit_wrote(struct emit *e) {
  for (unsigned i = 0; i < e->c->num_exprs; ++i)
    if (e->volatile_[i] > 0)
      e->memo[i] = (MlirValue){NULL};
}

//===----------------------------------------------------------------------===//
// Affine indices
//===----------------------------------------------------------------------===//

// A value without loops is a symbol.
static MlirAffineExpr affine_symbol(struct emit *e, const expr *x, MlirValue *symbols, int *num,
                                    int max) {
  MlirValue v = emit_expr(e, x);
  if (mlirValueIsNull(v))
    return (MlirAffineExpr){NULL};
  int64_t constant;
  if (ir_constant_int(v, &constant))
    return mlirAffineConstantExprGet(e->ctx, constant);
  for (int i = 0; i < *num; ++i)
    if (mlirValueEqual(symbols[i], v))
      return mlirAffineSymbolExprGet(e->ctx, i);
  if (*num == max)
    return (MlirAffineExpr){NULL};
  symbols[*num] = v;
  return mlirAffineSymbolExprGet(e->ctx, (*num)++);
}

static MlirAffineExpr affine_binary(MlirContext ctx, expr_op op, MlirAffineExpr a,
                                    MlirAffineExpr b) {
  bool constant_b = mlirAffineExprIsAConstant(b);
  int64_t value = constant_b ? mlirAffineConstantExprGetValue(b) : 0;
  switch (op) {
  case EXPR_ADD:
    return mlirAffineAddExprGet(a, b);
  case EXPR_SUB:
    return mlirAffineAddExprGet(a, mlirAffineMulExprGet(b, mlirAffineConstantExprGet(ctx, -1)));
  case EXPR_MUL:
    if (constant_b)
      return mlirAffineMulExprGet(a, b);
    return mlirAffineExprIsAConstant(a) ? mlirAffineMulExprGet(b, a) : (MlirAffineExpr){NULL};
  case EXPR_FLOORDIV:
    return constant_b && value > 0 ? mlirAffineFloorDivExprGet(a, b) : (MlirAffineExpr){NULL};
  case EXPR_MOD:
    return constant_b && value > 0 ? mlirAffineModExprGet(a, b) : (MlirAffineExpr){NULL};
  default:
    return (MlirAffineExpr){NULL};
  }
}

MlirAffineExpr emit_affine(struct emit *e, const expr *x, MlirValue *symbols, int *num_symbols,
                           int max) {
  MlirAffineExpr none = {NULL};
  if (x->type != ONYX_INDEX)
    return none;
  if (x->op == EXPR_CONST)
    return mlirAffineConstantExprGet(e->ctx, x->i);
  if (x->op == EXPR_LOOP)
    return mlirAffineDimExprGet(e->ctx, x->i);
  if (x->op == EXPR_ADD || x->op == EXPR_SUB || x->op == EXPR_MUL || x->op == EXPR_FLOORDIV ||
      x->op == EXPR_MOD) {
    int saved = *num_symbols;
    MlirAffineExpr a = emit_affine(e, x->args[0], symbols, num_symbols, max);
    MlirAffineExpr b =
        mlirAffineExprIsNull(a) ? none : emit_affine(e, x->args[1], symbols, num_symbols, max);
    MlirAffineExpr r = mlirAffineExprIsNull(b) ? none : affine_binary(e->ctx, x->op, a, b);
    if (!mlirAffineExprIsNull(r))
      return r;
    *num_symbols = saved;
  }
  return level_of(e, x) == 0 ? affine_symbol(e, x, symbols, num_symbols, max) : none;
}

// An affine index that is more than a loop or a constant: one affine.apply.
static MlirValue apply_affine(struct emit *e, struct ir *at, const expr *x) {
  enum { MAX = 16 };
  MlirValue symbols[MAX], operands[ONYX_MAX_RANK + MAX];
  int num_symbols = 0, num_loops = e->stage->num_loops;
  if (num_loops > ONYX_MAX_RANK)
    return (MlirValue){NULL};
  MlirAffineExpr a = emit_affine(e, x, symbols, &num_symbols, MAX);
  if (mlirAffineExprIsNull(a))
    return (MlirValue){NULL};
  if (mlirAffineExprIsAConstant(a))
    return ir_index(at, mlirAffineConstantExprGetValue(a));
  MlirAffineExpr dims[ONYX_MAX_RANK];
  int n = 0;
  // Only the loops that occur become dims.
  MlirAffineExpr replacement[ONYX_MAX_RANK];
  for (int i = 0; i < num_loops; ++i) {
    replacement[i] = mlirAffineConstantExprGet(e->ctx, 0);
    if (!mlirAffineExprIsFunctionOfDim(a, i))
      continue;
    dims[n] = mlirAffineDimExprGet(e->ctx, n);
    replacement[i] = dims[n];
    operands[n++] = e->loop_values[i];
  }
  for (int i = 0; i < num_symbols; ++i)
    operands[n + i] = symbols[i];
  MlirAffineMap map = mlirAffineMapGet(e->ctx, num_loops, num_symbols, 1, &a);
  // Compose with the map that renames dims.
  a = mlirAffineMapGetResult(map, 0);
  MlirAffineMap rename = mlirAffineMapGet(e->ctx, n, 0, num_loops, replacement);
  a = mlirAffineExprCompose(a, rename);
  if (mlirAffineExprIsAConstant(a))
    return ir_index(at, mlirAffineConstantExprGetValue(a));
  map = mlirAffineMapGet(e->ctx, n, num_symbols, 1, &a);
  return ir_apply(at, map, n + num_symbols, operands);
}

//===----------------------------------------------------------------------===//
// Reads and checks
//===----------------------------------------------------------------------===//

static MlirValue emit_load(struct emit *e, struct ir *at, const expr *x) {
  MlirValue index[ONYX_MAX_RANK];
  for (int i = 0; i < x->num_args; ++i) {
    index[i] = emit_expr(e, x->args[i]);
    if (mlirValueIsNull(index[i]))
      return index[i];
  }
  return e->read(e, at, x, index);
}

// Can index expression x be outside [0, extent)? A plain loop that runs over just this extent
// cannot.
static bool needs_bounds(const struct emit *e, const expr *x, const dim *extent) {
  int64_t size;
  if (x->op == EXPR_LOOP)
    return e->stage->loops[x->i].extent != extent;
  return !(x->op == EXPR_CONST && dim_is_const(extent, &size) && x->i >= 0 && x->i < size);
}

static MlirValue in_bounds(struct emit *e, struct ir *at, const expr *x) {
  MlirValue all = {NULL};
  for (int i = 0; i < x->num_args; ++i) {
    if (!needs_bounds(e, x->args[i], e->c->buffers[x->i].dims[i]))
      continue;
    // One unsigned comparison: a negative index is larger than any extent.
    MlirValue index = emit_expr(e, x->args[i]);
    MlirValue ok = ir_cmpi(at, IR_ULT, index, e->extent(e, &e->at[0], (int)x->i, i));
    all = mlirValueIsNull(all) ? ok : ir_binary(at, "arith.andi", all, ok);
  }
  return all;
}

static MlirValue emit_read(struct emit *e, struct ir *at, const expr *x) {
  if (e->whole_read) {
    MlirValue v = e->whole_read(e, x);
    if (!mlirValueIsNull(v))
      return v;
  }
  MlirValue inside = x->pad ? in_bounds(e, at, x) : (MlirValue){NULL};
  if (mlirValueIsNull(inside))
    return emit_load(e, at, x);
  MlirValue pad = emit_expr(e, x->pad);
  for (int i = 0; i < x->num_args; ++i)
    emit_expr(e, x->args[i]); // before the branch, where others may use them too
  MlirType type = mlirValueGetType(pad);
  struct ir then, otherwise;
  MlirOperation branch = ir_if(at, inside, 1, &type, &then, &otherwise);
  MlirValue loaded = emit_load(e, &then, x);
  if (mlirValueIsNull(loaded))
    return loaded;
  ir_yield(&then, "scf.yield", 1, &loaded);
  ir_yield(&otherwise, "scf.yield", 1, &pad);
  return ir_result(branch, 0);
}

static MlirValue emit_check(struct emit *e, struct ir *at, const expr *x) {
  MlirValue args[4];
  for (int i = 0; i < 4; ++i) {
    args[i] = emit_expr(e, x->args[i]);
    if (mlirValueIsNull(args[i]))
      return args[i];
  }
  if (mlirValueIsNull(e->status))
    return args[0];
  emit_fail_unless(at, e->status, args[1], x->i, e->node, args[2], args[3]);
  return args[0];
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static MlirValue emit_leaf(struct emit *e, struct ir *at, const expr *x) {
  switch (x->op) {
  case EXPR_CONST:
    return emit_is_integer(x->type) || x->type == ONYX_BOOL ? emit_const_int(at, x->type, x->i)
                                                            : emit_const_float(at, x->type, x->f);
  case EXPR_LOOP:
    return e->loop_values[x->i];
  case EXPR_DIM:
    return emit_dim(e->dims, x->dim);
  case EXPR_ACC:
    return e->acc_values[x->i];
  case EXPR_READ:
    return emit_read(e, at, x);
  case EXPR_CHECK:
    return emit_check(e, at, x);
  default:
    return (MlirValue){NULL};
  }
}

static MlirValue emit_operation(struct emit *e, struct ir *at, const expr *x) {
  MlirValue args[3];
  for (int i = 0; i < x->num_args; ++i) {
    args[i] = emit_expr(e, x->args[i]);
    if (mlirValueIsNull(args[i]))
      return args[i];
  }
  int type = x->args[0]->type;
  if (x->op == EXPR_SELECT)
    return ir_select(at, args[0], args[1], args[2]);
  if (x->op == EXPR_CAST)
    return emit_cast(at, args[0], type, x->type, x->saturate);
  if (x->op == EXPR_BITCAST)
    return emit_bitcast(at, args[0], type, x->type);
  if (x->op >= EXPR_EQ && x->op <= EXPR_GE)
    return emit_compare(at, x->op, type, args[0], args[1]);
  return x->num_args == 2 ? emit_binary(at, x->op, type, args[0], args[1])
                          : emit_unary(at, x->op, type, args[0]);
}

static bool is_index_arithmetic(const expr *x) {
  return x->type == ONYX_INDEX && (x->op == EXPR_ADD || x->op == EXPR_SUB || x->op == EXPR_MUL ||
                                   x->op == EXPR_FLOORDIV || x->op == EXPR_MOD);
}

MlirValue emit_expr(struct emit *e, const expr *x) {
  if (!mlirValueIsNull(e->memo[x->id]))
    return e->memo[x->id];
  int level = level_of(e, x);
  struct ir *at = &e->at[level];
  MlirValue v = {NULL};
  if (level > 0 && is_index_arithmetic(x))
    v = apply_affine(e, at, x);
  if (mlirValueIsNull(v))
    v = x->num_args == 0 || x->op == EXPR_READ || x->op == EXPR_CHECK ? emit_leaf(e, at, x)
                                                                      : emit_operation(e, at, x);
  is_volatile(e, x);
  e->memo[x->id] = v;
  return v;
}
