// DFT, STFT by mixed-radix FFT; MelWeightMatrix.
#include "dialects/onnx/ops/axes.h"
#include "dialects/onnx/ops/op.h"
#include "dialects/onnx/ops/scalar.h"
#include <inttypes.h>
#include <math.h>

// --- the transform: buffers of complex numbers, [..., n, ..., 2], transformed along `axis`

typedef struct fft {
  int rank, axis;
  const dim *dims[ONYX_MAX_RANK]; // dims[axis] = n, dims[rank - 1] = 2
  int type;
  bool inverse;
  int cosines, sines; // temporaries [n]: of 2 pi k / n
} fft;

enum { MAX_RADICES = 64 };

// Prime factors of n; one radix of n itself when it is not known. Stockham's decomposition:
//   A[q][s] = sum over t < L of x[s + t * n / L] * w_L^(q t)     (q < L, s < n / L)
// goes from L to L * p by A'[q'][s'] = sum over u < p of w_{Lp}^(q' u) * A[q' mod L][s' + u * n /
// (Lp)].
static int radices_of(dim_context *d, const dim *n, const dim **radices) {
  int64_t rest;
  int count = 0;
  if (!dim_is_const(n, &rest) || rest < 2) {
    radices[0] = n;
    return 1;
  }
  for (int64_t p = 2; p * p <= rest; p++)
    for (; rest % p == 0; rest /= p)
      radices[count++] = dim_const(d, p);
  if (rest > 1)
    radices[count++] = dim_const(d, rest);
  return count;
}

static void make_twiddles(comprehension *c, fft *f) {
  const dim *n = f->dims[f->axis];
  f->cosines = comp_temp(c, (onyx_elem)f->type, 1, &n);
  f->sines = comp_temp(c, (onyx_elem)f->type, 1, &n);
  const comp_loop loop = {LOOP_PARALLEL, n};
  const expr *k = expr_loop(c, 0);
  comp_stage *s = comp_stage_begin(c, 1, &loop);
  const expr *turn = expr_float(c, ONYX_F64, f->inverse ? 2 * M_PI : -2 * M_PI);
  const expr *part =
      expr_binary(c, EXPR_DIV, expr_cast(c, k, ONYX_F64), expr_cast(c, expr_dim(c, n), ONYX_F64));
  const expr *angle = x_mul(c, turn, part);
  comp_write_at(c, s, f->cosines, 1, &k, expr_cast(c, expr_unary(c, EXPR_COS, angle), f->type),
                NULL);
  comp_write_at(c, s, f->sines, 1, &k, expr_cast(c, expr_unary(c, EXPR_SIN, angle), f->type), NULL);
}

// One radix: loops are the outer dims, q', s', and the reduction u.
static int fft_stage(comprehension *c, const fft *f, int from, const dim *done, const dim *radix) {
  dim_context *d = c->view->dims;
  const dim *n = f->dims[f->axis], *size = dim_mul(d, done, radix),
            *rest = dim_floordiv(d, n, size);
  int to = comp_temp(c, (onyx_elem)f->type, f->rank, f->dims), loops_used = 0;
  comp_loop loops[ONYX_MAX_RANK + 2];
  const expr *in[ONYX_MAX_RANK], *out[ONYX_MAX_RANK];
  for (int i = 0; i < f->rank - 1; i++) {
    if (i == f->axis)
      continue;
    in[i] = out[i] = expr_loop(c, loops_used);
    loops[loops_used++] = (comp_loop){LOOP_PARALLEL, f->dims[i]};
  }
  const expr *q = expr_loop(c, loops_used), *s = expr_loop(c, loops_used + 1);
  const expr *u = expr_loop(c, loops_used + 2);
  loops[loops_used++] = (comp_loop){LOOP_PARALLEL, size};
  loops[loops_used++] = (comp_loop){LOOP_PARALLEL, rest};
  loops[loops_used++] = (comp_loop){LOOP_REDUCTION, radix};
  comp_stage *stage = comp_stage_begin(c, loops_used, loops);
  // A is [L][n / L], A' is [Lp][n / (Lp)]
  const dim *before = dim_floordiv(d, n, done);
  const expr *row = expr_binary(c, EXPR_MOD, q, expr_dim(c, done));
  in[f->axis] =
      x_add(c, x_mul(c, row, expr_dim(c, before)), x_add(c, s, x_mul(c, u, expr_dim(c, rest))));
  out[f->axis] = x_add(c, x_mul(c, q, expr_dim(c, rest)), s);
  const expr *turn = expr_binary(c, EXPR_MOD, x_mul(c, q, u), expr_dim(c, size));
  turn = x_mul(c, turn, expr_dim(c, rest));
  const expr *wr = expr_read(c, f->cosines, 1, &turn), *wi = expr_read(c, f->sines, 1, &turn);
  in[f->rank - 1] = expr_index(c, 0);
  const expr *re = expr_read(c, from, f->rank, in);
  in[f->rank - 1] = expr_index(c, 1);
  const expr *im = expr_read(c, from, f->rank, in);
  int r = comp_acc_combine(c, stage, ACC_ADD, f->type, x_sub(c, x_mul(c, re, wr), x_mul(c, im, wi)),
                           NULL);
  int i = comp_acc_combine(c, stage, ACC_ADD, f->type, x_add(c, x_mul(c, re, wi), x_mul(c, im, wr)),
                           NULL);
  out[f->rank - 1] = expr_index(c, 0);
  comp_write_at(c, stage, to, f->rank, out, expr_acc(c, r, f->type), NULL);
  out[f->rank - 1] = expr_index(c, 1);
  comp_write_at(c, stage, to, f->rank, out, expr_acc(c, i, f->type), NULL);
  return to;
}

// Transforms buffer `from`; returns the buffer of the (unscaled) spectrum.
static int fft_run(comprehension *c, fft *f, int from) {
  dim_context *d = c->view->dims;
  const dim *radices[MAX_RADICES], *done = dim_const(d, 1);
  int n = radices_of(d, f->dims[f->axis], radices);
  make_twiddles(c, f);
  for (int i = 0; i < n; i++) {
    from = fft_stage(c, f, from, done, radices[i]);
    done = dim_mul(d, done, radices[i]);
  }
  return from;
}

static const dim *half_plus_one(dim_context *d, const dim *n) {
  return dim_add(d, dim_floordiv(d, n, dim_const(d, 2)), dim_const(d, 1));
}

// --- DFT: input [..., 1 or 2], dft_length, axis

typedef struct dft {
  int rank, axis;    // axis -1: not known before run time
  const dim *length; // NULL: not known
  bool onesided, inverse;
} dft;

static bool dft_of(op_view *v, dft *f) {
  *f = (dft){.rank = view_rank(v, 0), .axis = -1};
  f->onesided = view_int(v, "onesided") != 0;
  f->inverse = view_int(v, "inverse") != 0;
  if (f->rank < 0)
    return true;
  if (f->rank < 2)
    return view_error(v, "operand 0 ('input'): expected rank 2 or more, found rank %d", f->rank);
  int64_t axis = -2, last;
  const dim *stated = view_value(v, 2, 0);
  if (view_has(v, 2) && (!stated || !dim_is_const(stated, &axis)))
    return true;
  if (!axis_normalize(v, "operand 2 ('axis')", axis, f->rank, &f->axis))
    return false;
  if (f->axis == f->rank - 1)
    return view_error(v, "operand 2 ('axis'): the last dim holds real and imaginary part");
  if (dim_is_const(view_dim(v, 0, f->rank - 1), &last) && last != 1 && last != 2)
    return view_error(v, "operand 0 ('input'): the last dim: expected 1 or 2, found %" PRId64,
                      last);
  dim_context *d = v->dims;
  f->length = view_value(v, 1, 0);
  if (!view_has(v, 1)) {
    f->length = view_dim(v, 0, f->axis);
    if (f->inverse && f->onesided)
      f->length = dim_mul(d, dim_const(d, 2), dim_sub(d, f->length, dim_const(d, 1)));
  }
  return true;
}

static bool verify_dft(op_view *v) {
  dft f;
  return dft_of(v, &f);
}

static bool shape_dft(op_view *v, shape_result *results) {
  dft f;
  if (!dft_of(v, &f))
    return false;
  if (f.rank < 0)
    return true;
  dim_context *d = v->dims;
  const dim *dims[ONYX_MAX_RANK];
  for (int i = 0; i < f.rank; i++)
    dims[i] = f.axis < 0 ? dim_unknown(d) : view_dim(v, 0, i);
  if (f.axis >= 0) {
    const dim *n = f.length ? f.length : dim_unknown(d);
    dims[f.axis] = f.onesided && !f.inverse ? half_plus_one(d, n) : n;
  }
  dims[f.rank - 1] = dim_const(d, f.inverse && f.onesided ? 1 : 2);
  shape_set(v, results, 0, f.rank, dims);
  return true;
}

// Part 0 (real) or 1 of the input at `at` along the axis, 0 outside of it.
static const expr *read_part(comprehension *c, const dft *f, const expr *at, int part, int type) {
  const expr *index[ONYX_MAX_RANK], *zero = expr_zero(c, view_elem(c->view, 0));
  for (int i = 0; i < f->rank - 1; i++)
    index[i] = i == f->axis ? at : expr_loop(c, i);
  index[f->rank - 1] = expr_index(c, part);
  return expr_cast(c, expr_read_padded(c, 0, f->rank, index, zero), type);
}

// The input as complex numbers, cut or padded to the length; a one-sided spectrum is completed by
// its mirror image.
static int load_input(comprehension *c, const dft *f, const fft *t) {
  int to = comp_temp(c, (onyx_elem)t->type, t->rank, t->dims);
  comp_loop loops[ONYX_MAX_RANK];
  const expr *at[ONYX_MAX_RANK];
  for (int i = 0; i < f->rank - 1; i++) {
    loops[i] = (comp_loop){LOOP_PARALLEL, t->dims[i]};
    at[i] = expr_loop(c, i);
  }
  const expr *k = at[f->axis], *source = k, *mirrored = NULL;
  if (f->inverse && f->onesided) {
    const expr *n = expr_dim(c, f->length);
    mirrored = expr_compare(c, EXPR_GE, k, expr_dim(c, half_plus_one(c->view->dims, f->length)));
    source = expr_select(c, mirrored, x_sub(c, n, k), k);
  }
  comp_stage *s = comp_stage_begin(c, f->rank - 1, loops);
  const expr *re = read_part(c, f, source, 0, t->type), *im = read_part(c, f, source, 1, t->type);
  if (mirrored)
    im = expr_select(c, mirrored, expr_unary(c, EXPR_NEG, im), im);
  at[f->rank - 1] = expr_index(c, 0);
  comp_write_at(c, s, to, f->rank, at, re, NULL);
  at[f->rank - 1] = expr_index(c, 1);
  comp_write_at(c, s, to, f->rank, at, im, NULL);
  return to;
}

static void write_spectrum(comprehension *c, const fft *t, int from, const expr *scale) {
  int y = comp_result(c, 0);
  const expr *at[ONYX_MAX_RANK];
  for (int i = 0; i < t->rank; i++)
    at[i] = expr_loop(c, i);
  comp_stage *s = comp_stage_over(c, y);
  const expr *value = expr_read(c, from, t->rank, at);
  value = scale ? expr_binary(c, EXPR_DIV, value, scale) : value;
  comp_write_point(c, s, y, expr_cast(c, value, view_elem(c->view, 0)));
}

static bool comp_dft(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  dft f;
  if (!dft_of(v, &f))
    return false;
  if (f.axis < 0)
    return view_error(v, "%s",
                      f.rank < 0 ? "operand 0 ('input'): the rank is not known"
                                 : "operand 2 ('axis'): the value is not known");
  if (!f.length)
    return view_error(v, "operand 1 ('dft_length'): the value is not known");
  fft t = {.rank = f.rank,
           .axis = f.axis,
           .type = expr_compute_type(view_elem(v, 0)),
           .inverse = f.inverse};
  for (int i = 0; i < f.rank - 1; i++)
    t.dims[i] = i == f.axis ? f.length : view_dim(v, 0, i);
  t.dims[f.rank - 1] = dim_const(v->dims, 2);
  int spectrum = fft_run(c, &t, load_input(c, &f, &t));
  const expr *n = f.inverse ? expr_cast(c, expr_dim(c, f.length), t.type) : NULL;
  write_spectrum(c, &t, spectrum, n);
  return true;
}

// --- STFT: signal [batch, length, 1 or 2], frame_step, window, frame_length

typedef struct stft {
  bool known;
  const dim *batch, *signal, *step, *length, *frames;
  bool onesided;
} stft;

static bool stft_of(op_view *v, stft *s) {
  *s = (stft){.onesided = view_int(v, "onesided") != 0};
  int rank = view_rank(v, 0);
  if (rank >= 0 && rank != 2 && rank != 3)
    return view_error(v, "operand 0 ('signal'): expected rank 3, found rank %d", rank);
  if (view_rank(v, 2) >= 0 && view_has(v, 2) && view_rank(v, 2) != 1)
    return view_error(v, "operand 2 ('window'): expected rank 1, found rank %d", view_rank(v, 2));
  int64_t step;
  s->step = view_value(v, 1, 0);
  if (s->step && dim_is_const(s->step, &step) && step < 1)
    return view_error(v, "operand 1 ('frame_step'): expected at least 1, found %" PRId64, step);
  if (rank < 0)
    return true;
  s->batch = view_dim(v, 0, 0);
  s->signal = view_dim(v, 0, 1);
  s->length = view_has(v, 3)         ? view_value(v, 3, 0)
              : view_rank(v, 2) == 1 ? view_dim(v, 2, 0)
              : view_has(v, 2)       ? NULL
                                     : s->signal;
  s->known = s->step && s->length;
  if (!s->known)
    return true;
  dim_context *d = v->dims;
  s->frames =
      dim_add(d, dim_floordiv(d, dim_sub(d, s->signal, s->length), s->step), dim_const(d, 1));
  if (s->frames->op != DIM_CONST || s->frames->value < 0)
    s->frames = dim_max(d, s->frames, dim_const(d, 0));
  return true;
}

static bool verify_stft(op_view *v) {
  stft s;
  return stft_of(v, &s);
}

static bool shape_stft(op_view *v, shape_result *results) {
  stft s;
  if (!stft_of(v, &s))
    return false;
  if (view_rank(v, 0) < 0)
    return true;
  dim_context *d = v->dims;
  const dim *bins = !s.length ? dim_unknown(d) : s.onesided ? half_plus_one(d, s.length) : s.length;
  const dim *dims[] = {s.batch, s.known ? s.frames : dim_unknown(d), bins, dim_const(d, 2)};
  shape_set(v, results, 0, 4, dims);
  return true;
}

// Frames of the signal times the window, as complex numbers.
static int load_frames(comprehension *c, const stft *s, const fft *t) {
  op_view *v = c->view;
  int to = comp_temp(c, (onyx_elem)t->type, 4, t->dims), rank = view_rank(v, 0);
  comp_loop loops[3];
  for (int i = 0; i < 3; i++)
    loops[i] = (comp_loop){LOOP_PARALLEL, t->dims[i]};
  const expr *b = expr_loop(c, 0), *frame = expr_loop(c, 1), *k = expr_loop(c, 2);
  comp_stage *stage = comp_stage_begin(c, 3, loops);
  const expr *zero = expr_zero(c, view_elem(v, 0));
  const expr *window =
      view_has(v, 2) ? expr_cast(c, expr_read_padded(c, 2, 1, &k, zero), t->type) : NULL;
  for (int part = 0; part < 2; part++) {
    const expr *in[] = {b, x_add(c, x_mul(c, frame, expr_dim(c, s->step)), k), expr_index(c, part)};
    const expr *x = rank == 2 && part ? zero : expr_read_padded(c, 0, rank, in, zero);
    x = expr_cast(c, x, t->type);
    const expr *out[] = {b, frame, k, expr_index(c, part)};
    comp_write_at(c, stage, to, 4, out, window ? x_mul(c, x, window) : x, NULL);
  }
  return to;
}

static bool comp_stft(op_view *v, const shape_result *results, comprehension *c) {
  (void)results;
  stft s;
  if (!stft_of(v, &s))
    return false;
  if (!s.known)
    return view_error(v, "frame_step or frame_length is not known, or the signal's rank");
  fft t = {.rank = 4,
           .axis = 2,
           .type = expr_compute_type(view_elem(v, 0)),
           .dims = {s.batch, s.frames, s.length, dim_const(v->dims, 2)}};
  write_spectrum(c, &t, fft_run(c, &t, load_frames(c, &s, &t)), NULL);
  return true;
}

// --- MelWeightMatrix: num_mel_bins, dft_length, sample_rate, lower and upper edge in hertz

static bool verify_mel(op_view *v) {
  for (int i = 0; i < 5; i++) {
    int64_t n;
    if (view_rank(v, i) > 1)
      return view_error(v, "operand %d: expected a scalar, found rank %d", i, view_rank(v, i));
    if (i < 3 && view_value(v, i, 0) && dim_is_const(view_value(v, i, 0), &n) && n < 1)
      return view_error(v, "operand %d: expected at least 1, found %" PRId64, i, n);
  }
  return true;
}

static bool shape_mel(op_view *v, shape_result *results) {
  if (!verify_mel(v))
    return false;
  results[0].type.elem = (onyx_elem)view_int(v, "output_datatype");
  const dim *mels = view_value(v, 0, 0), *length = view_value(v, 1, 0);
  const dim *dims[] = {length ? half_plus_one(v->dims, length) : dim_unknown(v->dims),
                       mels ? mels : dim_unknown(v->dims)};
  shape_set(v, results, 0, 2, dims);
  return true;
}

static const expr *scalar(comprehension *c, int operand) {
  const expr *zero = expr_index(c, 0);
  return expr_cast(c, expr_read(c, operand, view_rank(c->view, operand) > 0, &zero), ONYX_F64);
}

static const expr *hertz_to_mel(comprehension *c, const expr *hz) {
  const expr *part = expr_binary(c, EXPR_DIV, hz, expr_float(c, ONYX_F64, 700));
  const expr *log = expr_unary(c, EXPR_LOG, x_add(c, expr_one(c, ONYX_F64), part));
  return x_mul(c, expr_float(c, ONYX_F64, 2595 / M_LN10), log);
}

// Spectrogram bin of mel edge i.
static const expr *mel_edge(comprehension *c, const expr *i, const expr *low, const expr *step) {
  const expr *mel = x_add(c, x_mul(c, expr_cast(c, i, ONYX_F64), step), low);
  const expr *power = x_mul(c, mel, expr_float(c, ONYX_F64, M_LN10 / 2595));
  const expr *hz = x_mul(c, expr_float(c, ONYX_F64, 700), expr_unary(c, EXPR_EXPM1, power));
  const expr *scaled = x_mul(c, x_add(c, scalar(c, 1), expr_one(c, ONYX_F64)), hz);
  const expr *bin = expr_unary(c, EXPR_FLOOR, expr_binary(c, EXPR_DIV, scaled, scalar(c, 2)));
  return expr_cast(c, bin, ONYX_INDEX);
}

// Triangles: rising from `lower` to `center` (included), falling to `higher` (excluded).
static const expr *mel_weight(comprehension *c, const expr *j, const expr *lower,
                              const expr *center, const expr *higher) {
  const expr *zero = expr_zero(c, ONYX_F64), *one = expr_one(c, ONYX_F64), *none = expr_index(c, 0);
  const expr *rise = x_sub(c, center, lower), *fall = x_sub(c, higher, center);
  const expr *up = expr_binary(c, EXPR_DIV, expr_cast(c, x_sub(c, j, lower), ONYX_F64),
                               expr_cast(c, rise, ONYX_F64));
  const expr *in_rise = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, j, lower),
                                    expr_compare(c, EXPR_LE, j, center));
  const expr *peak = expr_select(c, expr_compare(c, EXPR_EQ, j, center), one, zero);
  const expr *value =
      expr_select(c, expr_compare(c, EXPR_EQ, rise, none), peak, expr_select(c, in_rise, up, zero));
  const expr *down = expr_binary(c, EXPR_DIV, expr_cast(c, x_sub(c, higher, j), ONYX_F64),
                                 expr_cast(c, fall, ONYX_F64));
  const expr *in_fall = expr_binary(c, EXPR_AND, expr_compare(c, EXPR_GE, j, center),
                                    expr_compare(c, EXPR_LT, j, higher));
  return expr_select(c, in_fall, down, value);
}

static bool comp_mel(op_view *v, const shape_result *results, comprehension *c) {
  for (int i = 0; i < 5; i++)
    if (view_rank(v, i) < 0)
      return view_error(v, "operand %d: the rank is not known", i);
  if (!view_value(v, 0, 0) || !view_value(v, 1, 0))
    return view_error(v, "operands 0 and 1: the values are not known");
  int y = comp_result(c, 0);
  comp_stage *s = comp_stage_over(c, y);
  const expr *j = expr_loop(c, 0), *i = expr_loop(c, 1), *one = expr_index(c, 1);
  const expr *low = hertz_to_mel(c, scalar(c, 3)), *high = hertz_to_mel(c, scalar(c, 4));
  const dim *edges = dim_add(v->dims, view_value(v, 0, 0), dim_const(v->dims, 2));
  const expr *step =
      expr_binary(c, EXPR_DIV, x_sub(c, high, low), expr_cast(c, expr_dim(c, edges), ONYX_F64));
  const expr *next = x_add(c, i, one);
  const expr *weight = mel_weight(c, j, mel_edge(c, i, low, step), mel_edge(c, next, low, step),
                                  mel_edge(c, x_add(c, next, one), low, step));
  comp_write_point(c, s, y, expr_cast(c, weight, results[0].type.elem));
  return true;
}

const op_def ops_signal[] = {
    {"DFT", verify_dft, shape_dft, comp_dft},
    {"MelWeightMatrix", verify_mel, shape_mel, comp_mel},
    {"STFT", verify_stft, shape_stft, comp_stft},
};
const int num_ops_signal = sizeof ops_signal / sizeof ops_signal[0];
