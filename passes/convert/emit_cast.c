//===- emit_cast.c - Conversions between element types -----------------------------===//
//
// Rules of expr_cast (comprehension.h). f8 and f4 types are codes in i8; bf16 is rounded by integer
// code as well, since the C runtime of older systems has no function for it.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/emit.h"

#include <math.h>
#include <string.h>

// Formats of ONNX's small floats (onnx/docs/technical/float8.md, float4.md).
struct small_format {
  int mantissa, bias, emin; // emin: exponent of the least normal
  int max_code;             // of the largest finite value, without sign
  int nan_code;             // without sign; -1: none
  int inf_code;             // -1: none
  bool one_zero;            // "UZ": no negative zero, 0x80 is NaN
  int sign_bit;
};

static struct small_format format_of(int type) {
  switch (type) {
  case ONYX_F8E4M3FN:
    return (struct small_format){3, 7, -6, 0x7e, 0x7f, -1, false, 0x80};
  case ONYX_F8E4M3FNUZ:
    return (struct small_format){3, 8, -7, 0x7f, 0x80, -1, true, 0x80};
  case ONYX_F8E5M2:
    return (struct small_format){2, 15, -14, 0x7b, 0x7e, 0x7c, false, 0x80};
  case ONYX_F8E5M2FNUZ:
    return (struct small_format){2, 16, -15, 0x7f, 0x80, -1, true, 0x80};
  default: // F4E2M1
    return (struct small_format){1, 1, 0, 0x7, -1, -1, false, 0x8};
  }
}

//===----------------------------------------------------------------------===//
// f8 and f4
//===----------------------------------------------------------------------===//

// E8M0: a power of two; the code is the exponent plus 127, 0xff is NaN. The exponent is rounded up
// (Cast 24, round_mode's default).
static MlirValue to_e8m0(struct ir *ir, MlirValue x) {
  MlirType i32 = ir_int_type(ir, 32);
  MlirValue bits = ir_cast(ir, "arith.bitcast", ir_unary(ir, "math.absf", x), i32);
  MlirValue exponent = ir_binary(ir, "arith.shrui", bits, ir_int(ir, i32, 23));
  MlirValue fraction = ir_binary(ir, "arith.andi", bits, ir_int(ir, i32, 0x7fffff));
  MlirValue some = ir_cmpi(ir, IR_NE, fraction, ir_int(ir, i32, 0));
  MlirValue below_max = ir_cmpi(ir, IR_ULT, exponent, ir_int(ir, i32, 254));
  MlirValue up = ir_cast(ir, "arith.extui", ir_binary(ir, "arith.andi", some, below_max), i32);
  MlirValue code = ir_binary(ir, "arith.addi", exponent, up);
  return ir_cast(ir, "arith.trunci", code, ir_int_type(ir, 8));
}

static MlirValue from_e8m0(struct ir *ir, MlirValue code) {
  MlirType i32 = ir_int_type(ir, 32);
  MlirValue wide = ir_cast(ir, "arith.extui", code, i32);
  MlirValue bits = ir_binary(ir, "arith.shli", wide, ir_int(ir, i32, 23));
  bits =
      ir_select(ir, ir_cmpi(ir, IR_EQ, wide, ir_int(ir, i32, 0)), ir_int(ir, i32, 1 << 22), bits);
  bits = ir_select(ir, ir_cmpi(ir, IR_EQ, wide, ir_int(ir, i32, 0xff)), ir_int(ir, i32, 0x7fc00000),
                   bits);
  return ir_cast(ir, "arith.bitcast", bits, ir_f32_type(ir));
}

// Code of |x| without regard to overflow: normals by rounding the bits half to even, subnormals by
// the rounding of an f32 addition whose unit in the last place is the format's least step.
static MlirValue round_to_code(struct ir *ir, const struct small_format *f, MlirValue magnitude) {
  MlirType i32 = ir_int_type(ir, 32), f32 = ir_f32_type(ir);
  MlirValue bits = ir_cast(ir, "arith.bitcast", magnitude, i32);
  MlirValue shift = ir_int(ir, i32, 23 - f->mantissa);
  MlirValue odd =
      ir_binary(ir, "arith.andi", ir_binary(ir, "arith.shrui", bits, shift), ir_int(ir, i32, 1));
  MlirValue half = ir_int(ir, i32, (1 << (22 - f->mantissa)) - 1);
  MlirValue rounded = ir_binary(ir, "arith.addi", ir_binary(ir, "arith.addi", bits, half), odd);
  MlirValue normal = ir_binary(ir, "arith.subi", ir_binary(ir, "arith.shrui", rounded, shift),
                               ir_int(ir, i32, (int64_t)(127 - f->bias) << f->mantissa));
  MlirValue magic = ir_float(ir, f32, ldexp(1.0, 23 + f->emin - f->mantissa));
  MlirValue sum = ir_cast(ir, "arith.bitcast", ir_binary(ir, "arith.addf", magnitude, magic), i32);
  MlirValue subnormal = ir_binary(ir, "arith.subi", sum, ir_cast(ir, "arith.bitcast", magic, i32));
  MlirValue small = ir_cmpf(ir, IR_OLT, magnitude, ir_float(ir, f32, ldexp(1.0, f->emin)));
  return ir_select(ir, small, subnormal, normal);
}

static MlirValue to_code(struct ir *ir, MlirValue x, int type, bool saturate) {
  if (type == ONYX_F8E8M0)
    return to_e8m0(ir, x);
  struct small_format f = format_of(type);
  MlirType i32 = ir_int_type(ir, 32);
  MlirValue magnitude = ir_unary(ir, "math.absf", x);
  MlirValue code = round_to_code(ir, &f, magnitude);
  int over = saturate || f.nan_code < 0 ? f.max_code : f.inf_code >= 0 ? f.inf_code : f.nan_code;
  MlirValue too_large = ir_cmpi(ir, IR_SGT, code, ir_int(ir, i32, f.max_code));
  code = ir_select(ir, too_large, ir_int(ir, i32, over), code);
  MlirValue bits = ir_cast(ir, "arith.bitcast", x, i32);
  MlirValue negative = ir_cmpi(ir, IR_SLT, bits, ir_int(ir, i32, 0));
  MlirValue zero = ir_int(ir, i32, 0);
  if (f.one_zero)
    negative = ir_binary(ir, "arith.andi", negative, ir_cmpi(ir, IR_NE, code, zero));
  MlirValue sign = ir_select(ir, negative, ir_int(ir, i32, f.sign_bit), zero);
  code = ir_binary(ir, "arith.ori", code, sign);
  MlirValue nan = ir_cmpf(ir, IR_UNO, x, x);
  int nan_code = f.nan_code >= 0 ? f.nan_code : f.sign_bit; // f4 has no NaN: -0, as the reference
  code = ir_select(ir, nan, ir_int(ir, i32, nan_code), code);
  return ir_cast(ir, "arith.trunci", code, ir_int_type(ir, 8));
}

static MlirValue from_code(struct ir *ir, MlirValue code, int type) {
  if (type == ONYX_F8E8M0)
    return from_e8m0(ir, code);
  struct small_format f = format_of(type);
  MlirType i32 = ir_int_type(ir, 32), f32 = ir_f32_type(ir);
  MlirValue wide = ir_cast(ir, "arith.extui", code, i32);
  MlirValue magnitude = ir_binary(ir, "arith.andi", wide, ir_int(ir, i32, f.sign_bit - 1));
  MlirValue shifted = ir_binary(ir, "arith.shli", magnitude, ir_int(ir, i32, 23 - f.mantissa));
  MlirValue offset = ir_int(ir, i32, (int64_t)(127 - f.bias) << 23);
  MlirValue normal =
      ir_cast(ir, "arith.bitcast", ir_binary(ir, "arith.addi", shifted, offset), f32);
  MlirValue step = ir_float(ir, f32, ldexp(1.0, f.emin - f.mantissa));
  MlirValue subnormal =
      ir_binary(ir, "arith.mulf", ir_cast(ir, "arith.uitofp", magnitude, f32), step);
  MlirValue is_sub = ir_cmpi(ir, IR_ULT, magnitude, ir_int(ir, i32, 1 << f.mantissa));
  MlirValue value = ir_select(ir, is_sub, subnormal, normal);
  if (f.inf_code >= 0) {
    MlirValue inf = ir_cmpi(ir, IR_EQ, magnitude, ir_int(ir, i32, f.inf_code));
    value = ir_select(ir, inf, ir_float(ir, f32, __builtin_inf()), value);
  }
  MlirValue negative =
      ir_cmpi(ir, IR_NE, ir_binary(ir, "arith.andi", wide, ir_int(ir, i32, f.sign_bit)),
              ir_int(ir, i32, 0));
  value = ir_select(ir, negative, ir_unary(ir, "arith.negf", value), value);
  if (f.nan_code < 0)
    return value;
  MlirValue nan = f.one_zero ? ir_cmpi(ir, IR_EQ, wide, ir_int(ir, i32, 0x80))
                             : ir_cmpi(ir, IR_UGT, magnitude,
                                       ir_int(ir, i32, f.inf_code >= 0 ? f.inf_code : f.max_code));
  return ir_select(ir, nan, ir_float(ir, f32, __builtin_nan("")), value);
}

int64_t emit_code_of(int type, double value) {
  if (type == ONYX_F8E8M0) {
    if (isnan(value))
      return 0xff;
    int e;
    double m = frexp(fabs(value), &e); // m in [0.5, 1)
    int code = value == 0 ? 0 : e - 1 + (m > 0.5) + 127;
    return code < 0 ? 0 : code > 254 ? 254 : code;
  }
  struct small_format f = format_of(type);
  if (isnan(value))
    return f.nan_code >= 0 ? f.nan_code : f.max_code;
  int sign = signbit(value) ? f.sign_bit : 0;
  double a = fabs(value);
  if (isinf(a))
    return (f.inf_code >= 0 ? f.inf_code : f.max_code) | sign;
  int e = a == 0 ? f.emin : ilogb(a);
  if (e < f.emin)
    e = f.emin;
  int64_t steps = (int64_t)nearbyint(ldexp(a, f.mantissa - e)); // half to even
  int64_t code = steps + ((int64_t)(e - f.emin) << f.mantissa);
  if (code > f.max_code)
    code = f.max_code;
  return f.one_zero && code == 0 ? 0 : code | sign;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static MlirValue f32_to_bf16(struct ir *ir, MlirValue x) {
  MlirType i32 = ir_int_type(ir, 32), i16 = ir_int_type(ir, 16);
  MlirValue bits = ir_cast(ir, "arith.bitcast", x, i32);
  MlirValue high = ir_binary(ir, "arith.shrui", bits, ir_int(ir, i32, 16));
  MlirValue odd = ir_binary(ir, "arith.andi", high, ir_int(ir, i32, 1));
  MlirValue half = ir_binary(ir, "arith.addi", odd, ir_int(ir, i32, 0x7fff));
  MlirValue rounded =
      ir_binary(ir, "arith.shrui", ir_binary(ir, "arith.addi", bits, half), ir_int(ir, i32, 16));
  MlirValue quiet = ir_binary(ir, "arith.ori", high, ir_int(ir, i32, 0x40));
  MlirValue code = ir_select(ir, ir_cmpf(ir, IR_UNO, x, x), quiet, rounded);
  return ir_cast(ir, "arith.bitcast", ir_cast(ir, "arith.trunci", code, i16),
                 mlirBF16TypeGet(ir->ctx));
}

static MlirValue bf16_to_f32(struct ir *ir, MlirValue x) {
  MlirType i32 = ir_int_type(ir, 32), i16 = ir_int_type(ir, 16);
  MlirValue wide = ir_cast(ir, "arith.extui", ir_cast(ir, "arith.bitcast", x, i16), i32);
  MlirValue bits = ir_binary(ir, "arith.shli", wide, ir_int(ir, i32, 16));
  return ir_cast(ir, "arith.bitcast", bits, ir_f32_type(ir));
}

// Any float to f32 or f64, which are left as they are.
static MlirValue widen(struct ir *ir, MlirValue a, int *from) {
  int type = *from;
  if (!emit_is_small_float(type))
    return a;
  *from = ONYX_F32;
  if (type == ONYX_F16)
    return ir_cast(ir, "arith.extf", a, ir_f32_type(ir));
  return type == ONYX_BF16 ? bf16_to_f32(ir, a) : from_code(ir, a, type);
}

static MlirValue float_to_float(struct ir *ir, MlirValue a, int from, int to, bool saturate) {
  if (from == ONYX_F64 && to == ONYX_F16)
    return ir_cast(ir, "arith.truncf", a, mlirF16TypeGet(ir->ctx));
  MlirValue wide = widen(ir, a, &from);
  if (to == ONYX_F64)
    return from == ONYX_F64 ? wide : ir_cast(ir, "arith.extf", wide, mlirF64TypeGet(ir->ctx));
  if (from == ONYX_F64)
    wide = ir_cast(ir, "arith.truncf", wide, ir_f32_type(ir));
  if (to == ONYX_F32)
    return wide;
  if (to == ONYX_F16)
    return ir_cast(ir, "arith.truncf", wide, mlirF16TypeGet(ir->ctx));
  return to == ONYX_BF16 ? f32_to_bf16(ir, wide) : to_code(ir, wide, to, saturate);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static MlirValue narrow(struct ir *ir, MlirValue v, int type) {
  unsigned bits = emit_bits(type);
  if (bits >= 8)
    return v;
  MlirType t = mlirValueGetType(v);
  if (!emit_is_signed(type))
    return ir_binary(ir, "arith.andi", v, ir_int(ir, t, (1 << bits) - 1));
  MlirValue shift = ir_int(ir, t, 8 - bits);
  return ir_binary(ir, "arith.shrsi", ir_binary(ir, "arith.shli", v, shift), shift);
}

static MlirValue int_to_int(struct ir *ir, MlirValue a, int from, int to) {
  MlirType i64 = ir_int_type(ir, 64), target = emit_type(ir->ctx, to);
  if (from == ONYX_INDEX) {
    a = ir_from_index(ir, a, i64);
    from = ONYX_I64;
  }
  if (to == ONYX_INDEX)
    return ir_to_index(ir, int_to_int(ir, a, from, ONYX_I64));
  unsigned have = mlirIntegerTypeGetWidth(mlirValueGetType(a)),
           want = mlirIntegerTypeGetWidth(target);
  if (have < want)
    a = ir_cast(ir, emit_is_signed(from) ? "arith.extsi" : "arith.extui", a, target);
  else if (have > want)
    a = ir_cast(ir, "arith.trunci", a, target);
  return narrow(ir, a, to);
}

static MlirValue int_to_float(struct ir *ir, MlirValue a, int from, int to, bool saturate) {
  if (from == ONYX_INDEX) {
    a = ir_from_index(ir, a, ir_int_type(ir, 64));
    from = ONYX_I64;
  }
  bool f64 = to == ONYX_F64;
  MlirType wide = f64 ? mlirF64TypeGet(ir->ctx) : ir_f32_type(ir);
  MlirValue v = ir_cast(ir, emit_is_signed(from) ? "arith.sitofp" : "arith.uitofp", a, wide);
  return f64 ? v : float_to_float(ir, v, ONYX_F32, to, saturate);
}

// Truncated; what does not fit becomes the nearest bound, NaN becomes 0.
static MlirValue float_to_int(struct ir *ir, MlirValue a, int from, int to) {
  bool to_index = to == ONYX_INDEX;
  int target = to_index ? ONYX_I64 : to;
  MlirValue x = widen(ir, a, &from);
  MlirType ft = mlirValueGetType(x), it = emit_type(ir->ctx, target);
  unsigned bits = emit_bits(target);
  bool is_signed = emit_is_signed(target);
  double low = is_signed ? -ldexp(1.0, (int)bits - 1) : 0.0;
  double high = ldexp(1.0, is_signed ? (int)bits - 1 : (int)bits);
  int64_t least = is_signed ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
  int64_t most = is_signed    ? (int64_t)~(UINT64_MAX << (bits - 1))
                 : bits == 64 ? -1
                              : (int64_t)~(UINT64_MAX << bits);
  x = ir_unary(ir, "math.trunc", x);
  MlirValue zero = ir_float(ir, ft, 0.0);
  MlirValue enough = ir_cmpf(ir, IR_OGE, x, ir_float(ir, ft, low));
  MlirValue below = ir_cmpf(ir, IR_OLT, x, ir_float(ir, ft, high));
  MlirValue fits = ir_binary(ir, "arith.andi", enough, below);
  MlirValue safe = ir_select(ir, fits, x, zero);
  MlirValue in_range = ir_cast(ir, is_signed ? "arith.fptosi" : "arith.fptoui", safe, it);
  MlirValue too_high = ir_cmpf(ir, IR_OGE, x, ir_float(ir, ft, high));
  MlirValue outside = ir_select(ir, too_high, ir_int(ir, it, most), ir_int(ir, it, 0));
  if (is_signed) {
    MlirValue too_low = ir_cmpf(ir, IR_OLT, x, ir_float(ir, ft, low));
    outside = ir_select(ir, too_low, ir_int(ir, it, least), outside);
  }
  MlirValue r = ir_select(ir, fits, in_range, outside);
  return to_index ? ir_to_index(ir, r) : r;
}

//===----------------------------------------------------------------------===//
// By type
//===----------------------------------------------------------------------===//

static MlirValue to_bool(struct ir *ir, MlirValue a, int from) {
  if (emit_is_integer(from))
    return ir_cmpi(ir, IR_NE, a, ir_int(ir, mlirValueGetType(a), 0));
  MlirValue x = widen(ir, a, &from);
  return ir_cmpf(ir, IR_UNE, x, ir_float(ir, mlirValueGetType(x), 0.0));
}

MlirValue emit_cast(struct ir *ir, MlirValue a, int from, int to, bool saturate) {
  if (from == to)
    return a;
  if (to == ONYX_BOOL)
    return to_bool(ir, a, from);
  if (from == ONYX_BOOL) {
    if (to == ONYX_INDEX)
      return ir_cast(ir, "arith.index_castui", a, ir_index_type(ir));
    if (emit_is_integer(to))
      return ir_cast(ir, "arith.extui", a, emit_type(ir->ctx, to));
    return int_to_float(ir, ir_cast(ir, "arith.extui", a, ir_int_type(ir, 32)), ONYX_U32, to,
                        saturate);
  }
  if (emit_is_integer(from))
    return emit_is_integer(to) ? int_to_int(ir, a, from, to)
                               : int_to_float(ir, a, from, to, saturate);
  return emit_is_integer(to) ? float_to_int(ir, a, from, to)
                             : float_to_float(ir, a, from, to, saturate);
}

MlirValue emit_bitcast(struct ir *ir, MlirValue a, int from, int to) {
  MlirType target = emit_type(ir->ctx, to);
  if (from == ONYX_INDEX || to == ONYX_INDEX)
    return emit_cast(ir, a, from, to, false);
  return mlirTypeEqual(mlirValueGetType(a), target) ? a : ir_cast(ir, "arith.bitcast", a, target);
}
