//===- krnl_to_affine_vector.c - krnl.vectorize
//-----------------------------------------------------------===//
//
// The innermost loop in steps of `lanes`: accesses whose last index is the variable (plus what does
// not depend on it) become vector accesses, scalar ops vector ops, what does not depend on the
// variable is broadcast. Unless the lanes divide a constant trip count, accesses are masked by what
// is left.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>
#include <string.h>

struct pair { // a value of the scalar body and what stands for it
  MlirValue from, to;
  bool is_vector; // else the same in all lanes
};

struct widening {
  MlirOperation loop, blame;
  struct ir ir; // in the new body
  int64_t lanes;
  MlirValue variable, mask; // mask null: all lanes are there
  MlirValue old_variable;
  struct pair *map;
  size_t n, room;
};

static bool refuse(struct widening *w, MlirOperation op, const char *why) {
  mlirxEmitErrorWithNote(w->blame, mlirOperationGetLocation(op), "this operation",
                         "the loop cannot be vectorised: %s", why);
  return false;
}

static void put(struct widening *w, MlirValue from, MlirValue to, bool is_vector) {
  if (w->n == w->room) {
    w->room = w->room ? 2 * w->room : 32;
    w->map = realloc(w->map, sizeof(*w->map) * w->room);
  }
  w->map[w->n++] = (struct pair){from, to, is_vector};
}

static struct pair *find(struct widening *w, MlirValue v) {
  for (size_t i = w->n; i-- > 0;)
    if (mlirValueEqual(w->map[i].from, v))
      return &w->map[i];
  return NULL;
}

static bool is_lane_type(MlirType t) {
  if (mlirTypeIsAInteger(t) || mlirTypeIsAFloat(t))
    return true;
  return mlirTypeIsAIndex(t);
}

static MlirType vector_of(const struct widening *w, MlirType scalar) {
  return mlirVectorTypeGet(1, &w->lanes, scalar);
}

// Does the value differ from lane to lane?
static bool varies(struct widening *w, MlirValue v) {
  if (mlirValueEqual(v, w->old_variable))
    return true;
  struct pair *p = find(w, v);
  return p && p->is_vector;
}

static MlirValue uniform(struct widening *w, MlirValue v) {
  struct pair *p = find(w, v);
  return p ? p->to : v;
}

// The value as a vector.
static MlirValue widened(struct widening *w, MlirValue v) {
  struct pair *p = find(w, v);
  if (p && p->is_vector)
    return p->to;
  MlirType vector = vector_of(w, mlirValueGetType(v));
  if (!mlirValueEqual(v, w->old_variable))
    return ir_cast(&w->ir, "vector.broadcast", uniform(w, v), vector);
  MlirValue base = ir_cast(&w->ir, "vector.broadcast", w->variable, vector);
  MlirValue step =
      ir_result(ir_op(&w->ir, "vector.step", 0, NULL, 1, &vector, 0, NULL, 0, NULL), 0);
  MlirValue sum = ir_binary(&w->ir, "arith.addi", base, step);
  put(w, v, sum, true);
  return sum;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

enum reach { SAME, NEXT, ELSEWHERE }; // the same element in all lanes, neighbours, anything else

static enum reach reach_of(struct widening *w, MlirOperation op, intptr_t first,
                           MlirAffineMap map) {
  intptr_t results = mlirAffineMapGetNumResults(map), n = mlirAffineMapGetNumInputs(map);
  intptr_t dims = mlirAffineMapGetNumDims(map), last = results - 1;
  enum reach reach = SAME;
  for (intptr_t d = 0; d < n; ++d) {
    MlirValue operand = mlirOperationGetOperand(op, first + d);
    bool is_variable = mlirValueEqual(operand, w->old_variable);
    if (!is_variable && !varies(w, operand))
      continue;
    for (intptr_t r = 0; r < results; ++r) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, r);
      bool depends = d < dims ? mlirAffineExprIsFunctionOfDim(e, d) : true;
      if (!depends)
        continue;
      MlirContext ctx = w->ir.ctx;
      MlirAffineExpr minus =
          mlirAffineMulExprGet(mlirAffineDimExprGet(ctx, d), mlirAffineConstantExprGet(ctx, -1));
      MlirAffineExpr rest = mlirSimplifyAffineExpr(mlirAffineAddExprGet(e, minus), (uint32_t)dims,
                                                   (uint32_t)mlirAffineMapGetNumSymbols(map));
      if (!is_variable || d >= dims || r != last || mlirAffineExprIsFunctionOfDim(rest, d))
        return ELSEWHERE;
      reach = NEXT;
    }
  }
  return reach;
}

static MlirAffineMap map_of(MlirOperation op) {
  return mlirAffineMapAttrGetValue(mlirOperationGetAttributeByName(op, ir_str("map")));
}

// Index values of the first lane, after `n` operands in out.
static intptr_t first_indices(struct widening *w, MlirOperation op, intptr_t first, MlirValue *out,
                              intptr_t n) {
  MlirAffineMap map = map_of(op);
  intptr_t inputs = mlirAffineMapGetNumInputs(map), dims = mlirAffineMapGetNumDims(map);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(inputs + 1));
  for (intptr_t i = 0; i < inputs; ++i) {
    MlirValue v = mlirOperationGetOperand(op, first + i);
    operands[i] = mlirValueEqual(v, w->old_variable) ? w->variable : uniform(w, v);
  }
  for (intptr_t r = 0; r < mlirAffineMapGetNumResults(map); ++r) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, r);
    MlirAffineMap one = mlirAffineMapGet(w->ir.ctx, dims, inputs - dims, 1, &e);
    out[n++] = mlirAffineExprIsAConstant(e) ? ir_index(&w->ir, mlirAffineConstantExprGetValue(e))
                                            : ir_apply(&w->ir, one, inputs, operands);
  }
  free(operands);
  return n;
}

static bool may_hold_vectors(struct widening *w, MlirOperation op, MlirType memref) {
  MlirType e = mlirShapedTypeGetElementType(memref);
  if (!mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref)))
    return refuse(w, op, "expected a memref of identity layout");
  if (!mlirTypeIsAFloat(e) && !(mlirTypeIsAInteger(e) && mlirIntegerTypeGetWidth(e) >= 8))
    return refuse(w, op, "expected elements of a byte at least");
  return true;
}

enum { MAX_OPERANDS = 40 };

static bool widen_load(struct widening *w, MlirOperation op) {
  MlirValue memref = mlirOperationGetOperand(op, 0), operands[MAX_OPERANDS];
  MlirType type = mlirValueGetType(memref);
  enum reach reach = reach_of(w, op, 1, map_of(op));
  if (reach == ELSEWHERE || varies(w, memref))
    return refuse(w, op, "the load's elements are not neighbours");
  if (reach == NEXT && !may_hold_vectors(w, op, type))
    return false;
  if (mlirShapedTypeGetRank(type) > MAX_OPERANDS - 4)
    return refuse(w, op, "the rank is too large");
  operands[0] = uniform(w, memref);
  intptr_t n = first_indices(w, op, 1, operands, 1);
  MlirType element = mlirShapedTypeGetElementType(type), vector = vector_of(w, element);
  MlirValue v;
  if (reach == SAME) {
    v = ir_load(&w->ir, operands[0], n - 1, operands + 1);
  } else if (w->mask.ptr) {
    operands[n++] = w->mask;
    operands[n++] = ir_zero(&w->ir, vector);
    v = ir_result(ir_op(&w->ir, "vector.maskedload", n, operands, 1, &vector, 0, NULL, 0, NULL), 0);
  } else {
    v = ir_result(ir_op(&w->ir, "vector.load", n, operands, 1, &vector, 0, NULL, 0, NULL), 0);
  }
  put(w, ir_result(op, 0), v, reach == NEXT);
  return true;
}

static bool widen_store(struct widening *w, MlirOperation op) {
  MlirValue memref = mlirOperationGetOperand(op, 1), operands[MAX_OPERANDS];
  MlirType type = mlirValueGetType(memref);
  enum reach reach = reach_of(w, op, 2, map_of(op));
  if (reach != NEXT || varies(w, memref))
    return refuse(w, op, "the stored elements are not neighbours");
  if (!may_hold_vectors(w, op, type))
    return false;
  if (mlirShapedTypeGetRank(type) > MAX_OPERANDS - 4)
    return refuse(w, op, "the rank is too large");
  MlirValue value = widened(w, mlirOperationGetOperand(op, 0));
  if (w->mask.ptr) {
    operands[0] = uniform(w, memref);
    intptr_t n = first_indices(w, op, 2, operands, 1);
    operands[n++] = w->mask;
    operands[n++] = value;
    ir_op(&w->ir, "vector.maskedstore", n, operands, 0, NULL, 0, NULL, 0, NULL);
  } else {
    operands[0] = value;
    operands[1] = uniform(w, memref);
    intptr_t n = first_indices(w, op, 2, operands, 2);
    ir_op(&w->ir, "vector.store", n, operands, 0, NULL, 0, NULL, 0, NULL);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Scalar ops
//===----------------------------------------------------------------------===//

static bool in_dialect(MlirOperation op, const char *prefix) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length > strlen(prefix) && !strncmp(name.data, prefix, strlen(prefix));
}

static void copy_uniform(struct widening *w, MlirOperation op) {
  MlirValue *from = malloc(sizeof(*from) * (w->n + 1)), *to = malloc(sizeof(*to) * (w->n + 1));
  intptr_t n = 0;
  for (size_t i = 0; i < w->n; ++i)
    if (!w->map[i].is_vector) {
      from[n] = w->map[i].from;
      to[n++] = w->map[i].to;
    }
  MlirOperation copy = mlirxOperationCloneMapped(op, n, from, to);
  ir_insert(&w->ir, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    put(w, ir_result(op, i), ir_result(copy, i), false);
  free(from);
  free(to);
}

// In lanes that are not there a divisor is zero, which a processor may trap on: divide by one.
static void guard_division(struct widening *w, MlirOperation op, MlirValue *operands) {
  static const char *const divisions[] = {"arith.divsi",    "arith.divui",      "arith.remsi",
                                          "arith.remui",    "arith.floordivsi", "arith.ceildivsi",
                                          "arith.ceildivui"};
  for (size_t i = 0; w->mask.ptr && i < sizeof(divisions) / sizeof(divisions[0]); ++i)
    if (ir_is(op, divisions[i])) {
      MlirValue one = ir_int(&w->ir, mlirValueGetType(operands[1]), 1);
      operands[1] = ir_select(&w->ir, w->mask, operands[1], one);
      return;
    }
}

// arith and math ops are the same on vectors.
static bool widen_elementwise(struct widening *w, MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op), num_attrs = mlirOperationGetNumAttributes(op);
  if (n > 4 || mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op))
    return refuse(w, op, "it has no form on vectors");
  MlirValue operands[4];
  for (intptr_t i = 0; i < n; ++i) {
    if (!is_lane_type(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return refuse(w, op, "expected scalars");
    operands[i] = widened(w, mlirOperationGetOperand(op, i));
  }
  MlirType result = mlirValueGetType(ir_result(op, 0));
  if (!is_lane_type(result))
    return refuse(w, op, "expected a scalar");
  guard_division(w, op, operands);
  MlirOperationState state = mlirOperationStateGet(mlirIdentifierStr(mlirOperationGetName(op)),
                                                   mlirOperationGetLocation(op));
  result = vector_of(w, result);
  mlirOperationStateAddOperands(&state, n, operands);
  mlirOperationStateAddResults(&state, 1, &result);
  for (intptr_t i = 0; i < num_attrs; ++i) {
    MlirNamedAttribute a = mlirOperationGetAttribute(op, i);
    mlirOperationStateAddAttributes(&state, 1, &a);
  }
  MlirOperation wide = mlirOperationCreate(&state);
  ir_insert(&w->ir, wide);
  put(w, ir_result(op, 0), ir_result(wide, 0), true);
  return true;
}

static bool widen_op(struct widening *w, MlirOperation op) {
  if (ir_is(op, "affine.load"))
    return widen_load(w, op);
  if (ir_is(op, "affine.store"))
    return widen_store(w, op);
  if (mlirOperationGetNumRegions(op))
    return refuse(w, op, "it is not the innermost loop");
  bool any = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    any = any || varies(w, mlirOperationGetOperand(op, i));
  if (!any && mlirxIsPure(op)) {
    copy_uniform(w, op);
    return true;
  }
  if (in_dialect(op, "arith.") || in_dialect(op, "math."))
    return widen_elementwise(w, op);
  return refuse(w, op, "it has no form on vectors");
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

static MlirBlock body_of(MlirOperation op) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
}

// Index arithmetic that went into the accesses' maps.
static void erase_dead(MlirBlock body) {
  size_t n = 0, room = 0;
  MlirOperation *ops = NULL, end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    if (n == room) {
      room = room ? 2 * room : 32;
      ops = realloc(ops, sizeof(*ops) * room);
    }
    ops[n++] = op;
  }
  while (n-- > 0)
    if (mlirxIsTriviallyDead(ops[n]))
      mlirOperationDestroy(ops[n]);
  free(ops);
}

// Lanes that are there: min over the upper bounds of bound - variable.
static MlirValue lanes_left(struct widening *w, const struct affine_loop *loop) {
  MlirContext ctx = w->ir.ctx;
  struct affine_list list = {.ctx = ctx, .at = w->loop};
  affine_list_add_map(&list, loop->upper, loop->upper_operands);
  MlirAffineExpr variable = mlirAffineDimExprGet(ctx, list.num_dims);
  MlirAffineExpr minus = mlirAffineMulExprGet(variable, mlirAffineConstantExprGet(ctx, -1));
  for (intptr_t i = 0; i < list.num_exprs; ++i)
    list.exprs[i] = mlirAffineAddExprGet(list.exprs[i], minus);
  intptr_t dims = list.num_dims + 1, n = dims + list.num_symbols;
  MlirAffineMap map = mlirAffineMapGet(ctx, dims, list.num_symbols, list.num_exprs, list.exprs);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(n + 1));
  for (intptr_t i = 0; i < list.num_dims; ++i)
    operands[i] = list.dims[i];
  operands[list.num_dims] = w->variable;
  for (intptr_t i = 0; i < list.num_symbols; ++i)
    operands[dims + i] = list.symbols[i];
  MlirValue left = list.num_exprs == 1 ? ir_apply(&w->ir, map, n, operands)
                                       : ir_affine_min(&w->ir, map, n, operands);
  free(operands);
  affine_list_free(&list);
  return left;
}

bool nest_vectorize(MlirOperation loop_op, MlirOperation schedule_op) {
  struct widening w = {
      .loop = loop_op, .blame = schedule_op, .lanes = krnl_int_attr(schedule_op, "lanes", 1)};
  if (!ir_is(loop_op, "affine.for"))
    return refuse(&w, loop_op, "its bounds are not affine");
  struct affine_loop loop = read_affine_for(loop_op);
  bool good = true;
  if (loop.num_inits)
    good = refuse(&w, loop_op, "it carries iter_args");
  else if (loop.step != 1)
    good = refuse(&w, loop_op, "it does not run in single steps");
  else if (w.lanes > 1024)
    good = refuse(&w, loop_op, "more than 1024 lanes");
  if (!good || w.lanes == 1) {
    affine_loop_free(&loop);
    return good;
  }
  MlirBlock old = body_of(loop_op);
  erase_dead(old);
  w.old_variable = mlirBlockGetArgument(old, 0);
  struct ir ir = ir_before(loop_op);
  intptr_t m = mlirAffineMapGetNumInputs(loop.lower), n = mlirAffineMapGetNumInputs(loop.upper);
  MlirOperation wide = ir_affine_for(&ir, loop.lower, m, loop.lower_operands, loop.upper, n,
                                     loop.upper_operands, w.lanes, 0, NULL, &w.ir);
  w.variable = ir_arg(&w.ir, 0);
  int64_t trip;
  if (!nest_constant_trip(loop_op, &loop, &trip) || trip % w.lanes) {
    MlirValue left = lanes_left(&w, &loop);
    MlirType mask = vector_of(&w, ir_int_type(&w.ir, 1));
    w.mask = ir_cast(&w.ir, "vector.create_mask", left, mask);
  }
  MlirOperation end = mlirBlockGetTerminator(old);
  for (MlirOperation op = mlirBlockGetFirstOperation(old); good && !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    good = widen_op(&w, op);
  mlirOperationDestroy(good ? loop_op : wide);
  affine_loop_free(&loop);
  free(w.map);
  return good;
}
