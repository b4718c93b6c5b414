// Cast, CastLike, BitCast.
#include "dialects/onnx/ops/scalar.h"

#include <string.h>

static bool cast_shape(op_view *v, shape_result *results, onyx_elem to) {
  results[0].type.elem = to;
  shape_like(v, results, 0, 0);
  const onnx_operand *x = view_operand(v, 0);
  int64_t n = shape_data_size(&results[0]);
  if (n < 0 || !x->values || x->num_values != n)
    return true;
  const dim **values = shape_data(v, results, 0, n);
  for (int64_t k = 0; k < n; k++) {
    values[k] = x->values[k];
    if (to == ONYX_BOOL && x->type.elem != ONYX_BOOL)
      values[k] = dim_select(v->dims, dim_eq(v->dims, x->values[k], dim_const(v->dims, 0)),
                             dim_const(v->dims, 0), dim_const(v->dims, 1));
  }
  return true;
}

static onyx_elem attr_to(const op_view *v) {
  int64_t to = view_int(v, "to");
  return to > 0 && to < ONYX_ELEM_COUNT ? (onyx_elem)to : ONYX_ELEM_UNDEFINED;
}

static bool verify_to(op_view *v) {
  return attr_to(v) != ONYX_ELEM_UNDEFINED ||
         view_error(v, "to: expected an element type, found %lld", (long long)view_int(v, "to"));
}

static bool shape_cast(op_view *v, shape_result *results) {
  return verify_to(v) && cast_shape(v, results, attr_to(v));
}
static bool shape_cast_like(op_view *v, shape_result *results) {
  return cast_shape(v, results, view_elem(v, 1));
}

// Float to the exponent-only type: the bits of the f32's exponent, moved by round_mode. The sign
// and what is no number go as the reference has them: the sign is dropped, infinity and NaN are
// NaN.
static const expr *cast_to_e8m0(comprehension *c, const expr *x, bool saturate, const char *mode) {
  const expr *bits = expr_bitcast(c, expr_cast(c, x, ONYX_F32), ONYX_U32),
             *zero = expr_zero(c, ONYX_U32);
  const expr *exponent = x_and(c, expr_binary(c, EXPR_SHR, bits, expr_int(c, ONYX_U32, 23)),
                               expr_int(c, ONYX_U32, 0xff));
  const expr *fraction = x_and(c, bits, expr_int(c, ONYX_U32, 0x7fffff));
  const expr *up = expr_int(c, ONYX_BOOL, 0);
  if (strcmp(mode, "up") == 0)
    up = expr_compare(c, EXPR_NE, fraction, zero);
  if (strcmp(mode, "nearest") == 0) { // a tie goes up unless that leaves the subnormals
    const expr *half = expr_int(c, ONYX_U32, 0x400000);
    const expr *tie_up =
        x_and(c, x_eq(c, fraction, half), expr_compare(c, EXPR_NE, exponent, zero));
    up = x_or(c, x_lt(c, half, fraction), tie_up);
  }
  if (saturate)
    up = x_and(c, up, x_lt(c, exponent, expr_int(c, ONYX_U32, 0xfe)));
  const expr *special = x_eq(c, exponent, expr_int(c, ONYX_U32, 0xff));
  const expr *moved = x_add(c, exponent, expr_select(c, up, expr_one(c, ONYX_U32), zero));
  return expr_bitcast(c, expr_cast(c, expr_select(c, special, exponent, moved), ONYX_U8),
                      ONYX_F8E8M0);
}

// Float to a narrow integer truncates and then wraps, as the reference does (node test
// cast_FLOAT_to_UINT4).
static const expr *cast_to_narrow(comprehension *c, const expr *x, onyx_elem to) {
  bool narrow = onyx_elem_is_int(to) && onyx_elem_bits(to) < 32;
  if (onyx_elem_is_float((onyx_elem)x->type) && (narrow || to == ONYX_U32))
    x = expr_cast(c, x, narrow ? ONYX_I32 : ONYX_I64);
  return x;
}

static bool comp_cast(op_view *v, const shape_result *results, comprehension *c) {
  onyx_elem from = view_elem(v, 0), to = results[0].type.elem;
  if (!need_rank(v, 0))
    return false;
  if (from == to) {
    c->alias_of = 0;
    return true;
  }
  if (from == ONYX_STRING || to == ONYX_STRING)
    return view_error(v, "a cast from or to strings is no loop nest");
  int out = comp_result(c, 0);
  bool saturate = view_int(v, "saturate") != 0;
  const expr *x = comp_read_broadcast(c, 0, results[0].type.rank);
  comp_stage *s = comp_stage_over(c, out);
  if (to == ONYX_F8E8M0)
    x = cast_to_e8m0(c, x, saturate, view_string(v, "round_mode"));
  else
    x = expr_cast_saturate(c, cast_to_narrow(c, x, to), to,
                           saturate && onyx_elem_is_float(to) && onyx_elem_bits(to) == 8);
  comp_write_point(c, s, out, x);
  return true;
}

static bool verify_bit_cast(op_view *v) {
  if (!verify_to(v))
    return false;
  onyx_elem from = view_elem(v, 0), to = attr_to(v);
  return from == ONYX_ELEM_UNDEFINED || onyx_elem_bits(from) == onyx_elem_bits(to) ||
         view_error(
             v, "to: expected a type of %d bits, as operand 0 ('input') has, found %s of %d bits",
             onyx_elem_bits(from), onyx_elem_onnx_name(to), onyx_elem_bits(to));
}

static bool shape_bit_cast(op_view *v, shape_result *results) {
  if (!verify_bit_cast(v))
    return false;
  results[0].type.elem = attr_to(v);
  shape_like(v, results, 0, 0);
  return true;
}

static bool comp_bit_cast(op_view *v, const shape_result *results, comprehension *c) {
  if (!need_rank(v, 0))
    return false;
  int out = comp_result(c, 0);
  const expr *x = comp_read_broadcast(c, 0, results[0].type.rank);
  comp_write_point(c, comp_stage_over(c, out), out, expr_bitcast(c, x, results[0].type.elem));
  return true;
}

const op_def ops_cast[] = {
    {"BitCast", verify_bit_cast, shape_bit_cast, comp_bit_cast},
    {"Cast", verify_to, shape_cast, comp_cast},
    {"CastLike", NULL, shape_cast_like, comp_cast},
};
const int num_ops_cast = sizeof ops_cast / sizeof ops_cast[0];
