//===- emit_arith.c - Scalar operations with defined results -----------------------===//
//
// What C and LLVM leave undefined (division by zero, MIN / -1, shifts past the width) is guarded by
// selects, so that no poison arises; the results are those that comprehension.h states.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/emit.h"

#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

MlirOperation emit_module_of(const struct ir *ir) {
  MlirOperation op = mlirBlockGetParentOperation(ir->block);
  for (;;) {
    MlirOperation up = mlirOperationGetParentOperation(op);
    if (mlirOperationIsNull(up))
      return op;
    op = up;
  }
}

static void declare(struct ir *ir, MlirOperation module, const char *callee, intptr_t n,
                    const MlirType *args, MlirType result) {
  struct ir at = ir_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), ir->loc);
  MlirRegion region = mlirRegionCreate();
  struct ir_attr attrs[] = {
      {"sym_name", ir_string_attr(ir->ctx, callee)},
      {"function_type", mlirTypeAttrGet(mlirFunctionTypeGet(ir->ctx, n, args, 1, &result))},
      {"sym_visibility", ir_string_attr(ir->ctx, "private")}};
  ir_op(&at, "func.func", 0, NULL, 0, NULL, 3, attrs, 1, &region);
}

MlirValue emit_call(struct ir *ir, const char *callee, intptr_t n, const MlirValue *args,
                    MlirType result) {
  MlirOperation module = emit_module_of(ir);
  if (mlirOperationIsNull(ir_lookup_symbol(module, ir_str(callee)))) {
    MlirType types[4];
    for (intptr_t i = 0; i < n && i < 4; ++i)
      types[i] = mlirValueGetType(args[i]);
    declare(ir, module, callee, n, types, result);
  }
  return ir_result(ir_call(ir, callee, n, args, 1, &result), 0);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

// Back into the range of a 4- or 2-bit type, whose value an i8 holds.
static MlirValue wrap_narrow(struct ir *ir, int type, MlirValue v) {
  unsigned bits = emit_bits(type);
  if (bits >= 8 || type == ONYX_BOOL || emit_is_code(type))
    return v;
  MlirType t = mlirValueGetType(v);
  if (!emit_is_signed(type))
    return ir_binary(ir, "arith.andi", v, ir_int(ir, t, (1 << bits) - 1));
  MlirValue shift = ir_int(ir, t, 8 - bits);
  return ir_binary(ir, "arith.shrsi", ir_binary(ir, "arith.shli", v, shift), shift);
}

struct division {
  MlirValue zero, one, by_zero, by_minus_one, divisor;
};

// The divisor with 0 and, for signed types, -1 replaced by 1. A constant divisor needs no guard.
static struct division guard_division(struct ir *ir, int type, MlirValue b) {
  MlirType t = mlirValueGetType(b);
  struct division d = {.zero = ir_int(ir, t, 0), .divisor = b};
  int64_t constant;
  if (ir_constant_int(b, &constant) && constant != 0 && constant != -1)
    return d;
  d.one = ir_int(ir, t, 1);
  d.by_zero = ir_cmpi(ir, IR_EQ, b, d.zero);
  MlirValue bad = d.by_zero;
  if (emit_is_signed(type)) {
    d.by_minus_one = ir_cmpi(ir, IR_EQ, b, ir_int(ir, t, -1));
    bad = ir_binary(ir, "arith.ori", bad, d.by_minus_one);
  }
  d.divisor = ir_select(ir, bad, d.one, b);
  return d;
}

static MlirValue int_div(struct ir *ir, int type, MlirValue a, MlirValue b) {
  struct division d = guard_division(ir, type, b);
  MlirValue q = ir_binary(ir, emit_is_signed(type) ? "arith.divsi" : "arith.divui", a, d.divisor);
  if (!mlirValueIsNull(d.by_minus_one))
    q = ir_select(ir, d.by_minus_one, ir_binary(ir, "arith.subi", d.zero, a), q);
  return mlirValueIsNull(d.by_zero) ? q : ir_select(ir, d.by_zero, d.zero, q);
}

// With the divisor 1 in place of 0 and -1 the remainder is 0, as it should be.
static MlirValue int_rem(struct ir *ir, int type, MlirValue a, MlirValue b) {
  struct division d = guard_division(ir, type, b);
  return ir_binary(ir, emit_is_signed(type) ? "arith.remsi" : "arith.remui", a, d.divisor);
}

// r != 0 and r, b of different signs: truncation and floor differ.
static MlirValue rounds_up(struct ir *ir, MlirValue r, MlirValue b) {
  MlirValue zero = ir_int(ir, mlirValueGetType(r), 0);
  MlirValue some = ir_cmpi(ir, IR_NE, r, zero);
  MlirValue differ = ir_cmpi(ir, IR_SLT, ir_binary(ir, "arith.xori", r, b), zero);
  return ir_binary(ir, "arith.andi", some, differ);
}

static MlirValue int_mod(struct ir *ir, int type, MlirValue a, MlirValue b) {
  MlirValue r = int_rem(ir, type, a, b);
  if (!emit_is_signed(type))
    return r;
  return ir_select(ir, rounds_up(ir, r, b), ir_binary(ir, "arith.addi", r, b), r);
}

static MlirValue int_floordiv(struct ir *ir, int type, MlirValue a, MlirValue b) {
  MlirValue q = int_div(ir, type, a, b);
  if (!emit_is_signed(type))
    return q;
  MlirValue r = int_rem(ir, type, a, b);
  MlirValue one = ir_int(ir, mlirValueGetType(a), 1);
  return ir_select(ir, rounds_up(ir, r, b), ir_binary(ir, "arith.subi", q, one), q);
}

static MlirValue int_shift(struct ir *ir, const char *name, int type, MlirValue a, MlirValue b) {
  MlirType t = mlirValueGetType(a);
  MlirValue zero = ir_int(ir, t, 0);
  MlirValue fits = ir_cmpi(ir, IR_ULT, b, ir_int(ir, t, emit_bits(type)));
  MlirValue shifted = ir_binary(ir, name, a, ir_select(ir, fits, b, zero));
  return ir_select(ir, fits, shifted, zero);
}

// By squaring: result, base, exponent go round while the exponent is positive.
static MlirValue int_pow(struct ir *ir, int type, MlirValue a, MlirValue b) {
  MlirType t = mlirValueGetType(a);
  MlirValue zero = ir_int(ir, t, 0), one = ir_int(ir, t, 1);
  MlirValue negative =
      emit_is_signed(type) ? ir_cmpi(ir, IR_SLT, b, zero) : ir_int(ir, ir_int_type(ir, 1), 0);
  MlirValue inits[] = {one, a, ir_select(ir, negative, zero, b)};
  struct ir before, after;
  MlirOperation loop = ir_while(ir, 3, inits, &before, &after);
  MlirValue state[3], next[3];
  for (int i = 0; i < 3; ++i)
    state[i] = ir_arg(&before, i);
  MlirValue condition[] = {ir_cmpi(&before, IR_NE, state[2], zero), state[0], state[1], state[2]};
  ir_yield(&before, "scf.condition", 4, condition);
  for (int i = 0; i < 3; ++i)
    state[i] = ir_arg(&after, i);
  MlirValue odd = ir_cmpi(&after, IR_NE, ir_binary(&after, "arith.andi", state[2], one), zero);
  next[0] = ir_select(&after, odd, ir_binary(&after, "arith.muli", state[0], state[1]), state[0]);
  next[1] = ir_binary(&after, "arith.muli", state[1], state[1]);
  next[2] = ir_binary(&after, "arith.shrui", state[2], one);
  ir_yield(&after, "scf.yield", 3, next);
  MlirValue power = ir_result(loop, 0);
  if (!emit_is_signed(type))
    return power;
  // a^-n truncates to 0 but for 1 and -1; 0^-n is 0 by definition here.
  MlirValue minus = ir_int(ir, t, -1);
  MlirValue even = ir_cmpi(ir, IR_EQ, ir_binary(ir, "arith.andi", b, one), zero);
  MlirValue unit = ir_select(ir, ir_cmpi(ir, IR_EQ, a, one), one, zero);
  unit = ir_select(ir, ir_cmpi(ir, IR_EQ, a, minus), ir_select(ir, even, one, minus), unit);
  return ir_select(ir, negative, unit, power);
}

static MlirValue int_binary(struct ir *ir, expr_op op, int type, MlirValue a, MlirValue b) {
  bool is_signed = emit_is_signed(type);
  switch (op) {
  case EXPR_ADD:
    return ir_binary(ir, "arith.addi", a, b);
  case EXPR_SUB:
    return ir_binary(ir, "arith.subi", a, b);
  case EXPR_MUL:
    return ir_binary(ir, "arith.muli", a, b);
  case EXPR_DIV:
    return int_div(ir, type, a, b);
  case EXPR_FLOORDIV:
    return int_floordiv(ir, type, a, b);
  case EXPR_MOD:
    return int_mod(ir, type, a, b);
  case EXPR_REM:
    return int_rem(ir, type, a, b);
  case EXPR_MIN:
    return ir_binary(ir, is_signed ? "arith.minsi" : "arith.minui", a, b);
  case EXPR_MAX:
    return ir_binary(ir, is_signed ? "arith.maxsi" : "arith.maxui", a, b);
  case EXPR_POW:
    return int_pow(ir, type, a, b);
  case EXPR_AND:
    return ir_binary(ir, "arith.andi", a, b);
  case EXPR_OR:
    return ir_binary(ir, "arith.ori", a, b);
  case EXPR_XOR:
    return ir_binary(ir, "arith.xori", a, b);
  case EXPR_SHL:
    return int_shift(ir, "arith.shli", type, a, b);
  case EXPR_SHR:
    return int_shift(ir, "arith.shrui", type, a, b);
  default:
    return (MlirValue){NULL};
  }
}

static MlirValue int_unary(struct ir *ir, expr_op op, int type, MlirValue a) {
  MlirType t = mlirValueGetType(a);
  MlirValue zero = ir_int(ir, t, 0);
  switch (op) {
  case EXPR_NEG:
    return ir_binary(ir, "arith.subi", zero, a);
  case EXPR_ABS:
    if (!emit_is_signed(type))
      return a;
    return ir_select(ir, ir_cmpi(ir, IR_SLT, a, zero), ir_binary(ir, "arith.subi", zero, a), a);
  case EXPR_NOT:
    return ir_binary(ir, "arith.xori", a, ir_int(ir, t, -1));
  default: // rounding and the like leave integers as they are
    return a;
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static MlirValue float_mod(struct ir *ir, MlirValue a, MlirValue b) {
  MlirType t = mlirValueGetType(a);
  MlirValue zero = ir_float(ir, t, 0.0);
  MlirValue r = ir_binary(ir, "arith.remf", a, b);
  MlirValue some = ir_cmpf(ir, IR_UNE, r, zero);
  MlirValue low = ir_cmpf(ir, IR_OLT, r, zero), negative = ir_cmpf(ir, IR_OLT, b, zero);
  MlirValue differ = ir_binary(ir, "arith.xori", low, negative);
  MlirValue adjust = ir_binary(ir, "arith.andi", some, differ);
  return ir_select(ir, adjust, ir_binary(ir, "arith.addf", r, b), r);
}

static MlirValue float_binary(struct ir *ir, expr_op op, MlirValue a, MlirValue b) {
  switch (op) {
  case EXPR_ADD:
    return ir_binary(ir, "arith.addf", a, b);
  case EXPR_SUB:
    return ir_binary(ir, "arith.subf", a, b);
  case EXPR_MUL:
    return ir_binary(ir, "arith.mulf", a, b);
  case EXPR_DIV:
    return ir_binary(ir, "arith.divf", a, b);
  case EXPR_FLOORDIV:
    return ir_unary(ir, "math.floor", ir_binary(ir, "arith.divf", a, b));
  case EXPR_MOD:
    return float_mod(ir, a, b);
  case EXPR_REM:
    return ir_binary(ir, "arith.remf", a, b);
  case EXPR_MIN:
    return ir_binary(ir, "arith.minimumf", a, b);
  case EXPR_MAX:
    return ir_binary(ir, "arith.maximumf", a, b);
  case EXPR_POW:
    return ir_binary(ir, "math.powf", a, b);
  case EXPR_ATAN2:
    return ir_binary(ir, "math.atan2", a, b);
  default:
    return (MlirValue){NULL};
  }
}

static const char *float_unary_name(expr_op op) {
  switch (op) {
  case EXPR_NEG:
    return "arith.negf";
#define MATH(op, name)                                                                             \
  case EXPR_##op:                                                                                  \
    return "math." name;
    MATH(ABS, "absf")
    MATH(FLOOR, "floor")
    MATH(CEIL, "ceil")
    MATH(ROUND, "roundeven") MATH(TRUNC, "trunc") MATH(SQRT, "sqrt") MATH(EXP, "exp")
        MATH(LOG, "log") MATH(SIN, "sin") MATH(COS, "cos") MATH(TAN, "tan") MATH(ASIN, "asin")
            MATH(ACOS, "acos") MATH(ATAN, "atan") MATH(SINH, "sinh") MATH(COSH, "cosh")
                MATH(TANH, "tanh") MATH(ASINH, "asinh") MATH(ACOSH, "acosh") MATH(ATANH, "atanh")
                    MATH(ERF, "erf")
#undef MATH
                        default : return NULL;
  }
}

static MlirValue float_unary(struct ir *ir, expr_op op, int type, MlirValue a) {
  // convert-math-to-llvm makes log(1 + x) and exp(x) - 1 of these two, which loses small x.
  if (op == EXPR_LOG1P || op == EXPR_EXPM1) {
    bool f64 = type == ONYX_F64;
    const char *callee = op == EXPR_LOG1P ? (f64 ? "log1p" : "log1pf") : (f64 ? "expm1" : "expm1f");
    return emit_call(ir, callee, 1, &a, mlirValueGetType(a));
  }
  const char *name = float_unary_name(op);
  return name ? ir_unary(ir, name, a) : (MlirValue){NULL};
}

//===----------------------------------------------------------------------===//
// Complex
//===----------------------------------------------------------------------===//

static MlirValue complex_binary(struct ir *ir, expr_op op, MlirValue a, MlirValue b) {
  switch (op) {
  case EXPR_ADD:
    return ir_binary(ir, "complex.add", a, b);
  case EXPR_SUB:
    return ir_binary(ir, "complex.sub", a, b);
  case EXPR_MUL:
    return ir_binary(ir, "complex.mul", a, b);
  case EXPR_DIV:
    return ir_binary(ir, "complex.div", a, b);
  default:
    return (MlirValue){NULL};
  }
}

//===----------------------------------------------------------------------===//
// By type
//===----------------------------------------------------------------------===//

MlirValue emit_binary(struct ir *ir, expr_op op, int type, MlirValue a, MlirValue b) {
  if (emit_is_integer(type) || type == ONYX_BOOL)
    return wrap_narrow(ir, type, int_binary(ir, op, type, a, b));
  if (type == ONYX_C64 || type == ONYX_C128)
    return complex_binary(ir, op, a, b);
  if (!emit_is_small_float(type))
    return float_binary(ir, op, a, b);
  // Every f16, bf16 and f8 operation is the f32 one, rounded.
  MlirValue r = float_binary(ir, op, emit_cast(ir, a, type, ONYX_F32, true),
                             emit_cast(ir, b, type, ONYX_F32, true));
  return emit_cast(ir, r, ONYX_F32, type, true);
}

static MlirValue is_class(struct ir *ir, expr_op op, MlirValue a) {
  if (op == EXPR_ISNAN)
    return ir_cmpf(ir, IR_UNO, a, a);
  MlirValue inf = ir_float(ir, mlirValueGetType(a), __builtin_inf());
  return ir_cmpf(ir, IR_OEQ, ir_unary(ir, "math.absf", a), inf);
}

MlirValue emit_unary(struct ir *ir, expr_op op, int type, MlirValue a) {
  bool classify = op == EXPR_ISNAN || op == EXPR_ISINF;
  if (emit_is_integer(type) || type == ONYX_BOOL)
    return classify ? ir_int(ir, ir_int_type(ir, 1), 0)
                    : wrap_narrow(ir, type, int_unary(ir, op, type, a));
  int compute = emit_is_small_float(type) ? ONYX_F32 : type;
  MlirValue wide = emit_cast(ir, a, type, compute, true);
  if (classify)
    return is_class(ir, op, wide);
  MlirValue r = float_unary(ir, op, compute, wide);
  return mlirValueIsNull(r) ? r : emit_cast(ir, r, compute, type, true);
}

MlirValue emit_compare(struct ir *ir, expr_op op, int type, MlirValue a, MlirValue b) {
  static const enum ir_cmpi with_sign[] = {IR_EQ, IR_NE, IR_SLT, IR_SLE, IR_SGT, IR_SGE};
  static const enum ir_cmpi without[] = {IR_EQ, IR_NE, IR_ULT, IR_ULE, IR_UGT, IR_UGE};
  static const enum ir_cmpf floats[] = {IR_OEQ, IR_UNE, IR_OLT, IR_OLE, IR_OGT, IR_OGE};
  int k = (int)op - (int)EXPR_EQ;
  if (type == ONYX_STRING) {
    MlirValue args[] = {a, b};
    MlirValue equal = emit_call(ir, "onyx_string_equal", 2, args, ir_int_type(ir, 1));
    return op == EXPR_EQ ? equal
                         : ir_binary(ir, "arith.xori", equal, ir_int(ir, ir_int_type(ir, 1), 1));
  }
  if (type == ONYX_C64 || type == ONYX_C128) {
    MlirType i1 = ir_int_type(ir, 1);
    MlirValue args[] = {a, b};
    const char *name = op == EXPR_EQ ? "complex.eq" : "complex.neq";
    return ir_result(ir_op(ir, name, 2, args, 1, &i1, 0, NULL, 0, NULL), 0);
  }
  if (emit_is_integer(type) || type == ONYX_BOOL)
    return ir_cmpi(ir, (emit_is_signed(type) ? with_sign : without)[k], a, b);
  int compute = emit_is_small_float(type) ? ONYX_F32 : type;
  return ir_cmpf(ir, floats[k], emit_cast(ir, a, type, compute, true),
                 emit_cast(ir, b, type, compute, true));
}
