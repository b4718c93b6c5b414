//===- lower_sequence.c - Sequences and optionals ------------------------------------===//
//
// A sequence of tensors is two memrefs: the elements' data one after another (memref<?xT>) and a
// table (memref<?x10xi64>) with a row an element: where its data begins, its rank, its sizes. An
// optional is a flag (memref<i1>) and the parts of its value, empty ones when it is absent.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/lower_sort.h"

#include <string.h>

enum { ROW_OFFSET, ROW_RANK, ROW_SIZES, MAX_ELEMENT_RANK = LOWER_TABLE_WIDTH - ROW_SIZES };

struct sequence {
  MlirValue data, table;
};

static MlirValue i64_of(struct ir *ir, MlirValue index) {
  return ir_from_index(ir, index, ir_int_type(ir, 64));
}
static MlirValue add(struct ir *ir, MlirValue a, MlirValue b) {
  return ir_binary(ir, "arith.addi", a, b);
}
static MlirValue minus(struct ir *ir, MlirValue a, MlirValue b) {
  return ir_binary(ir, "arith.subi", a, b);
}
static MlirValue times(struct ir *ir, MlirValue a, MlirValue b) {
  return ir_binary(ir, "arith.muli", a, b);
}

static bool sequence_operand(struct lower_block *b, struct op_plan *p, int i, struct sequence *s) {
  MlirValue parts[LOWER_MAX_PARTS];
  if (lower_value_parts(b, mlirOperationGetOperand(p->op, i), parts) != 2)
    return false;
  *s = (struct sequence){parts[0], parts[1]};
  return true;
}

static MlirType data_type(MlirType element) {
  int64_t dynamic = ir_dynamic();
  return ir_memref(element, 1, &dynamic);
}

static MlirType table_type(struct ir *ir) {
  int64_t shape[] = {ir_dynamic(), LOWER_TABLE_WIDTH};
  return ir_memref(ir_int_type(ir, 64), 2, shape);
}

static struct sequence new_sequence(struct ir *ir, MlirType element, MlirValue elements,
                                    MlirValue rows) {
  return (struct sequence){ir_alloc(ir, data_type(element), 1, &elements, 64),
                           ir_alloc(ir, table_type(ir), 1, &rows, 64)};
}

static void define_sequence(struct lower_block *b, MlirValue old, struct sequence s) {
  MlirValue parts[] = {s.data, s.table};
  lower_define_owned(b, old, 2, parts);
}

static MlirType element_of(MlirValue memref) {
  return mlirShapedTypeGetElementType(mlirValueGetType(memref));
}

// to[to_at, +n) = from[from_at, +n) of flat memrefs.
static void copy_flat(struct ir *ir, MlirValue from, MlirValue from_at, MlirValue to,
                      MlirValue to_at, MlirValue n) {
  struct ir body;
  MlirValue i = emit_loop(ir, n, &body);
  MlirValue source = add(&body, from_at, i), target = add(&body, to_at, i);
  ir_store(&body, ir_load(&body, from, 1, &source), to, 1, &target);
}

// Entry of a row, 0 where there is no such row.
static MlirValue row_entry(struct ir *ir, MlirValue table, MlirValue row, int column) {
  MlirType index = ir_index_type(ir);
  struct ir then, otherwise;
  MlirOperation branch =
      ir_if(ir, ir_cmpi(ir, IR_ULT, row, ir_dim(ir, table, 0)), 1, &index, &then, &otherwise);
  MlirValue where[] = {row, ir_index(&then, column)};
  MlirValue found = ir_to_index(&then, ir_load(&then, table, 2, where)),
            zero = ir_index(&otherwise, 0);
  ir_yield(&then, "scf.yield", 1, &found);
  ir_yield(&otherwise, "scf.yield", 1, &zero);
  return ir_result(branch, 0);
}

static void set_entry(struct ir *ir, MlirValue table, MlirValue row, int column, MlirValue index) {
  MlirValue where[] = {row, ir_index(ir, column)};
  ir_store(ir, i64_of(ir, index), table, 2, where);
}

// The row of a tensor with these sizes; sizes past the rank are 0.
static void set_row(struct ir *ir, MlirValue table, MlirValue row, MlirValue offset, intptr_t rank,
                    const MlirValue *sizes) {
  set_entry(ir, table, row, ROW_OFFSET, offset);
  set_entry(ir, table, row, ROW_RANK, ir_index(ir, rank));
  for (int i = 0; i < MAX_ELEMENT_RANK; ++i)
    set_entry(ir, table, row, ROW_SIZES + i, i < rank ? sizes[i] : ir_index(ir, 0));
}

static void set_row_of(struct ir *ir, MlirValue table, MlirValue row, MlirValue offset,
                       MlirValue tensor) {
  MlirValue sizes[ONYX_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(tensor));
  for (intptr_t i = 0; i < rank; ++i)
    sizes[i] = ir_dim(ir, tensor, i);
  set_row(ir, table, row, offset, rank, sizes);
}

static void copy_rows(struct ir *ir, MlirValue from, MlirValue from_at, MlirValue to,
                      MlirValue to_at, MlirValue n) {
  MlirValue sizes[] = {n, ir_index(ir, LOWER_TABLE_WIDTH)}, index[2];
  struct ir body = emit_loops(ir, 2, sizes, index);
  MlirValue source[] = {add(&body, from_at, index[0]), index[1]};
  MlirValue target[] = {add(&body, to_at, index[0]), index[1]};
  ir_store(&body, ir_load(&body, from, 2, source), to, 2, target);
}

// A position in [-n, n), or up to n when `end` allows it, made non-negative and clamped; status 1
// for others.
static MlirValue position(struct lower_block *b, struct op_plan *p, int operand, MlirValue n,
                          bool end) {
  struct ir *ir = &b->ir;
  MlirValue zero = ir_index(ir, 0), one = ir_index(ir, 1), at;
  MlirValue given = onnx_operand_or_null(p->op, operand);
  if (mlirValueIsNull(given))
    at = end ? n : minus(ir, n, one);
  else {
    MlirValue memref = lower_value(b, given);
    int elem = (int)onnx_elem_from_mlir(mlirShapedTypeGetElementType(mlirValueGetType(given)));
    at = emit_cast(ir, emit_scalar_load(ir, memref), elem, ONYX_INDEX, true);
  }
  MlirValue wrapped = ir_select(ir, ir_cmpi(ir, IR_SLT, at, zero), add(ir, at, n), at);
  MlirValue limit = end ? n : minus(ir, n, one);
  MlirValue ok = ir_binary(ir, "arith.andi", ir_cmpi(ir, IR_SGE, wrapped, zero),
                           ir_cmpi(ir, IR_SLE, wrapped, limit));
  emit_fail_unless(ir, b->function->status, ok, 1, p->node, at, n);
  return ir_binary(ir, "arith.maxsi", ir_binary(ir, "arith.minsi", wrapped, limit), zero);
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

static MlirValue result_of(struct op_plan *p) {
  return mlirOperationGetResult(p->op, 0);
}

static bool check_parts(struct lower *l, struct op_plan *p) {
  MlirType parts[LOWER_MAX_PARTS];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(p->op); ++i) {
    MlirValue v = mlirOperationGetOperand(p->op, i);
    if (!onnx_is_none(v) && !lower_parts(l, mlirValueGetType(v), parts))
      return lower_error(l, p->op, "operand %d: the rank is not known, or its type has no lowering",
                         (int)i),
             false;
    if (mlirTypeIsATensor(mlirValueGetType(v)) &&
        mlirShapedTypeGetRank(mlirValueGetType(v)) > MAX_ELEMENT_RANK)
      return lower_error(l, p->op, "operand %d: an element of a sequence has at most rank %d",
                         (int)i, MAX_ELEMENT_RANK),
             false;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(p->op); ++i)
    if (!lower_parts(l, mlirValueGetType(mlirOperationGetResult(p->op, i)), parts))
      return lower_error(l, p->op, "result %d: the rank is not known, or its type has no lowering",
                         (int)i),
             false;
  return true;
}

static bool lower_empty(struct lower_block *b, struct op_plan *p) {
  MlirType parts[LOWER_MAX_PARTS];
  lower_parts(b->function->lower, mlirValueGetType(result_of(p)), parts);
  MlirValue zero = ir_index(&b->ir, 0);
  define_sequence(b, result_of(p),
                  new_sequence(&b->ir, mlirShapedTypeGetElementType(parts[0]), zero, zero));
  return true;
}

static bool lower_construct(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir;
  intptr_t n = mlirOperationGetNumOperands(p->op);
  MlirValue *flat = lower_alloc(b->function->lower, sizeof(MlirValue) * (size_t)(2 * n + 1)),
            *counts = flat + n;
  MlirValue total = ir_index(ir, 0);
  for (intptr_t i = 0; i < n; ++i) {
    MlirValue memref = lower_value(b, mlirOperationGetOperand(p->op, i));
    if (mlirValueIsNull(memref))
      return false;
    flat[i] = lower_flat(ir, memref, &counts[i]);
    total = add(ir, total, counts[i]);
  }
  MlirType parts[LOWER_MAX_PARTS];
  lower_parts(b->function->lower, mlirValueGetType(result_of(p)), parts);
  struct sequence s =
      new_sequence(ir, mlirShapedTypeGetElementType(parts[0]), total, ir_index(ir, n));
  MlirValue at = ir_index(ir, 0), zero = at;
  for (intptr_t i = 0; i < n; ++i) {
    copy_flat(ir, flat[i], zero, s.data, at, counts[i]);
    set_row_of(ir, s.table, ir_index(ir, i), at, lower_value(b, mlirOperationGetOperand(p->op, i)));
    at = add(ir, at, counts[i]);
  }
  define_sequence(b, result_of(p), s);
  return true;
}

static bool lower_insert(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir;
  struct sequence from;
  MlirValue tensor = lower_value(b, mlirOperationGetOperand(p->op, 1)), count;
  if (!sequence_operand(b, p, 0, &from) || mlirValueIsNull(tensor))
    return false;
  MlirValue n = ir_dim(ir, from.table, 0), used = ir_dim(ir, from.data, 0), zero = ir_index(ir, 0),
            one = ir_index(ir, 1);
  MlirValue at = position(b, p, 2, n, true), flat = lower_flat(ir, tensor, &count);
  struct sequence to =
      new_sequence(ir, element_of(from.data), add(ir, used, count), add(ir, n, one));
  copy_flat(ir, from.data, zero, to.data, zero, used);
  copy_flat(ir, flat, zero, to.data, used, count);
  copy_rows(ir, from.table, zero, to.table, zero, at);
  copy_rows(ir, from.table, at, to.table, add(ir, at, one), minus(ir, n, at));
  set_row_of(ir, to.table, at, used, tensor);
  define_sequence(b, result_of(p), to);
  return true;
}

static bool lower_erase(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir;
  struct sequence from;
  if (!sequence_operand(b, p, 0, &from))
    return false;
  MlirValue n = ir_dim(ir, from.table, 0), used = ir_dim(ir, from.data, 0), zero = ir_index(ir, 0),
            one = ir_index(ir, 1);
  MlirValue at = position(b, p, 1, n, false);
  MlirValue left = ir_binary(ir, "arith.maxsi", minus(ir, n, one), zero);
  struct sequence to = new_sequence(ir, element_of(from.data), used, left);
  copy_flat(ir, from.data, zero, to.data, zero, used);
  MlirValue before = ir_binary(ir, "arith.minsi", at, left);
  copy_rows(ir, from.table, zero, to.table, zero, before);
  copy_rows(ir, from.table, add(ir, before, one), to.table, before, minus(ir, left, before));
  define_sequence(b, result_of(p), to);
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool lower_length(struct lower_block *b, struct op_plan *p) {
  struct sequence s;
  if (!sequence_operand(b, p, 0, &s))
    return false;
  struct storage *home;
  MlirValue to = lower_alloc_buffer(b, ir_memref(ir_int_type(&b->ir, 64), 0, NULL), 0, NULL, &home);
  ir_store(&b->ir, i64_of(&b->ir, ir_dim(&b->ir, s.table, 0)), to, 0, NULL);
  lower_define(b, result_of(p), to, home);
  return true;
}

// Element `row` as a tensor of this memref type, in a buffer of block b's. Another rank: status 8,
// no elements.
static MlirValue take_element(struct lower_block *b, int64_t node, struct sequence s, MlirValue row,
                              MlirType type, struct storage **home) {
  struct ir *ir = &b->ir;
  intptr_t rank = mlirShapedTypeGetRank(type), n = 0;
  MlirValue found = row_entry(ir, s.table, row, ROW_RANK), expected = ir_index(ir, rank),
            zero = ir_index(ir, 0);
  MlirValue ok = ir_cmpi(ir, IR_EQ, found, expected), sizes[ONYX_MAX_RANK],
            stored = ir_index(ir, 1), limit = stored;
  emit_fail_unless(ir, b->function->status, ok, 8, node, found, expected);
  for (intptr_t i = 0; i < rank; ++i) {
    MlirValue size = ir_select(ir, ok, row_entry(ir, s.table, row, ROW_SIZES + (int)i), zero);
    stored = times(ir, stored, size);
    bool dynamic = mlirShapedTypeIsDynamicDim(type, i);
    MlirValue wanted = dynamic ? size : ir_index(ir, mlirShapedTypeGetDimSize(type, i));
    if (!dynamic)
      emit_fail_unless(ir, b->function->status, ir_cmpi(ir, IR_EQ, size, wanted), 3, node, size,
                       wanted);
    limit = times(ir, limit, wanted);
    if (dynamic)
      sizes[n++] = size;
  }
  stored = ir_select(ir, ok, stored, zero);
  MlirValue tensor = lower_alloc_buffer(b, type, n, sizes, home), count;
  MlirValue flat = lower_flat(ir, tensor, &count);
  copy_flat(ir, s.data, row_entry(ir, s.table, row, ROW_OFFSET), flat, zero,
            ir_binary(ir, "arith.minsi", stored, limit));
  return tensor;
}

static bool lower_at(struct lower_block *b, struct op_plan *p) {
  struct sequence s;
  MlirType type = lower_type(b->function->lower, mlirValueGetType(result_of(p)));
  if (!sequence_operand(b, p, 0, &s))
    return false;
  struct storage *home;
  MlirValue row = position(b, p, 1, ir_dim(&b->ir, s.table, 0), false);
  MlirValue tensor = take_element(b, p->node, s, row, type, &home);
  lower_define(b, result_of(p), tensor, home);
  return true;
}

//===----------------------------------------------------------------------===//
// Splitting and joining
//===----------------------------------------------------------------------===//

static int64_t axis_of(struct op_plan *p, intptr_t rank) {
  int64_t axis = view_int(p->view, "axis");
  return axis < 0 ? axis + rank : axis;
}

struct pieces { // how an axis is cut
  MlirValue x, split, count, step, extent;
  int split_elem;
  intptr_t rank, axis;
  bool keep;
};

// Piece i's extent along the axis; never past the end.
static MlirValue piece_extent(struct ir *ir, const struct pieces *c, MlirValue i, MlirValue start) {
  MlirValue left = minus(ir, c->extent, start), zero = ir_index(ir, 0), wanted = c->step;
  if (mlirValueIsNull(wanted))
    wanted = emit_cast(ir, ir_load(ir, c->split, 1, &i), c->split_elem, ONYX_INDEX, true);
  return ir_binary(ir, "arith.maxsi", ir_binary(ir, "arith.minsi", wanted, left), zero);
}

static bool cut_axis(struct lower_block *b, struct op_plan *p, struct pieces *c) {
  struct ir *ir = &b->ir;
  c->x = lower_value(b, mlirOperationGetOperand(p->op, 0));
  if (mlirValueIsNull(c->x))
    return false;
  c->rank = mlirShapedTypeGetRank(mlirValueGetType(c->x));
  c->axis = axis_of(p, c->rank);
  if (c->axis < 0 || c->axis >= c->rank)
    return lower_error(b->function->lower, p->op, "axis %d is not there", (int)c->axis), false;
  c->extent = ir_dim(ir, c->x, c->axis);
  MlirValue split = onnx_operand_or_null(p->op, 1), one = ir_index(ir, 1);
  c->keep = !mlirValueIsNull(split) ||
            view_int(p->view, "keepdims"); // a split keeps the axis whatever keepdims says
  c->step = one;
  c->count = c->extent;
  if (mlirValueIsNull(split))
    return true;
  c->split = lower_value(b, split);
  c->split_elem = (int)onnx_elem_from_mlir(mlirShapedTypeGetElementType(mlirValueGetType(split)));
  if (mlirShapedTypeGetRank(mlirValueGetType(c->split))) {
    c->step = (MlirValue){NULL};
    c->count = ir_dim(ir, c->split, 0);
    return true;
  }
  c->step = emit_cast(ir, emit_scalar_load(ir, c->split), c->split_elem, ONYX_INDEX, true);
  emit_fail_unless(ir, b->function->status, ir_cmpi(ir, IR_SGE, c->step, one), 6, p->node, c->step,
                   one);
  c->step = ir_binary(ir, "arith.maxsi", c->step, one);
  c->count = emit_binary(ir, EXPR_FLOORDIV, ONYX_INDEX, minus(ir, add(ir, c->extent, c->step), one),
                         c->step);
  return true;
}

static bool lower_split(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, body, inner;
  struct pieces c = {.x = {NULL}};
  if (!cut_axis(b, p, &c))
    return false;
  struct sequence s = new_sequence(ir, element_of(c.x), lower_numel(ir, c.x), c.count);
  MlirValue zero = ir_index(ir, 0), one = ir_index(ir, 1), inits[] = {zero, zero},
            sizes[ONYX_MAX_RANK], kept[ONYX_MAX_RANK];
  MlirOperation loop =
      ir_for(ir, zero, c.count, one, 2, inits, &body); // start on the axis, offset in the data
  MlirValue i = ir_arg(&body, 0), start = ir_arg(&body, 1), offset = ir_arg(&body, 2), count = one;
  MlirValue extent = piece_extent(&body, &c, i, start);
  intptr_t rank = 0;
  for (intptr_t d = 0; d < c.rank; ++d) {
    sizes[d] = d == c.axis ? extent : ir_dim(&body, c.x, d);
    count = times(&body, count, sizes[d]);
    if (d != c.axis || c.keep)
      kept[rank++] = sizes[d];
  }
  set_row(&body, s.table, i, offset, rank, kept);
  MlirValue index[ONYX_MAX_RANK];
  inner = emit_loops(&body, c.rank, sizes, index);
  MlirValue to = offset, place = ir_index(&inner, 0);
  for (intptr_t d = 0; d < c.rank; ++d)
    place = add(&inner, times(&inner, place, sizes[d]), index[d]);
  to = add(&inner, offset, place);
  index[c.axis] = add(&inner, index[c.axis], start);
  ir_store(&inner, ir_load(&inner, c.x, c.rank, index), s.data, 1, &to);
  MlirValue next[] = {add(&body, start, extent), add(&body, offset, count)};
  ir_yield(&body, "scf.yield", 2, next);
  MlirValue covered = ir_result(loop, 0);
  emit_fail_unless(ir, b->function->status, ir_cmpi(ir, IR_EQ, covered, c.extent), 6, p->node,
                   covered, c.extent);
  define_sequence(b, result_of(p), s);
  return true;
}

// Sizes of the result: those of the first element, the axis summed (or, with new_axis, counted).
static void joined_sizes(struct lower_block *b, struct op_plan *p, struct sequence s, intptr_t rank,
                         int64_t axis, bool fresh, MlirValue *sizes) {
  struct ir *ir = &b->ir, body;
  MlirValue zero = ir_index(ir, 0), n = ir_dim(ir, s.table, 0);
  for (intptr_t d = 0, k = 0; d < rank; ++d) {
    if (d == axis && fresh)
      sizes[d] = n;
    else
      sizes[d] = row_entry(ir, s.table, zero, ROW_SIZES + (int)k++);
  }
  if (fresh)
    return;
  MlirOperation loop = ir_for(ir, zero, n, ir_index(ir, 1), 1, &zero, &body);
  MlirValue sum = add(&body, ir_arg(&body, 1),
                      row_entry(&body, s.table, ir_arg(&body, 0), ROW_SIZES + (int)axis));
  ir_yield(&body, "scf.yield", 1, &sum);
  sizes[axis] = ir_result(loop, 0);
  (void)p;
}

// Do element i's sizes match the result's on all axes but the joined one?
static MlirValue element_fits(struct ir *ir, struct sequence s, MlirValue i, intptr_t rank,
                              int64_t axis, bool fresh, const MlirValue *sizes) {
  MlirValue ok = ir_cmpi(ir, IR_EQ, row_entry(ir, s.table, i, ROW_RANK),
                         ir_index(ir, fresh ? rank - 1 : rank));
  for (intptr_t d = 0, k = 0; d < rank; ++d) {
    if (d == axis) {
      k += !fresh;
      continue;
    }
    MlirValue same = ir_cmpi(ir, IR_EQ, row_entry(ir, s.table, i, ROW_SIZES + (int)k++), sizes[d]);
    ok = ir_binary(ir, "arith.andi", ok, same);
  }
  return ok;
}

static bool lower_join(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, body, then;
  struct sequence s;
  MlirType type = lower_type(b->function->lower, mlirValueGetType(result_of(p)));
  if (!sequence_operand(b, p, 0, &s))
    return false;
  intptr_t rank = mlirShapedTypeGetRank(type);
  bool fresh = view_int(p->view, "new_axis") != 0;
  int64_t axis = axis_of(p, rank), shape[ONYX_MAX_RANK];
  if (axis < 0 || axis >= rank)
    return lower_error(b->function->lower, p->op, "axis %d is not there", (int)axis), false;
  MlirValue sizes[ONYX_MAX_RANK], zero = ir_index(ir, 0), one = ir_index(ir, 1),
                                  n = ir_dim(ir, s.table, 0);
  joined_sizes(b, p, s, rank, axis, fresh, sizes);
  for (intptr_t d = 0; d < rank; ++d)
    shape[d] = ir_dynamic();
  struct storage *home;
  MlirValue to = lower_alloc_buffer(b, ir_memref(mlirShapedTypeGetElementType(type), rank, shape),
                                    rank, sizes, &home);
  ir_for(ir, zero, n, one, 1, &zero, &body);
  MlirValue i = ir_arg(&body, 0), start = ir_arg(&body, 1);
  MlirValue extent = fresh ? one : row_entry(&body, s.table, i, ROW_SIZES + (int)axis);
  MlirValue ok = element_fits(&body, s, i, rank, axis, fresh, sizes);
  emit_fail_unless(&body, b->function->status, ok, 3, p->node, i, n);
  ir_if(&body, ok, 0, NULL, &then, NULL);
  MlirValue part[ONYX_MAX_RANK], index[ONYX_MAX_RANK],
      offset = row_entry(&then, s.table, i, ROW_OFFSET);
  for (intptr_t d = 0; d < rank; ++d)
    part[d] = d == axis ? extent : sizes[d];
  struct ir inner = emit_loops(&then, rank, part, index);
  MlirValue place = zero;
  for (intptr_t d = 0; d < rank; ++d)
    place = add(&inner, times(&inner, place, part[d]), index[d]);
  place = add(&inner, place, offset);
  index[axis] = add(&inner, index[axis], start);
  ir_store(&inner, ir_load(&inner, s.data, 1, &place), to, rank, index);
  MlirValue next = add(&body, start, extent);
  ir_yield(&body, "scf.yield", 1, &next);
  lower_define(b, result_of(p), to, home);
  return true;
}

//===----------------------------------------------------------------------===//
// SequenceMap
//===----------------------------------------------------------------------===//

// data, or a larger buffer with its `used` elements where `more` do not fit.
static MlirValue grow_data(struct ir *ir, MlirValue data, MlirValue used, MlirValue more) {
  MlirType type = mlirValueGetType(data);
  MlirValue need = add(ir, used, more), have = ir_dim(ir, data, 0);
  struct ir then, otherwise;
  MlirOperation branch = ir_if(ir, ir_cmpi(ir, IR_SGT, need, have), 1, &type, &then, &otherwise);
  MlirValue capacity = ir_binary(&then, "arith.maxsi", need, add(&then, have, have)),
            zero = ir_index(&then, 0);
  MlirValue bigger = ir_alloc(&then, type, 1, &capacity, 64);
  copy_flat(&then, data, zero, bigger, zero, used);
  ir_dealloc(&then, data);
  ir_yield(&then, "scf.yield", 1, &bigger);
  ir_yield(&otherwise, "scf.yield", 1, &data);
  return ir_result(branch, 0);
}

static bool map_turn(struct lower_block *inner, struct op_plan *p, const MlirValue *tables,
                     MlirValue *next) {
  struct ir *ir = &inner->ir, body = *ir;
  struct lower *l = inner->function->lower;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->op, 0));
  MlirValue i = ir_arg(&body, 0);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(p->op); ++k) {
    MlirValue argument = mlirBlockGetArgument(block, k), parts[LOWER_MAX_PARTS];
    static struct storage *const nobodys[LOWER_MAX_PARTS] = {NULL};
    int n = lower_value_parts(inner, mlirOperationGetOperand(p->op, k), parts);
    if (n == 2) {
      struct storage *home;
      struct sequence s = {parts[0], parts[1]};
      MlirValue tensor =
          take_element(inner, p->node, s, i, lower_type(l, mlirValueGetType(argument)), &home);
      lower_define(inner, argument, tensor, home);
    } else {
      lower_define_parts(inner, argument, n, parts, nobodys);
    }
  }
  if (!lower_ops(inner, block))
    return false;
  MlirOperation end = mlirBlockGetTerminator(block);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(end); ++k) {
    MlirValue tensor = lower_value(inner, mlirOperationGetOperand(end, k)), count;
    if (mlirValueIsNull(tensor))
      return false;
    MlirValue flat = lower_flat(ir, tensor, &count), used = ir_arg(&body, 2 + 2 * k);
    next[2 * k] = grow_data(ir, ir_arg(&body, 1 + 2 * k), used, count);
    copy_flat(ir, flat, ir_index(ir, 0), next[2 * k], used, count);
    set_row_of(ir, tables[k], i, used, tensor);
    next[2 * k + 1] = add(ir, used, count);
  }
  lower_give(inner, 0, NULL, NULL, NULL);
  return !l->failed;
}

static bool lower_map(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, body;
  struct lower *l = b->function->lower;
  struct sequence first;
  intptr_t n = mlirOperationGetNumResults(p->op);
  MlirValue *state = lower_alloc(l, sizeof(MlirValue) * (size_t)(5 * n + 1)), *next = state + 2 * n,
            *tables = next + 2 * n;
  if (!sequence_operand(b, p, 0, &first))
    return false;
  MlirValue zero = ir_index(ir, 0), length = ir_dim(ir, first.table, 0);
  for (intptr_t k = 0; k < n; ++k) {
    MlirType parts[LOWER_MAX_PARTS];
    lower_parts(l, mlirValueGetType(mlirOperationGetResult(p->op, k)), parts);
    struct sequence s = new_sequence(ir, mlirShapedTypeGetElementType(parts[0]), zero, length);
    state[2 * k] = s.data;
    state[2 * k + 1] = zero;
    tables[k] = s.table;
  }
  MlirOperation loop = ir_for(ir, zero, length, ir_index(ir, 1), 2 * n, state, &body),
                outer = b->function->outermost;
  if (mlirOperationIsNull(outer))
    b->function->outermost = loop;
  struct lower_block inner;
  lower_block_begin(&inner, b->function, b, body,
                    mlirRegionGetFirstBlock(mlirOperationGetRegion(p->op, 0)));
  bool ok = map_turn(&inner, p, tables, next);
  if (ok)
    ir_yield(&inner.ir, "scf.yield", 2 * n, next);
  lower_block_end(&inner);
  b->function->outermost = outer;
  for (intptr_t k = 0; ok && k < n; ++k)
    define_sequence(b, mlirOperationGetResult(p->op, k),
                    (struct sequence){ir_result(loop, 2 * k), tables[k]});
  return ok;
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static MlirValue flag(struct lower_block *b, bool value, struct storage **home) {
  MlirType i1 = ir_int_type(&b->ir, 1);
  MlirValue memref = lower_alloc_buffer(b, ir_memref(i1, 0, NULL), 0, NULL, home);
  ir_store(&b->ir, ir_int(&b->ir, i1, value), memref, 0, NULL);
  return memref;
}

static bool lower_optional(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir;
  MlirType types[LOWER_MAX_PARTS];
  MlirValue parts[LOWER_MAX_PARTS], given = onnx_operand_or_null(p->op, 0);
  struct storage *stores[LOWER_MAX_PARTS];
  int n = lower_parts(b->function->lower, mlirValueGetType(result_of(p)), types);
  parts[0] = flag(b, !mlirValueIsNull(given), &stores[0]);
  if (!mlirValueIsNull(given)) {
    if (!lower_value_parts(b, given, parts + 1))
      return false;
    memcpy(stores + 1, lower_find(b, given)->stores, sizeof(struct storage *) * (size_t)(n - 1));
  }
  for (int i = 1; mlirValueIsNull(given) && i < n; ++i) {
    MlirValue sizes[ONYX_MAX_RANK];
    intptr_t dynamic = 0;
    for (intptr_t d = 0; d < mlirShapedTypeGetRank(types[i]); ++d)
      if (mlirShapedTypeIsDynamicDim(types[i], d))
        sizes[dynamic++] = ir_index(ir, 0);
    parts[i] = lower_alloc_buffer(b, types[i], dynamic, sizes, &stores[i]);
  }
  lower_define_parts(b, result_of(p), n, parts, stores);
  return true;
}

static bool lower_has(struct lower_block *b, struct op_plan *p) {
  MlirValue given = onnx_operand_or_null(p->op, 0), parts[LOWER_MAX_PARTS];
  struct storage *home;
  MlirValue to = flag(b, !mlirValueIsNull(given), &home);
  if (!mlirValueIsNull(given) && mlirxTypeIsA(mlirValueGetType(given), &onnx_opt_type)) {
    if (!lower_value_parts(b, given, parts))
      return false;
    ir_store(&b->ir, ir_load(&b->ir, parts[0], 0, NULL), to, 0, NULL);
  }
  lower_define(b, result_of(p), to, home);
  return true;
}

// The value's parts, without the flag; an absent one is an error at run time (status 8).
static bool lower_get(struct lower_block *b, struct op_plan *p) {
  MlirValue given = mlirOperationGetOperand(p->op, 0), parts[LOWER_MAX_PARTS];
  int n = lower_value_parts(b, given, parts);
  if (!n)
    return false;
  struct storage *const *stores = lower_find(b, given)->stores;
  bool optional = mlirxTypeIsA(mlirValueGetType(given), &onnx_opt_type);
  if (optional) {
    MlirValue zero = ir_index(&b->ir, 0);
    emit_fail_unless(&b->ir, b->function->status, ir_load(&b->ir, parts[0], 0, NULL), 8, p->node,
                     zero, zero);
  }
  lower_define_parts(b, result_of(p), n - optional, parts + optional, stores + optional);
  return true;
}

static bool lower_same(struct lower_block *b, struct op_plan *p) {
  MlirValue given = mlirOperationGetOperand(p->op, 0), parts[LOWER_MAX_PARTS];
  int n = lower_value_parts(b, given, parts);
  if (n)
    lower_define_parts(b, result_of(p), n, parts, lower_find(b, given)->stores);
  return n > 0;
}

static bool is_no_tensor(struct op_plan *p) {
  return !mlirTypeIsATensor(mlirValueGetType(mlirOperationGetOperand(p->op, 0)));
}

const struct direct_lowering lower_sequence_table[] = {
    {"SequenceEmpty", check_parts, lower_empty, NULL},
    {"SequenceConstruct", check_parts, lower_construct, NULL},
    {"SequenceInsert", check_parts, lower_insert, NULL},
    {"SequenceErase", check_parts, lower_erase, NULL},
    {"SequenceAt", check_parts, lower_at, NULL},
    {"SequenceLength", check_parts, lower_length, NULL},
    {"SplitToSequence", check_parts, lower_split, NULL},
    {"ConcatFromSequence", check_parts, lower_join, NULL},
    {"SequenceMap", check_parts, lower_map, NULL},
    {"Optional", check_parts, lower_optional, NULL},
    {"OptionalHasElement", check_parts, lower_has, NULL},
    {"OptionalGetElement", check_parts, lower_get, NULL},
    {"Identity", check_parts, lower_same, is_no_tensor},
    {NULL, NULL, NULL, NULL}};
