//===- lower_control.c - If, Loop, Scan ---------------------------------------------===//
//
// A region's block is emitted as a block of its own; what it yields are buffers that it gives away,
// so every carried value has one owner at a time. Scan outputs grow by doubling: how often a loop
// runs may be known only when it is done.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/lower_sort.h"

#include <string.h>

static MlirBlock region_block(struct op_plan *p, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(p->op, region));
}

static MlirValue load_scalar(struct ir *ir, MlirValue memref) {
  MlirValue index[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
  MlirValue zero = rank ? ir_index(ir, 0) : (MlirValue){NULL};
  for (intptr_t i = 0; i < rank; ++i)
    index[i] = zero;
  return ir_load(ir, memref, rank, index);
}

// A buffer of one element in block b, for a scalar that changes from turn to turn.
static void define_scalar(struct lower_block *b, MlirValue old, MlirValue scalar) {
  MlirType type = lower_type(b->function->lower, mlirValueGetType(old));
  MlirValue index[ONYX_MAX_RANK], one = ir_index(&b->ir, 1), zero = ir_index(&b->ir, 0);
  MlirValue sizes[ONYX_MAX_RANK];
  intptr_t n = 0, rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i) {
    index[i] = zero;
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[n++] = one;
  }
  struct storage *s;
  MlirValue memref = lower_alloc_buffer(b, type, n, sizes, &s);
  ir_store(&b->ir, scalar, memref, rank, index);
  lower_define(b, old, memref, s);
}

static bool check_ranks(struct lower *l, struct op_plan *p) {
  MlirType parts[LOWER_MAX_PARTS];
  for (intptr_t i = 0; i < mlirOperationGetNumResults(p->op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(p->op, i));
    if (!mlirTypeIsANone(type) && !lower_parts(l, type, parts))
      return lower_error(l, p->op, "result %d: expected a tensor of known rank", (int)i), false;
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(p->op); ++r) {
    MlirBlock block = region_block(p, r);
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
      if (!lower_parts(l, mlirValueGetType(mlirBlockGetArgument(block, i)), parts))
        return lower_error(l, p->op, "argument %d of its body: expected a tensor of known rank",
                           (int)i),
               false;
  }
  return true;
}

// Enters a region of `op`: constants that are met inside are made before the outermost op.
static MlirOperation enter(struct lower_function *f, MlirOperation op) {
  MlirOperation outer = f->outermost;
  if (mlirOperationIsNull(outer))
    f->outermost = op;
  return outer;
}

// Emits the ops of `block` into b and gives what its terminator yields, cast to `types`.
static bool emit_region_block(struct lower_block *b, MlirBlock block, const MlirType *types,
                              MlirValue *out) {
  MlirValue *values;
  if (!lower_ops(b, block))
    return false;
  MlirOperation end = mlirBlockGetTerminator(block);
  intptr_t n = mlirOperationGetNumOperands(end);
  values = lower_alloc(b->function->lower, sizeof(MlirValue) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    values[i] = mlirOperationGetOperand(end, i);
  lower_give(b, n, values, types, out);
  return !b->function->lower->failed;
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static bool lower_if(struct lower_block *b, struct op_plan *p) {
  struct lower *l = b->function->lower;
  intptr_t num_results = mlirOperationGetNumResults(p->op), n = 0;
  MlirType *types = lower_alloc(l, sizeof(MlirType) * (size_t)(num_results + 1) * LOWER_MAX_PARTS);
  MlirValue *out = lower_alloc(l, sizeof(MlirValue) * (size_t)(num_results + 1) * LOWER_MAX_PARTS);
  for (intptr_t i = 0; i < num_results; ++i)
    n += lower_parts(l, mlirValueGetType(mlirOperationGetResult(p->op, i)), types + n);
  MlirValue condition = lower_value(b, mlirOperationGetOperand(p->op, 0));
  if (mlirValueIsNull(condition))
    return false;
  struct ir branch[2];
  MlirOperation op =
      ir_if(&b->ir, load_scalar(&b->ir, condition), n, types, &branch[0], &branch[1]);
  MlirOperation outer = enter(b->function, op);
  bool ok = true;
  for (int i = 0; i < 2 && ok; ++i) {
    struct lower_block inner;
    MlirBlock block = region_block(p, i);
    lower_block_begin(&inner, b->function, b, branch[i], block);
    ok = emit_region_block(&inner, block, types, out);
    if (ok && n)
      ir_yield(&inner.ir, "scf.yield", n, out);
    lower_block_end(&inner);
  }
  b->function->outermost = outer;
  if (ok)
    lower_define_results(b, p->op, op, 0);
  return ok;
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

// The memref type that holds what both hold; null when ranks or elements differ.
static MlirType join_part(MlirType a, MlirType b) {
  int64_t shape[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(a);
  if (mlirShapedTypeGetRank(b) != rank ||
      !mlirTypeEqual(mlirShapedTypeGetElementType(a), mlirShapedTypeGetElementType(b)))
    return (MlirType){NULL};
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(a, i);
    if (mlirShapedTypeGetDimSize(b, i) != shape[i])
      shape[i] = ir_dynamic();
  }
  return ir_memref(mlirShapedTypeGetElementType(a), rank, shape);
}

// The parts that hold all of these types' values; 0 when they differ in more than sizes.
static int join(struct lower *l, intptr_t n, const MlirType *types, MlirType *parts) {
  int num_parts = lower_parts(l, types[0], parts);
  for (intptr_t k = 1; k < n && num_parts; ++k) {
    MlirType other[LOWER_MAX_PARTS];
    if (lower_parts(l, types[k], other) != num_parts)
      return 0;
    for (int i = 0; i < num_parts; ++i)
      if (mlirTypeIsNull(parts[i] = join_part(parts[i], other[i])))
        return 0;
  }
  return num_parts;
}

// A buffer of the loop's own with the value of a part: the buffer itself when nothing else needs
// it.
static MlirValue own_part(struct lower_block *b, MlirValue memref, struct storage *s,
                          MlirType type) {
  if (s && !s->gone && s->home == b && s->last <= b->position) {
    s->gone = true;
    return ir_memref_cast(&b->ir, memref, type);
  }
  MlirType from = mlirValueGetType(memref);
  MlirValue sizes[ONYX_MAX_RANK];
  intptr_t n = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(from); ++i)
    if (mlirShapedTypeIsDynamicDim(from, i))
      sizes[n++] = ir_dim(&b->ir, memref, i);
  MlirValue copy = ir_alloc(&b->ir, from, n, sizes, 64);
  lower_copy_all(&b->ir, memref, copy);
  return ir_memref_cast(&b->ir, copy, type);
}

// All parts of v so; returns how many, 0 after an error.
static int own_initial(struct lower_block *b, MlirValue v, const MlirType *types, MlirValue *out) {
  MlirValue parts[LOWER_MAX_PARTS];
  int n = lower_value_parts(b, v, parts);
  for (int i = 0; i < n; ++i)
    out[i] = own_part(b, parts[i], lower_find(b, v)->stores[i], types[i]);
  return n;
}

// A block argument of the body gets the parts that stand at `first` among the new arguments.
static intptr_t define_carried(struct lower_block *b, MlirValue old, const struct ir *body,
                               intptr_t first) {
  MlirType types[LOWER_MAX_PARTS];
  MlirValue parts[LOWER_MAX_PARTS];
  int n = lower_parts(b->function->lower, mlirValueGetType(old), types);
  for (int i = 0; i < n; ++i)
    parts[i] = ir_arg(body, first++);
  lower_define_owned(b, old, n, parts);
  return first;
}

// A result gets the parts that stand at `first` among the loop's results.
static intptr_t define_final(struct lower_block *b, MlirValue old, MlirOperation loop,
                             intptr_t first) {
  MlirType types[LOWER_MAX_PARTS];
  MlirValue parts[LOWER_MAX_PARTS];
  int n = lower_parts(b->function->lower, mlirValueGetType(old), types);
  for (int i = 0; i < n; ++i)
    parts[i] = ir_result(loop, first++);
  lower_define_owned(b, old, n, parts);
  return first;
}

//===----------------------------------------------------------------------===//
// Scan outputs
//===----------------------------------------------------------------------===//

// memref of rows of an element's type: `?` in front.
static MlirType rows_type(MlirType element) {
  int64_t shape[ONYX_MAX_RANK + 1];
  intptr_t rank = mlirShapedTypeGetRank(element);
  shape[0] = ir_dynamic();
  for (intptr_t i = 0; i < rank; ++i)
    shape[i + 1] = mlirShapedTypeGetDimSize(element, i);
  return ir_memref(mlirShapedTypeGetElementType(element), rank + 1, shape);
}

// No rows yet; sizes that the type does not say are 0.
static MlirValue no_rows(struct ir *ir, MlirType rows) {
  MlirValue sizes[ONYX_MAX_RANK + 1];
  intptr_t n = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(rows); ++i)
    if (mlirShapedTypeIsDynamicDim(rows, i))
      sizes[n++] = ir_index(ir, 0);
  return ir_alloc(ir, rows, n, sizes, 64);
}

static MlirValue row_size(struct ir *ir, MlirValue rows) {
  MlirValue n = ir_index(ir, 1);
  for (intptr_t i = 1; i < mlirShapedTypeGetRank(mlirValueGetType(rows)); ++i)
    n = ir_binary(ir, "arith.muli", n, ir_dim(ir, rows, i));
  return n;
}

static MlirValue flat(struct ir *ir, MlirValue memref, MlirValue count) {
  int64_t dynamic = ir_dynamic();
  MlirType type = ir_memref(mlirShapedTypeGetElementType(mlirValueGetType(memref)), 1, &dynamic);
  return ir_reinterpret(ir, memref, type, &count);
}

// rows, or a buffer of `capacity` rows with the `used` ones of rows when these are all it holds.
static MlirValue make_room(struct ir *ir, MlirValue rows, MlirValue element, MlirValue used,
                           MlirValue capacity) {
  MlirType type = mlirValueGetType(rows);
  MlirValue full = ir_cmpi(ir, IR_SGE, used, ir_dim(ir, rows, 0));
  struct ir then, otherwise;
  MlirOperation branch = ir_if(ir, full, 1, &type, &then, &otherwise);
  MlirValue sizes[ONYX_MAX_RANK + 1];
  intptr_t n = 0;
  sizes[n++] = capacity;
  for (intptr_t i = 1; i < mlirShapedTypeGetRank(type); ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[n++] = ir_dim(&then, element, i - 1);
  MlirValue more = ir_alloc(&then, type, n, sizes, 64);
  MlirValue count = ir_binary(&then, "arith.muli", used, row_size(&then, rows));
  struct ir body;
  MlirValue from = flat(&then, rows, count), to = flat(&then, more, count),
            i = emit_loop(&then, count, &body);
  ir_store(&body, ir_load(&body, from, 1, &i), to, 1, &i);
  ir_dealloc(&then, rows);
  ir_yield(&then, "scf.yield", 1, &more);
  ir_yield(&otherwise, "scf.yield", 1, &rows);
  return ir_result(branch, 0);
}

// One loop a dim; the body is where all of them are.
static struct ir loops_over(struct ir *ir, MlirValue shaped, MlirValue *index) {
  struct ir at = *ir;
  MlirValue zero = ir_index(ir, 0), one = ir_index(ir, 1);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(mlirValueGetType(shaped)); ++i) {
    struct ir body;
    ir_for(&at, zero, ir_dim(&at, shaped, i), one, 0, NULL, &body);
    index[i] = ir_arg(&body, 0);
    at = body;
  }
  return at;
}

// Copies between `part` and the slice of `whole` at `place` of `axis`.
static void copy_slice(struct ir *ir, MlirValue whole, intptr_t axis, MlirValue place,
                       MlirValue part, bool to_whole) {
  MlirValue index[ONYX_MAX_RANK], wide[ONYX_MAX_RANK + 1];
  struct ir at = loops_over(ir, part, index);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(part));
  for (intptr_t i = 0; i <= rank; ++i)
    wide[i] = i < axis ? index[i] : i == axis ? place : index[i - 1];
  if (to_whole)
    ir_store(&at, ir_load(&at, part, rank, index), whole, rank + 1, wide);
  else
    ir_store(&at, ir_load(&at, whole, rank + 1, wide), part, rank, index);
}

// Row `place` becomes the element where their shapes agree; status 3 where they do not.
static void put_row(struct lower_block *b, struct op_plan *p, struct ir *ir, MlirValue rows,
                    MlirValue place, MlirValue element) {
  MlirType type = mlirValueGetType(rows);
  MlirValue ok = {NULL}, found = {NULL}, limit = {NULL};
  for (intptr_t i = 1; i < mlirShapedTypeGetRank(type); ++i) {
    if (!mlirShapedTypeIsDynamicDim(type, i))
      continue;
    found = ir_dim(ir, element, i - 1);
    limit = ir_dim(ir, rows, i);
    MlirValue same = ir_cmpi(ir, IR_EQ, found, limit);
    ok = mlirValueIsNull(ok) ? same : ir_binary(ir, "arith.andi", ok, same);
  }
  struct ir at = *ir;
  if (!mlirValueIsNull(ok)) {
    emit_fail_unless(ir, b->function->status, ok, 3, p->node, found, limit);
    ir_if(ir, ok, 0, NULL, &at, NULL);
  }
  copy_slice(&at, rows, 0, place, element, true);
}

// The first `count` rows as the result; with another axis than 0, moved there.
static void define_rows(struct lower_block *b, MlirValue old, MlirValue rows, MlirValue count,
                        intptr_t axis) {
  MlirType type = lower_type(b->function->lower, mlirValueGetType(old)),
           from = mlirValueGetType(rows);
  intptr_t rank = mlirShapedTypeGetRank(from);
  MlirValue sizes[ONYX_MAX_RANK + 1], moved[ONYX_MAX_RANK + 1];
  int64_t shape[ONYX_MAX_RANK + 1];
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = i ? ir_dim(&b->ir, rows, i) : count;
    shape[i] = mlirShapedTypeGetDimSize(from, i);
  }
  (void)type;
  MlirValue made = ir_reinterpret(
      &b->ir, rows, ir_memref(mlirShapedTypeGetElementType(from), rank, shape), sizes);
  if (axis == 0) {
    lower_define(b, old, made, lower_adopt(b, made));
    return;
  }
  int64_t moved_shape[ONYX_MAX_RANK + 1];
  intptr_t n = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    intptr_t k = i < axis ? i + 1 : i == axis ? 0 : i;
    moved_shape[i] = shape[k];
    if (mlirShapedTypeIsDynamicDim(from, k))
      moved[n++] = sizes[k];
  }
  struct storage *s;
  MlirValue to = lower_alloc_buffer(
      b, ir_memref(mlirShapedTypeGetElementType(from), rank, moved_shape), n, moved, &s);
  MlirValue index[ONYX_MAX_RANK + 1], source[ONYX_MAX_RANK + 1];
  struct ir at = loops_over(&b->ir, to, index);
  for (intptr_t i = 0; i < rank; ++i)
    source[i < axis ? i + 1 : i == axis ? 0 : i] = index[i];
  ir_store(&at, ir_load(&at, made, rank, source), to, rank, index);
  ir_dealloc(&b->ir, made);
  lower_define(b, old, to, s);
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

// Body arguments: iteration, condition, carried; it yields condition, carried, scan elements.
struct loop_parts {
  intptr_t num_values, num_scans;  // carried values, scan outputs
  intptr_t num_carried, num_state; // parts of the carried values; and one a scan output
  MlirBlock body;
  MlirOperation end;
  MlirType *types; // of what the body yields
  MlirType *state; // carried, then rows
};

static bool loop_types(struct lower *l, struct op_plan *p, struct loop_parts *t) {
  size_t room = (size_t)(t->num_values * LOWER_MAX_PARTS + t->num_scans + 2);
  t->types = lower_alloc(l, sizeof(MlirType) * room);
  t->state = lower_alloc(l, sizeof(MlirType) * room);
  t->types[0] = lower_type(l, mlirValueGetType(mlirOperationGetOperand(t->end, 0)));
  for (intptr_t i = 0; i < t->num_values + t->num_scans; ++i) {
    MlirType yielded = mlirValueGetType(mlirOperationGetOperand(t->end, 1 + i));
    intptr_t at = t->num_state;
    if (i >= t->num_values) {
      t->types[1 + at] = lower_type(l, yielded);
      if (mlirTypeIsNull(t->types[1 + at]))
        return lower_error(l, p->op, "scan output %d: the rank is not known",
                           (int)(i - t->num_values)),
               false;
      t->state[at] = rows_type(t->types[1 + at]);
      t->num_state++;
      continue;
    }
    MlirType all[] = {mlirValueGetType(mlirOperationGetOperand(p->op, 2 + i)),
                      mlirValueGetType(mlirBlockGetArgument(t->body, 2 + i)), yielded,
                      mlirValueGetType(mlirOperationGetResult(p->op, i))};
    int n = join(l, 4, all, t->state + at);
    if (!n)
      return lower_error(l, p->op, "carried value %d: expected one rank at every turn", (int)i),
             false;
    memcpy(t->types + 1 + at, t->state + at, sizeof(MlirType) * (size_t)n);
    t->num_state += n;
    t->num_carried += n;
  }
  return true;
}

// The turn itself: `inner` stands in the loop's body with its state as block arguments.
static bool loop_turn(struct lower_block *inner, struct op_plan *p, const struct loop_parts *t,
                      MlirValue *next) {
  struct ir *ir = &inner->ir;
  MlirValue turn = ir_arg(ir, 0), i64 = ir_from_index(ir, turn, ir_int_type(ir, 64));
  struct ir body = *ir;
  define_scalar(inner, mlirBlockGetArgument(t->body, 0), i64);
  define_scalar(inner, mlirBlockGetArgument(t->body, 1), ir_int(ir, ir_int_type(ir, 1), 1));
  for (intptr_t i = 0, at = 2; i < t->num_values; ++i)
    at = define_carried(inner, mlirBlockGetArgument(t->body, 2 + i), &body, at);
  MlirValue *out =
      lower_alloc(inner->function->lower, sizeof(MlirValue) * (size_t)(t->num_state + 2));
  if (!emit_region_block(inner, t->body, t->types, out))
    return false;
  next[0] = ir_binary(ir, "arith.addi", turn, ir_index(ir, 1));
  next[1] = load_scalar(ir, out[0]);
  ir_dealloc(ir, out[0]);
  for (intptr_t i = 0; i < t->num_carried; ++i)
    next[2 + i] = out[1 + i];
  for (intptr_t i = t->num_carried; i < t->num_state; ++i) {
    MlirValue rows = ir_arg(&body, 2 + i);
    MlirValue twice = ir_binary(ir, "arith.muli", ir_dim(ir, rows, 0), ir_index(ir, 2));
    MlirValue capacity = ir_binary(ir, "arith.maxsi", twice, ir_index(ir, 4));
    rows = make_room(ir, rows, out[1 + i], turn, capacity);
    put_row(inner, p, ir, rows, turn, out[1 + i]);
    ir_dealloc(ir, out[1 + i]);
    next[2 + i] = rows;
  }
  return true;
}

static MlirValue scalar_operand(struct lower_block *b, struct op_plan *p, int i) {
  MlirValue v = onnx_operand_or_null(p->op, i);
  if (mlirValueIsNull(v))
    return v;
  MlirValue memref = lower_value(b, v);
  return mlirValueIsNull(memref) ? memref : load_scalar(&b->ir, memref);
}

static bool lower_loop(struct lower_block *b, struct op_plan *p) {
  struct lower *l = b->function->lower;
  struct loop_parts t = {.body = region_block(p, 0)};
  t.end = mlirBlockGetTerminator(t.body);
  t.num_values =
      mlirOperationGetNumOperands(p->op) > 2 ? mlirOperationGetNumOperands(p->op) - 2 : 0;
  t.num_scans = mlirOperationGetNumOperands(t.end) - 1 - t.num_values;
  if (t.num_scans < 0 || !loop_types(l, p, &t))
    return lower_error(l, p->op, "the body's results do not match the loop's"), false;
  intptr_t n = 2 + t.num_state;
  MlirValue *state = lower_alloc(l, sizeof(MlirValue) * (size_t)(n + 1));
  MlirValue *next = lower_alloc(l, sizeof(MlirValue) * (size_t)(n + 2));
  MlirValue trips = scalar_operand(b, p, 0), condition = scalar_operand(b, p, 1);
  state[0] = ir_index(&b->ir, 0);
  state[1] = mlirValueIsNull(condition) ? ir_int(&b->ir, ir_int_type(&b->ir, 1), 1) : condition;
  for (intptr_t i = 0, at = 0; i < t.num_values; ++i) {
    int parts = own_initial(b, mlirOperationGetOperand(p->op, 2 + i), t.state + at, state + 2 + at);
    if (!parts)
      return false;
    at += parts;
  }
  for (intptr_t i = t.num_carried; i < t.num_state; ++i)
    state[2 + i] = no_rows(&b->ir, t.state[i]);
  if (!mlirValueIsNull(trips))
    trips = ir_to_index(&b->ir, trips);
  struct ir before, after;
  MlirOperation loop = ir_while(&b->ir, n, state, &before, &after);
  MlirOperation outer = enter(b->function, loop);
  next[0] = ir_arg(&before, 1);
  if (!mlirValueIsNull(trips))
    next[0] = ir_binary(&before, "arith.andi", next[0],
                        ir_cmpi(&before, IR_SLT, ir_arg(&before, 0), trips));
  for (intptr_t i = 0; i < n; ++i)
    next[1 + i] = ir_arg(&before, i);
  ir_yield(&before, "scf.condition", n + 1, next);
  struct lower_block inner;
  lower_block_begin(&inner, b->function, b, after, t.body);
  bool ok = loop_turn(&inner, p, &t, next);
  if (ok)
    ir_yield(&inner.ir, "scf.yield", n, next);
  lower_block_end(&inner);
  b->function->outermost = outer;
  intptr_t at = 2;
  for (intptr_t i = 0; ok && i < t.num_values; ++i)
    at = define_final(b, mlirOperationGetResult(p->op, i), loop, at);
  for (intptr_t i = 0; ok && i < t.num_scans; ++i)
    define_rows(b, mlirOperationGetResult(p->op, t.num_values + i), ir_result(loop, at + i),
                ir_result(loop, 0), 0);
  return ok;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

struct scan_parts {
  intptr_t num_state, num_in, num_out;
  MlirBlock body;
  MlirOperation end;
  MlirType *types;   // of what the body yields
  MlirType *carried; // states, then rows
};

static int64_t scan_attr(struct op_plan *p, const char *name, intptr_t i) {
  const onnx_attr *a = view_attr(p->view, name);
  return a->ints && i < a->n ? a->ints[i] : 0;
}

static bool scan_types(struct lower *l, struct op_plan *p, struct scan_parts *t) {
  intptr_t n = t->num_state + t->num_out;
  t->types = lower_alloc(l, sizeof(MlirType) * (size_t)(n + 1));
  t->carried = lower_alloc(l, sizeof(MlirType) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i) {
    MlirType yielded = mlirValueGetType(mlirOperationGetOperand(t->end, i));
    if (i < t->num_state) {
      MlirType all[] = {mlirValueGetType(mlirOperationGetOperand(p->op, i)),
                        mlirValueGetType(mlirBlockGetArgument(t->body, i)), yielded,
                        mlirValueGetType(mlirOperationGetResult(p->op, i))};
      MlirType parts[LOWER_MAX_PARTS];
      t->types[i] = t->carried[i] = join(l, 4, all, parts) == 1 ? parts[0] : (MlirType){NULL};
    } else {
      t->types[i] = lower_type(l, yielded);
      t->carried[i] = mlirTypeIsNull(t->types[i]) ? t->types[i] : rows_type(t->types[i]);
    }
    if (mlirTypeIsNull(t->carried[i]))
      return lower_error(l, p->op, "value %d that the body yields: expected one known rank",
                         (int)i),
             false;
  }
  return true;
}

static int64_t scan_axis(struct op_plan *p, const char *name, intptr_t i, intptr_t rank) {
  int64_t axis = scan_attr(p, name, i);
  return axis < 0 ? axis + rank : axis;
}

static bool scan_turn(struct lower_block *inner, struct op_plan *p, const struct scan_parts *t,
                      MlirValue length, const MlirValue *inputs, MlirValue *next) {
  struct ir *ir = &inner->ir, body = *ir;
  MlirValue turn = ir_arg(&body, 0);
  MlirValue back =
      ir_binary(ir, "arith.subi", ir_binary(ir, "arith.subi", length, turn), ir_index(ir, 1));
  for (intptr_t i = 0; i < t->num_state; ++i) {
    MlirValue v = ir_arg(&body, 1 + i);
    lower_define(inner, mlirBlockGetArgument(t->body, i), v, lower_adopt(inner, v));
  }
  for (intptr_t i = 0; i < t->num_in; ++i) {
    MlirType whole = mlirValueGetType(inputs[i]);
    intptr_t rank = mlirShapedTypeGetRank(whole), k = 0, n = 0;
    int64_t axis = scan_axis(p, "scan_input_axes", i, rank), shape[ONYX_MAX_RANK];
    MlirValue sizes[ONYX_MAX_RANK];
    for (intptr_t d = 0; d < rank; ++d) {
      if (d == axis)
        continue;
      shape[k++] = mlirShapedTypeGetDimSize(whole, d);
      if (mlirShapedTypeIsDynamicDim(whole, d))
        sizes[n++] = ir_dim(ir, inputs[i], d);
    }
    struct storage *s;
    MlirType type = ir_memref(mlirShapedTypeGetElementType(whole), rank - 1, shape);
    MlirValue part = lower_alloc_buffer(inner, type, n, sizes, &s);
    copy_slice(ir, inputs[i], axis, scan_attr(p, "scan_input_directions", i) ? back : turn, part,
               false);
    lower_define(inner, mlirBlockGetArgument(t->body, t->num_state + i), part, s);
  }
  intptr_t n = t->num_state + t->num_out;
  MlirValue *out = lower_alloc(inner->function->lower, sizeof(MlirValue) * (size_t)(n + 1));
  if (!emit_region_block(inner, t->body, t->types, out))
    return false;
  for (intptr_t i = 0; i < n; ++i) {
    next[i] = out[i];
    if (i < t->num_state)
      continue;
    bool reversed = scan_attr(p, "scan_output_directions", i - t->num_state) != 0;
    next[i] = make_room(ir, ir_arg(&body, 1 + i), out[i], turn, length);
    put_row(inner, p, ir, next[i], reversed ? back : turn, out[i]);
    ir_dealloc(ir, out[i]);
  }
  return true;
}

static bool lower_scan(struct lower_block *b, struct op_plan *p) {
  struct lower *l = b->function->lower;
  struct scan_parts t = {.body = region_block(p, 0)};
  t.end = mlirBlockGetTerminator(t.body);
  t.num_in = view_int(p->view, "num_scan_inputs");
  t.num_state = mlirOperationGetNumOperands(p->op) - t.num_in;
  t.num_out = mlirOperationGetNumOperands(t.end) - t.num_state;
  if (t.num_in < 1 || t.num_state < 0 || t.num_out < 0 || !scan_types(l, p, &t))
    return lower_error(l, p->op, "the body's results do not match the op's"), false;
  intptr_t n = t.num_state + t.num_out;
  MlirValue *inputs = lower_alloc(l, sizeof(MlirValue) * (size_t)t.num_in);
  MlirValue *state = lower_alloc(l, sizeof(MlirValue) * (size_t)(n + 1));
  MlirValue *next = lower_alloc(l, sizeof(MlirValue) * (size_t)(n + 1));
  for (intptr_t i = 0; i < t.num_in; ++i)
    if (mlirValueIsNull(inputs[i] =
                            lower_value(b, mlirOperationGetOperand(p->op, t.num_state + i))))
      return false;
  MlirValue length = ir_dim(
      &b->ir, inputs[0],
      scan_axis(p, "scan_input_axes", 0, mlirShapedTypeGetRank(mlirValueGetType(inputs[0]))));
  for (intptr_t i = 1; i < t.num_in; ++i) { // all of one length; the least is safe
    intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(inputs[i]));
    MlirValue other = ir_dim(&b->ir, inputs[i], scan_axis(p, "scan_input_axes", i, rank));
    MlirValue same = ir_cmpi(&b->ir, IR_EQ, other, length);
    emit_fail_unless(&b->ir, b->function->status, same, 3, p->node, other, length);
    length = ir_binary(&b->ir, "arith.minsi", length, other);
  }
  for (intptr_t i = 0; i < n; ++i)
    if (i >= t.num_state)
      state[i] = no_rows(&b->ir, t.carried[i]);
    else if (!own_initial(b, mlirOperationGetOperand(p->op, i), &t.carried[i], &state[i]))
      return false;
  struct ir body;
  MlirOperation loop =
      ir_for(&b->ir, ir_index(&b->ir, 0), length, ir_index(&b->ir, 1), n, state, &body);
  MlirOperation outer = enter(b->function, loop);
  struct lower_block inner;
  lower_block_begin(&inner, b->function, b, body, t.body);
  bool ok = scan_turn(&inner, p, &t, length, inputs, next);
  if (ok)
    ir_yield(&inner.ir, "scf.yield", n, next);
  lower_block_end(&inner);
  b->function->outermost = outer;
  for (intptr_t i = 0; ok && i < n; ++i) {
    MlirValue old = mlirOperationGetResult(p->op, i), made = ir_result(loop, i);
    if (i < t.num_state)
      lower_define(b, old, made, lower_adopt(b, made));
    else
      define_rows(b, old, made, length,
                  scan_axis(p, "scan_output_axes", i - t.num_state,
                            mlirShapedTypeGetRank(mlirValueGetType(made))));
  }
  return ok;
}

const struct direct_lowering lower_control_table[] = {{"If", check_ranks, lower_if, NULL},
                                                      {"Loop", check_ranks, lower_loop, NULL},
                                                      {"Scan", check_ranks, lower_scan, NULL},
                                                      {NULL, NULL, NULL, NULL}};
