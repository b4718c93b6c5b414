// Evaluates a comprehension over constant operands.
//
// A stage is compiled to flat lists of instructions, one a loop level: an expression runs at the
// outermost level where its operands are known. Registers hold f64 for every float type, rounded to
// the type after each operation (exact for + - * / and sqrt of types of half the precision or
// less), and int64 for integers, wrapped to their width.
#include "dialects/onnx/ops/comprehension.h"

#include "dialects/onnx/ops/convert.h"
#include <math.h>
#include <string.h>

typedef struct value {
  union {
    double f;
    int64_t i;
    const char *s;
  };
  double im; // complex
} value;

typedef enum value_class {
  CLASS_FLOAT,
  CLASS_SIGNED,
  CLASS_UNSIGNED,
  CLASS_BOOL,
  CLASS_COMPLEX,
  CLASS_STRING
} value_class;

static value_class class_of(int type) {
  if (type == ONYX_INDEX)
    return CLASS_SIGNED;
  if (type == ONYX_BOOL)
    return CLASS_BOOL;
  if (type == ONYX_STRING)
    return CLASS_STRING;
  if (onyx_elem_is_float((onyx_elem)type))
    return CLASS_FLOAT;
  if (onyx_elem_is_complex((onyx_elem)type))
    return CLASS_COMPLEX;
  return onyx_elem_is_signed((onyx_elem)type) ? CLASS_SIGNED : CLASS_UNSIGNED;
}

typedef struct memory {
  void *data; // strings: const char **
  int64_t extent[ONYX_MAX_RANK];
  int64_t elements;
  bool ready; // filled, or being filled
} memory;

typedef struct program {
  int n;
  const expr **code;
} program;

#define MAX_LATE 16

typedef struct evaluator {
  const comprehension *c;
  const comp_inputs *inputs; // NULL: all is constant
  onyx_arena *arena;
  memory *buffers;
  value *regs; // by expression id
  int64_t loops[ONYX_MAX_RANK * 2];
  int64_t extents[ONYX_MAX_RANK * 2];
  int64_t *budget; // steps left
  value accs[32];
  int stages_run;
  int64_t late[MAX_LATE]; // values of late sizes
  const comp_stage *stage;
  int outer;           // loops that are no reductions
  bool reduces;        // the reduction loops run at least once
  program *levels;     // num_loops + 1 lists: what steps alone need
  program *outer_code; // num_loops + 1 lists: what accumulators' starts and writes need
  program steps, post; // what depends on accumulators
  bool failed, unset;
} evaluator;

static void fail(evaluator *ev) {
  ev->failed = true;
}

// A late symbol has the value that its buffer holds now; others are the caller's. `unset` notes one
// that has no value yet.
static int64_t symbol_value(int64_t sym, void *user) {
  evaluator *ev = user;
  for (int k = 0; k < ev->c->num_late; k++)
    if (ev->c->late[k].symbol->value == sym) {
      ev->unset |= ev->c->late[k].stages > ev->stages_run;
      return ev->late[k];
    }
  bool known = ev->inputs && ev->inputs->symbol && sym >= DIM_LATE;
  ev->unset |= !known;
  return known ? ev->inputs->symbol(sym, ev->inputs->user) : 0;
}

static bool size_of(evaluator *ev, const dim *d, int64_t *value) {
  ev->unset = false;
  return dim_eval(d, symbol_value, ev, value) && !ev->unset;
}

// --- one expression

static double round_float(int type, double v) {
  if (type == ONYX_F64)
    return v;
  return type == ONYX_F32 ? (double)(float)v : onyx_float_round((onyx_elem)type, v);
}

static int64_t wrap_int(int type, int64_t v) {
  return type == ONYX_INDEX || type == ONYX_I64 ? v : onyx_int_wrap((onyx_elem)type, v);
}

static int width_of(int type) {
  return type == ONYX_INDEX ? 64 : onyx_elem_bits((onyx_elem)type);
}

static int64_t int_pow(int type, int64_t base, int64_t exponent, bool is_signed) {
  if (is_signed && exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, square = (uint64_t)base;
  for (uint64_t e = (uint64_t)exponent; e; e >>= 1, square *= square)
    if (e & 1)
      result *= square;
  return wrap_int(type, (int64_t)result);
}

static int64_t int_divide(const expr *e, int64_t a, int64_t b, bool is_signed) {
  if (b == 0)
    return 0;
  if (!is_signed) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (int64_t)(e->op == EXPR_DIV || e->op == EXPR_FLOORDIV ? x / y : x % y);
  }
  if (b == -1)
    return e->op == EXPR_DIV || e->op == EXPR_FLOORDIV ? (int64_t)(0 - (uint64_t)a) : 0;
  int64_t q = a / b, r = a % b;
  bool down = r != 0 && (r < 0) != (b < 0);
  switch (e->op) {
  case EXPR_DIV:
    return q;
  case EXPR_FLOORDIV:
    return q - down;
  case EXPR_REM:
    return r;
  default: // EXPR_MOD
    return down ? r + b : r;
  }
}

static bool less(value a, value b, bool is_signed) {
  return is_signed ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
}

static int64_t int_binary(const expr *e, value a, value b, bool is_signed) {
  switch (e->op) {
  case EXPR_ADD:
    return wrap_int(e->type, (int64_t)((uint64_t)a.i + (uint64_t)b.i));
  case EXPR_SUB:
    return wrap_int(e->type, (int64_t)((uint64_t)a.i - (uint64_t)b.i));
  case EXPR_MUL:
    return wrap_int(e->type, (int64_t)((uint64_t)a.i * (uint64_t)b.i));
  case EXPR_MIN:
    return less(a, b, is_signed) ? a.i : b.i;
  case EXPR_MAX:
    return less(a, b, is_signed) ? b.i : a.i;
  case EXPR_POW:
    return int_pow(e->type, a.i, b.i, is_signed);
  case EXPR_AND:
    return a.i & b.i;
  case EXPR_OR:
    return a.i | b.i;
  case EXPR_XOR:
    return a.i ^ b.i;
  case EXPR_SHL:
    return (uint64_t)b.i >= (uint64_t)width_of(e->type)
               ? 0
               : wrap_int(e->type, (int64_t)((uint64_t)a.i << b.i));
  case EXPR_SHR:
    return (uint64_t)b.i >= (uint64_t)width_of(e->type) ? 0 : (int64_t)((uint64_t)a.i >> b.i);
  default:
    return wrap_int(e->type, int_divide(e, a.i, b.i, is_signed));
  }
}

static double float_mod(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double float_binary(const expr *e, double a, double b) {
  switch (e->op) {
  case EXPR_ADD:
    return a + b;
  case EXPR_SUB:
    return a - b;
  case EXPR_MUL:
    return a * b;
  case EXPR_DIV:
    return a / b;
  case EXPR_FLOORDIV:
    return floor(a / b);
  case EXPR_MOD:
    return float_mod(a, b);
  case EXPR_REM:
    return fmod(a, b);
  case EXPR_MIN:
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
  case EXPR_MAX:
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
  case EXPR_POW:
    return pow(a, b);
  default: // EXPR_ATAN2
    return atan2(a, b);
  }
}

static double float_unary(expr_op op, double a) {
  switch (op) {
  case EXPR_NEG:
    return -a;
  case EXPR_ABS:
    return fabs(a);
  case EXPR_FLOOR:
    return floor(a);
  case EXPR_CEIL:
    return ceil(a);
  case EXPR_ROUND:
    return nearbyint(a);
  case EXPR_TRUNC:
    return trunc(a);
  case EXPR_SQRT:
    return sqrt(a);
  case EXPR_EXP:
    return exp(a);
  case EXPR_LOG:
    return log(a);
  case EXPR_LOG1P:
    return log1p(a);
  case EXPR_EXPM1:
    return expm1(a);
  case EXPR_SIN:
    return sin(a);
  case EXPR_COS:
    return cos(a);
  case EXPR_TAN:
    return tan(a);
  case EXPR_ASIN:
    return asin(a);
  case EXPR_ACOS:
    return acos(a);
  case EXPR_ATAN:
    return atan(a);
  case EXPR_SINH:
    return sinh(a);
  case EXPR_COSH:
    return cosh(a);
  case EXPR_TANH:
    return tanh(a);
  case EXPR_ASINH:
    return asinh(a);
  case EXPR_ACOSH:
    return acosh(a);
  case EXPR_ATANH:
    return atanh(a);
  default:
    return erf(a); // EXPR_ERF
  }
}

static int64_t int_unary(const expr *e, int64_t a, value_class class) {
  switch (e->op) {
  case EXPR_NEG:
    return wrap_int(e->type, (int64_t)(0 - (uint64_t)a));
  case EXPR_ABS:
    return class == CLASS_SIGNED && a < 0 ? wrap_int(e->type, (int64_t)(0 - (uint64_t)a)) : a;
  case EXPR_NOT:
    return class == CLASS_BOOL ? !a : wrap_int(e->type, ~a);
  default: // rounding keeps integers
    return a;
  }
}

// -1, 0, 1; 2 when unordered.
static int order_of(value_class class, value a, value b) {
  if (class == CLASS_FLOAT) {
    if (isnan(a.f) || isnan(b.f))
      return 2;
    return (a.f > b.f) - (a.f < b.f);
  }
  if (class == CLASS_COMPLEX)
    return a.f == b.f && a.im == b.im ? 0 : 2;
  if (class == CLASS_STRING) {
    int order = strcmp(a.s, b.s);
    return (order > 0) - (order < 0);
  }
  bool is_signed = class != CLASS_UNSIGNED;
  return less(b, a, is_signed) - less(a, b, is_signed);
}

static bool compares(expr_op op, int order) {
  switch (op) {
  case EXPR_EQ:
    return order == 0;
  case EXPR_NE:
    return order != 0;
  case EXPR_LT:
    return order == -1;
  case EXPR_LE:
    return order == -1 || order == 0;
  case EXPR_GT:
    return order == 1;
  default: // EXPR_GE
    return order == 1 || order == 0;
  }
}

static value cast_value(const expr *e, value a) {
  value_class from = class_of(e->args[0]->type), to = class_of(e->type);
  value r = {.i = 0};
  if (to == CLASS_STRING || from == CLASS_STRING)
    return a;
  if (from == CLASS_FLOAT || from == CLASS_COMPLEX) {
    if (to == CLASS_FLOAT || to == CLASS_COMPLEX)
      r.f = e->saturate && onyx_elem_bits((onyx_elem)e->type) <= 8
                ? onyx_float_decode((onyx_elem)e->type,
                                    onyx_float_encode((onyx_elem)e->type, a.f, true))
            : to == CLASS_COMPLEX ? a.f
                                  : round_float(e->type, a.f);
    else
      r.i = onyx_int_from_double(e->type == ONYX_INDEX ? ONYX_I64 : (onyx_elem)e->type, a.f);
    return r;
  }
  bool is_unsigned = from == CLASS_UNSIGNED;
  if (to == CLASS_FLOAT) {
    if (e->type == ONYX_F32) // one rounding
      r.f = is_unsigned ? (float)(uint64_t)a.i : (float)a.i;
    else
      r.f = is_unsigned ? (double)(uint64_t)a.i : (double)a.i;
    r.f = e->saturate && onyx_elem_bits((onyx_elem)e->type) <= 8
              ? onyx_float_decode((onyx_elem)e->type,
                                  onyx_float_encode((onyx_elem)e->type, r.f, true))
              : round_float(e->type, r.f);
    return r;
  }
  r.i = to == CLASS_BOOL ? a.i != 0 : wrap_int(e->type, a.i);
  return r;
}

static value load(onyx_elem elem, const void *data, int64_t at) {
  value v = {.i = 0};
  switch (class_of((int)elem)) {
  case CLASS_STRING:
    v.s = ((const char *const *)data)[at];
    return v;
  case CLASS_COMPLEX:
    v.f = onyx_element_to_double(elem, data, at);
    v.im =
        elem == ONYX_C64 ? ((const float *)data)[2 * at + 1] : ((const double *)data)[2 * at + 1];
    return v;
  case CLASS_FLOAT:
    v.f = onyx_element_to_double(elem, data, at);
    return v;
  default:
    v.i = onyx_element_to_int(elem, data, at);
    return v;
  }
}

static void store(onyx_elem elem, void *data, int64_t at, value v) {
  switch (class_of((int)elem)) {
  case CLASS_STRING:
    ((const char **)data)[at] = v.s;
    return;
  case CLASS_COMPLEX:
    onyx_element_from_double(elem, data, at, v.f);
    if (elem == ONYX_C64)
      ((float *)data)[2 * at + 1] = (float)v.im;
    else
      ((double *)data)[2 * at + 1] = v.im;
    return;
  case CLASS_FLOAT:
    onyx_element_from_double(elem, data, at, v.f);
    return;
  default:
    onyx_element_from_int(elem, data, at, v.i);
  }
}

// Offset of an element; false when an index is out of bounds.
static bool offset_of(const evaluator *ev, int buffer, int n, const expr *const *index,
                      int64_t *offset) {
  const memory *m = &ev->buffers[buffer];
  *offset = 0;
  for (int k = 0; k < n; k++) {
    int64_t i = ev->regs[index[k]->id].i;
    if (i < 0 || i >= m->extent[k])
      return false;
    *offset = *offset * m->extent[k] + i;
  }
  return true;
}

static value read_value(evaluator *ev, const expr *e) {
  int64_t offset;
  const memory *m = &ev->buffers[e->i];
  if (!m->ready) {
    view_error(ev->c->view, "operand %lld is not constant", (long long)e->i);
    fail(ev);
  } else if (offset_of(ev, (int)e->i, e->num_args, e->args, &offset)) {
    return load(ev->c->buffers[e->i].elem, m->data, offset);
  } else if (e->pad) {
    return ev->regs[e->pad->id];
  } else {
    view_error(ev->c->view, "an index of buffer %lld is out of bounds", (long long)e->i);
    fail(ev);
  }
  return (value){.i = 0, .im = 0};
}

static value check_value(evaluator *ev, const expr *e) {
  if (!ev->regs[e->args[1]->id].i) {
    view_error(ev->c->view, "a check of code %lld fails: found %lld, limit %lld", (long long)e->i,
               (long long)ev->regs[e->args[2]->id].i, (long long)ev->regs[e->args[3]->id].i);
    fail(ev);
  }
  return ev->regs[e->args[0]->id];
}

static value run_expr(evaluator *ev, const expr *e) {
  value r = {.i = 0};
  value a = e->num_args > 0 ? ev->regs[e->args[0]->id] : r;
  value b = e->num_args > 1 ? ev->regs[e->args[1]->id] : r;
  value_class class = class_of(e->num_args ? e->args[0]->type : e->type);
  switch (e->op) {
  case EXPR_CONST:
    if (class == CLASS_FLOAT || class == CLASS_COMPLEX)
      r.f = class == CLASS_FLOAT ? e->f : (double)e->i;
    else if (class == CLASS_STRING)
      r.s = "";
    else
      r.i = e->i;
    return r;
  case EXPR_LOOP:
    r.i = ev->loops[e->i];
    return r;
  case EXPR_DIM:
    if (!size_of(ev, e->dim, &r.i)) {
      view_error(ev->c->view, "a size is not constant");
      fail(ev);
    }
    return r;
  case EXPR_ACC:
    return ev->accs[e->i];
  case EXPR_READ:
    return read_value(ev, e);
  case EXPR_EQ:
  case EXPR_NE:
  case EXPR_LT:
  case EXPR_LE:
  case EXPR_GT:
  case EXPR_GE:
    r.i = compares(e->op, order_of(class, a, b));
    return r;
  case EXPR_ISNAN:
    r.i = class == CLASS_FLOAT && isnan(a.f);
    return r;
  case EXPR_ISINF:
    r.i = class == CLASS_FLOAT && isinf(a.f);
    return r;
  case EXPR_SELECT:
    return a.i ? b : ev->regs[e->args[2]->id];
  case EXPR_CAST:
    return cast_value(e, a);
  case EXPR_BITCAST: {
    uint64_t bytes[2] = {0, 0};
    store((onyx_elem)(e->args[0]->type == ONYX_INDEX ? (int)ONYX_I64 : e->args[0]->type), bytes, 0,
          a);
    return load((onyx_elem)(e->type == ONYX_INDEX ? (int)ONYX_I64 : e->type), bytes, 0);
  }
  case EXPR_CHECK:
    return check_value(ev, e);
  default:
    break;
  }
  if (class == CLASS_FLOAT)
    r.f = round_float(e->type,
                      e->num_args == 2 ? float_binary(e, a.f, b.f) : float_unary(e->op, a.f));
  else
    r.i = e->num_args == 2 ? int_binary(e, a, b, class == CLASS_SIGNED) : int_unary(e, a.i, class);
  return r;
}

static void run(evaluator *ev, const program *p) {
  for (int k = 0; k < p->n && !ev->failed; k++)
    ev->regs[p->code[k]->id] = run_expr(ev, p->code[k]);
}

// --- compilation of a stage

typedef enum use { USE_STEP = 1, USE_OUTER = 2 } use; // by steps; by starts and writes

typedef struct marks {
  const expr **by_id;
  unsigned char *uses;
  int *level;   // loops that must be set
  bool *on_acc; // depends on accumulators
} marks;

static void mark(marks *m, const expr *e, use u) {
  if (!e || (m->uses[e->id] & u))
    return;
  m->uses[e->id] |= (unsigned char)u;
  m->by_id[e->id] = e;
  for (int i = 0; i < e->num_args; i++)
    mark(m, e->args[i], u);
  mark(m, e->pad, u);
}

static bool stage_writes(const comp_stage *s, int64_t buffer) {
  for (int w = 0; w < s->num_writes; w++)
    if (s->writes[w].buffer == buffer)
      return true;
  return false;
}

static void find_level(const evaluator *ev, marks *m, const expr *e) {
  int level = e->op == EXPR_LOOP ? (int)e->i + 1 : 0;
  bool on_acc = e->op == EXPR_ACC;
  if (e->op == EXPR_READ && stage_writes(ev->stage, e->i))
    level = ev->outer;
  for (int i = 0; i <= e->num_args; i++) {
    const expr *a = i < e->num_args ? e->args[i] : e->pad;
    if (!a)
      continue;
    level = m->level[a->id] > level ? m->level[a->id] : level;
    on_acc |= m->on_acc[a->id];
  }
  m->level[e->id] = level;
  m->on_acc[e->id] = on_acc;
}

static void append(evaluator *ev, program *p, const expr *e) {
  if (!p->code)
    p->code = ONYX_NEW_ARRAY(ev->arena, const expr *, ev->c->num_exprs);
  p->code[p->n++] = e;
}

static void compile(evaluator *ev) {
  const comp_stage *s = ev->stage;
  unsigned n = ev->c->num_exprs + 1;
  marks m = {ONYX_NEW_ARRAY(ev->arena, const expr *, n),
             ONYX_NEW_ARRAY(ev->arena, unsigned char, n), ONYX_NEW_ARRAY(ev->arena, int, n),
             ONYX_NEW_ARRAY(ev->arena, bool, n)};
  for (int k = 0; k < s->num_accs; k++) {
    mark(&m, s->accs[k].init, USE_OUTER);
    mark(&m, s->accs[k].step, USE_STEP);
  }
  for (int l = 0; s->bounds && l < s->num_loops; l++)
    mark(&m, s->bounds[l], USE_OUTER);
  for (int w = 0; w < s->num_writes; w++) {
    for (int k = 0; k < s->writes[w].num_indices; k++)
      mark(&m, s->writes[w].index[k], USE_OUTER);
    mark(&m, s->writes[w].value, USE_OUTER);
    mark(&m, s->writes[w].guard, USE_OUTER);
  }
  ev->levels = ONYX_NEW_ARRAY(ev->arena, program, s->num_loops + 1);
  ev->outer_code = ONYX_NEW_ARRAY(ev->arena, program, s->num_loops + 1);
  ev->steps = ev->post = (program){0, NULL};
  for (unsigned id = 0; id < n; id++) {
    const expr *e = m.by_id[id];
    if (!e)
      continue;
    find_level(ev, &m, e);
    if (m.on_acc[id]) {
      if (m.uses[id] & USE_STEP)
        append(ev, &ev->steps, e);
      if (m.uses[id] & USE_OUTER)
        append(ev, &ev->post, e);
    } else {
      append(ev, m.uses[id] & USE_OUTER ? &ev->outer_code[m.level[id]] : &ev->levels[m.level[id]],
             e);
    }
  }
}

// --- running a stage

static void enter_level(evaluator *ev, int level) {
  run(ev, &ev->outer_code[level]);
  if (ev->reduces)
    run(ev, &ev->levels[level]);
}

static void step_accs(evaluator *ev) {
  const comp_stage *s = ev->stage;
  run(ev, &ev->steps);
  for (int k = 0; k < s->num_accs; k++)
    ev->accs[k] = ev->regs[s->accs[k].step->id];
}

static void run_reduction(evaluator *ev, int loop) {
  if (loop == ev->stage->num_loops) {
    step_accs(ev);
    return;
  }
  for (int64_t i = 0; i < ev->extents[loop] && !ev->failed; i++) {
    ev->loops[loop] = i;
    run(ev, &ev->levels[loop + 1]);
    run_reduction(ev, loop + 1);
  }
}

static void write_values(evaluator *ev) {
  for (int w = 0; w < ev->stage->num_writes && !ev->failed; w++) {
    const comp_write *write = &ev->stage->writes[w];
    if (write->guard && !ev->regs[write->guard->id].i)
      continue;
    int64_t offset;
    if (!ev->buffers[write->buffer].ready ||
        !offset_of(ev, write->buffer, write->num_indices, write->index, &offset)) {
      view_error(ev->c->view, "a write to buffer %d is out of bounds", write->buffer);
      fail(ev);
      return;
    }
    store(ev->c->buffers[write->buffer].elem, ev->buffers[write->buffer].data, offset,
          ev->regs[write->value->id]);
  }
}

// Takes the counts of loops that compute theirs; they cost steps as they run.
static void set_bounds(evaluator *ev) {
  const comp_stage *s = ev->stage;
  int64_t steps = 1;
  for (int l = ev->outer; s->bounds && l < s->num_loops; l++) {
    if (s->bounds[l])
      ev->extents[l] = ev->regs[s->bounds[l]->id].i;
    if (ev->extents[l] <= 0)
      return;
    if (__builtin_mul_overflow(steps, ev->extents[l], &steps))
      steps = INT64_MAX;
  }
  if (s->bounds && steps > *ev->budget) {
    view_error(ev->c->view, "more steps than allowed");
    fail(ev);
  } else if (s->bounds) {
    *ev->budget -= steps;
  }
}

static void run_point(evaluator *ev) {
  const comp_stage *s = ev->stage;
  set_bounds(ev);
  for (int k = 0; k < s->num_accs; k++)
    ev->accs[k] = ev->regs[s->accs[k].init->id];
  if (s->num_accs && ev->reduces)
    run_reduction(ev, ev->outer);
  run(ev, &ev->post);
  write_values(ev);
}

static void run_loops(evaluator *ev, int loop) {
  if (loop == ev->outer) {
    run_point(ev);
    return;
  }
  for (int64_t i = 0; i < ev->extents[loop] && !ev->failed; i++) {
    ev->loops[loop] = i;
    enter_level(ev, loop + 1);
    run_loops(ev, loop + 1);
  }
}

static bool run_stage(evaluator *ev, const comp_stage *s, int64_t *budget) {
  ev->stage = s;
  ev->budget = budget;
  ev->outer = 0;
  ev->reduces = true;
  bool empty = false;
  int64_t points = 1;
  for (int i = 0; i < s->num_loops; i++) {
    if (!size_of(ev, s->loops[i].extent, &ev->extents[i]))
      return view_error(ev->c->view, "a size is not constant");
    bool reduction = s->loops[i].kind == LOOP_REDUCTION;
    if (s->bounds && s->bounds[i])
      ev->extents[i] = 1; // set at each point
    ev->outer += !reduction;
    if (ev->extents[i] <= 0) {
      empty |= !reduction;
      ev->reduces &= !reduction;
    } else if (__builtin_mul_overflow(points, ev->extents[i], &points)) {
      points = INT64_MAX;
    }
  }
  if (empty)
    return true;
  if (points > *budget)
    return view_error(ev->c->view, "more steps than allowed");
  *budget -= points;
  compile(ev);
  enter_level(ev, 0);
  run_loops(ev, 0);
  return !ev->failed;
}

// --- buffers

static bool size_buffer(evaluator *ev, int b) {
  memory *m = &ev->buffers[b];
  const comp_buffer *buffer = &ev->c->buffers[b];
  m->elements = 1;
  for (int k = 0; k < buffer->rank; k++)
    if (!size_of(ev, buffer->dims[k], &m->extent[k]) || m->extent[k] < 0 ||
        __builtin_mul_overflow(m->elements, m->extent[k], &m->elements))
      return false;
  return true;
}

static size_t element_size(onyx_elem elem) {
  return elem == ONYX_STRING ? sizeof(const char *) : (size_t)onyx_elem_bytes(elem);
}

// An operand, or a result, that is not there.
static bool is_absent(const evaluator *ev, int b) {
  const comprehension *c = ev->c;
  if (b < c->num_operands)
    return !view_has(c->view, b);
  return b < c->num_operands + c->num_results && c->buffers[b].elem == ONYX_ELEM_UNDEFINED;
}

// Makes the buffers whose sizes are known by now.
static bool prepare(evaluator *ev, int64_t max_steps) {
  const comprehension *c = ev->c;
  for (int b = 0; b < c->num_buffers; b++) {
    memory *m = &ev->buffers[b];
    if (m->ready || is_absent(ev, b) || !size_buffer(ev, b))
      continue;
    if (b < c->num_operands) {
      const onnx_operand *o = &c->view->operands[b];
      const void *data = o->type.elem == ONYX_STRING ? (const void *)o->strings : o->data;
      m->data = (void *)(uintptr_t)(ev->inputs ? ev->inputs->data[b] : data);
    } else if (c->buffers[b].data) {
      m->data = (void *)(uintptr_t)c->buffers[b].data;
    } else {
      if (m->elements > max_steps)
        return view_error(c->view, "more steps than allowed");
      m->data = onyx_arena_alloc(ev->arena, (size_t)m->elements * element_size(c->buffers[b].elem));
    }
    m->ready = m->data != NULL;
  }
  return true;
}

// Sizes that the stages so far have computed.
static bool read_late_sizes(evaluator *ev, int64_t max_steps) {
  bool any = false;
  for (int k = 0; k < ev->c->num_late; k++) {
    if (ev->c->late[k].stages != ev->stages_run)
      continue;
    const memory *m = &ev->buffers[ev->c->late[k].buffer];
    int64_t size = m->ready ? onyx_element_to_int(ONYX_I64, m->data, 0) : 0;
    ev->late[k] = size < 0 ? 0 : size;
    any = true;
  }
  return !any || prepare(ev, max_steps);
}

static bool copy_alias(evaluator *ev) {
  const comprehension *c = ev->c;
  memory *from = &ev->buffers[c->alias_of], *to = &ev->buffers[c->num_operands];
  if (!from->ready || !to->ready)
    return view_error(c->view, "operand %d is not constant", c->alias_of);
  if (from->elements != to->elements)
    return view_error(c->view, "%lld elements cannot be reshaped to %lld",
                      (long long)from->elements, (long long)to->elements);
  memcpy(to->data, from->data,
         (size_t)from->elements * element_size(c->buffers[c->num_operands].elem));
  return true;
}

static bool collect_results(evaluator *ev, void **results) {
  const comprehension *c = ev->c;
  for (int r = 0; r < c->num_results; r++) {
    int b = c->num_operands + r;
    memory *m = &ev->buffers[b];
    if (!m->ready && !is_absent(ev, b))
      return view_error(c->view, "a size of result %d is not constant", r);
    results[r] = m->data;
    if (ev->inputs && ev->inputs->result_dims) {
      int64_t *dims = ONYX_NEW_ARRAY(ev->arena, int64_t, c->buffers[b].rank + 1);
      memcpy(dims, m->extent, sizeof *dims * (size_t)c->buffers[b].rank);
      ev->inputs->result_dims[r] = dims;
    }
  }
  return true;
}

bool comp_evaluate(const comprehension *c, onyx_arena *arena, int64_t max_steps, void **results) {
  return comp_evaluate_with(c, arena, max_steps, NULL, results);
}

bool comp_evaluate_with(const comprehension *c, onyx_arena *arena, int64_t max_steps,
                        const comp_inputs *inputs, void **results) {
  evaluator *ev = ONYX_NEW(arena, evaluator);
  ev->c = c;
  ev->inputs = inputs;
  ev->arena = arena;
  ev->buffers = ONYX_NEW_ARRAY(arena, memory, c->num_buffers + 1);
  ev->regs = ONYX_NEW_ARRAY(arena, value, c->num_exprs + 1);
  if (c->num_late > MAX_LATE)
    return view_error(c->view, "more sizes than supported");
  if (!prepare(ev, max_steps) || (c->alias_of >= 0 && !copy_alias(ev)))
    return false;
  int64_t budget = max_steps;
  for (int s = 0; s < c->num_stages; s++) {
    const comp_stage *stage = &c->stages[s];
    if (stage->num_loops > ONYX_MAX_RANK * 2 || stage->num_accs > 32)
      return view_error(c->view, "more loops or accumulators than supported");
    ev->stages_run = s;
    if (!read_late_sizes(ev, max_steps) || !run_stage(ev, stage, &budget))
      return false;
  }
  ev->stages_run = c->num_stages;
  return read_late_sizes(ev, max_steps) && collect_results(ev, results);
}
