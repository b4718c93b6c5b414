//===- lower_select.c - What is chosen by sorting ------------------------------------------===//
//
// TopK, Unique, NonMaxSuppression by sorting: their comprehensions compare all pairs, which suits
// folding and any order of loops, and costs the square of the length.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/lower_sort.h"

#include <string.h>

static MlirValue operand(struct lower_block *b, struct op_plan *p, int i) {
  MlirValue v = onnx_operand_or_null(p->op, i);
  return mlirValueIsNull(v) ? v : lower_value(b, v);
}

static bool check_operands(struct lower *l, struct op_plan *p) {
  for (int i = 0; i < p->view->num_operands; ++i) {
    const onnx_type *t = &p->view->operands[i].type;
    if (t->kind == ONYX_TYPE_NONE)
      continue;
    if (t->kind != ONYX_TYPE_TENSOR || t->elem == ONYX_STRING)
      return lower_error(l, p->op, "operand %d: no lowering for strings and sequences here", i),
             false;
    if (t->rank < 0)
      return lower_error(l, p->op, "operand %d: the rank is not known (run shape-inference first)",
                         i),
             false;
  }
  return true;
}

static MlirValue index_buffer(struct lower_block *b, MlirValue n) {
  int64_t dynamic = ir_dynamic();
  return lower_alloc_buffer(b, ir_memref(ir_index_type(&b->ir), 1, &dynamic), 1, &n,
                            NULL); // dies with the op
}

// A result of these sizes; the type has a `?` for each.
static MlirValue make_result(struct lower_block *b, struct op_plan *p, int r, int elem,
                             intptr_t rank, const MlirValue *sizes) {
  int64_t shape[ONYX_MAX_RANK];
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = ir_dynamic();
  struct storage *s;
  MlirValue memref =
      lower_alloc_buffer(b, ir_memref(emit_type(b->ir.ctx, elem), rank, shape), rank, sizes, &s);
  if (r < p->view->num_results && p->view->wanted[r])
    lower_define(b, mlirOperationGetResult(p->op, r), memref, s);
  return memref;
}

static MlirValue not(struct ir *ir, MlirValue v) {
  return ir_binary(ir, "arith.xori", v, ir_int(ir, ir_int_type(ir, 1), 1));
}

static MlirValue as_i64(struct ir *ir, MlirValue index) {
  return ir_from_index(ir, index, ir_int_type(ir, 64));
}

//===----------------------------------------------------------------------===//
// TopK
//===----------------------------------------------------------------------===//

struct line { // one line along an axis
  MlirValue x;
  MlirValue index[ONYX_MAX_RANK];
  intptr_t rank, axis;
  int elem;
  bool largest;
};

static MlirValue line_item(struct ir *ir, const struct line *l, MlirValue i) {
  MlirValue index[ONYX_MAX_RANK];
  memcpy(index, l->index, sizeof(MlirValue) * (size_t)l->rank);
  index[l->axis] = i;
  return ir_load(ir, l->x, l->rank, index);
}

static MlirValue line_before(struct ir *ir, MlirValue a, MlirValue b, void *user) {
  const struct line *l = user;
  MlirValue x = line_item(ir, l, a), y = line_item(ir, l, b);
  return l->largest ? emit_total_less(ir, l->elem, y, x) : emit_total_less(ir, l->elem, x, y);
}

static bool lower_topk(struct lower_block *b, struct op_plan *p) {
  MlirValue x = operand(b, p, 0), k_operand = operand(b, p, 1);
  if (mlirValueIsNull(x) || mlirValueIsNull(k_operand))
    return false;
  struct line line = {.x = x,
                      .rank = view_rank(p->view, 0),
                      .axis = view_int(p->view, "axis"),
                      .elem = (int)view_elem(p->view, 0),
                      .largest = view_int(p->view, "largest") != 0};
  line.axis += line.axis < 0 ? line.rank : 0;
  if (line.axis < 0 || line.axis >= line.rank)
    return lower_error(b->function->lower, p->op, "axis %d is not there", (int)line.axis), false;
  struct ir *ir = &b->ir;
  MlirValue zero = ir_index(ir, 0), n = ir_dim(ir, x, line.axis);
  MlirValue wanted = emit_cast(ir, emit_scalar_load(ir, k_operand), ONYX_I64, ONYX_INDEX, true);
  MlirValue fits = ir_binary(ir, "arith.andi", ir_cmpi(ir, IR_SGE, wanted, zero),
                             ir_cmpi(ir, IR_SLE, wanted, n));
  emit_fail_unless(ir, b->function->status, fits, 6, p->node, wanted, n);
  MlirValue k = ir_binary(ir, "arith.maxsi", ir_binary(ir, "arith.minsi", wanted, n), zero);
  MlirValue sizes[ONYX_MAX_RANK], outer[ONYX_MAX_RANK];
  for (intptr_t i = 0; i < line.rank; ++i) {
    sizes[i] = i == line.axis ? k : ir_dim(ir, x, i);
    outer[i] = i == line.axis ? ir_index(ir, 1) : sizes[i];
  }
  // As large as everyone takes it to be, even where K is a bad one.
  MlirValue promised = lower_size(b, p->results[0].type.dims[line.axis]);
  if (!mlirValueIsNull(promised))
    sizes[line.axis] = promised;
  MlirValue values = make_result(b, p, 0, line.elem, line.rank, sizes);
  MlirValue indices = make_result(b, p, 1, ONYX_I64, line.rank, sizes);
  MlirValue order = index_buffer(b, n), scratch = index_buffer(b, n);
  struct ir at = emit_loops(ir, line.rank, outer, line.index), body;
  emit_iota(&at, order, n);
  emit_sort(&at, order, scratch, n, line_before, &line);
  k = ir_binary(&at, "arith.minsi", k, sizes[line.axis]);
  MlirValue place = emit_loop(&at, k, &body), to[ONYX_MAX_RANK];
  memcpy(to, line.index, sizeof to);
  to[line.axis] = place;
  MlirValue item = ir_load(&body, order, 1, &place);
  ir_store(&body, line_item(&body, &line, item), values, line.rank, to);
  ir_store(&body, as_i64(&body, item), indices, line.rank, to);
  return true;
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

// Items along an axis (all elements one by one without): item i is x[.., i, ..], `width` elements.
struct items {
  MlirValue x, n, width;
  intptr_t rank, axis;
  int elem;
};

static MlirValue item_element(struct ir *ir, const struct items *u, MlirValue item, MlirValue k) {
  MlirValue index[ONYX_MAX_RANK], rest = k;
  for (intptr_t d = u->rank - 1; d >= 0; --d) {
    if (d == u->axis) {
      index[d] = item;
      continue;
    }
    MlirValue size = ir_dim(ir, u->x, d);
    index[d] = ir_binary(ir, "arith.remui", rest, size);
    rest = ir_binary(ir, "arith.divui", rest, size);
  }
  return ir_load(ir, u->x, u->rank, index);
}

// The first place where items a and b differ (`width`: nowhere).
static MlirValue first_difference(struct ir *ir, const struct items *u, MlirValue a, MlirValue b) {
  MlirValue k = ir_index(ir, 0);
  struct ir test, step;
  MlirOperation loop = ir_while(ir, 1, &k, &test, &step);
  k = ir_arg(&test, 0);
  MlirValue some = ir_cmpi(&test, IR_SLT, k, u->width);
  MlirType i1 = ir_int_type(&test, 1);
  struct ir then, otherwise;
  MlirOperation same = ir_if(&test, some, 1, &i1, &then, &otherwise);
  MlirValue x = item_element(&then, u, a, k), y = item_element(&then, u, b, k);
  MlirValue differ = ir_binary(&then, "arith.ori", emit_total_less(&then, u->elem, x, y),
                               emit_total_less(&then, u->elem, y, x));
  MlirValue equal = not(&then, differ), no = ir_int(&otherwise, i1, 0);
  ir_yield(&then, "scf.yield", 1, &equal);
  ir_yield(&otherwise, "scf.yield", 1, &no);
  MlirValue condition[] = {ir_result(same, 0), k};
  ir_yield(&test, "scf.condition", 2, condition);
  MlirValue next = ir_binary(&step, "arith.addi", ir_arg(&step, 0), ir_index(&step, 1));
  ir_yield(&step, "scf.yield", 1, &next);
  return ir_result(loop, 0);
}

static MlirValue item_before(struct ir *ir, MlirValue a, MlirValue b, void *user) {
  const struct items *u = user;
  MlirValue k = first_difference(ir, u, a, b);
  MlirType i1 = ir_int_type(ir, 1);
  struct ir then, otherwise;
  MlirOperation less = ir_if(ir, ir_cmpi(ir, IR_SLT, k, u->width), 1, &i1, &then, &otherwise);
  MlirValue yes =
      emit_total_less(&then, u->elem, item_element(&then, u, a, k), item_element(&then, u, b, k));
  MlirValue no = ir_int(&otherwise, i1, 0);
  ir_yield(&then, "scf.yield", 1, &yes);
  ir_yield(&otherwise, "scf.yield", 1, &no);
  return ir_result(less, 0);
}

static MlirValue number_before(struct ir *ir, MlirValue a, MlirValue b, void *user) {
  MlirValue first = *(MlirValue *)user; // by first occurrence
  return ir_cmpi(ir, IR_SLT, ir_load(ir, first, 1, &a), ir_load(ir, first, 1, &b));
}

// Groups equal items of the sorted order: group[i] of item i, first[g] its first item. Returns the
// count.
static MlirValue group_items(struct ir *ir, const struct items *u, MlirValue order, MlirValue group,
                             MlirValue first) {
  MlirValue none = ir_index(ir, -1), one = ir_index(ir, 1);
  struct ir body;
  MlirOperation loop = ir_for(ir, ir_index(ir, 0), u->n, one, 1, &none, &body);
  MlirValue i = ir_arg(&body, 0), g = ir_arg(&body, 1), item = ir_load(&body, order, 1, &i);
  MlirValue zero = ir_index(&body, 0);
  MlirValue before = ir_binary(&body, "arith.maxsi", ir_binary(&body, "arith.subi", i, one), zero);
  MlirValue previous = ir_load(&body, order, 1, &before);
  MlirValue differs = ir_cmpi(&body, IR_SLT, first_difference(&body, u, previous, item), u->width);
  MlirValue fresh = ir_binary(&body, "arith.ori", differs, ir_cmpi(&body, IR_EQ, i, zero));
  MlirValue now = ir_select(&body, fresh, ir_binary(&body, "arith.addi", g, one), g);
  struct ir then;
  ir_if(&body, fresh, 0, NULL, &then,
        NULL); // the sort is stable: the first of a group is its first occurrence
  ir_store(&then, item, first, 1, &now);
  ir_store(&body, now, group, 1, &item);
  ir_yield(&body, "scf.yield", 1, &now);
  return ir_binary(ir, "arith.addi", ir_result(loop, 0), one);
}

static void unique_results(struct lower_block *b, struct op_plan *p, const struct items *u,
                           MlirValue count, MlirValue rank_of, MlirValue place_of, MlirValue group,
                           MlirValue first) {
  struct ir *ir = &b->ir, at;
  MlirValue sizes[ONYX_MAX_RANK], index[ONYX_MAX_RANK], i;
  for (intptr_t d = 0; d < u->rank; ++d)
    sizes[d] = d == u->axis ? count : ir_dim(ir, u->x, d);
  MlirValue y = make_result(b, p, 0, u->elem, u->rank, sizes);
  at = emit_loops(ir, u->rank, sizes, index);
  MlirValue from[ONYX_MAX_RANK];
  memcpy(from, index, sizeof from);
  MlirValue g = ir_load(&at, rank_of, 1, &index[u->axis]);
  from[u->axis] = ir_load(&at, first, 1, &g);
  ir_store(&at, ir_load(&at, u->x, u->rank, from), y, u->rank, index);
  MlirValue firsts = make_result(b, p, 1, ONYX_I64, 1, &count);
  MlirValue inverse = make_result(b, p, 2, ONYX_I64, 1, &u->n);
  MlirValue counts = make_result(b, p, 3, ONYX_I64, 1, &count);
  i = emit_loop(ir, count, &at);
  MlirValue of = ir_load(&at, rank_of, 1, &i);
  ir_store(&at, as_i64(&at, ir_load(&at, first, 1, &of)), firsts, 1, &i);
  ir_store(&at, ir_int(&at, ir_int_type(&at, 64), 0), counts, 1, &i);
  i = emit_loop(ir, u->n, &at);
  g = ir_load(&at, group, 1, &i);
  MlirValue place = ir_load(&at, place_of, 1, &g);
  ir_store(&at, as_i64(&at, place), inverse, 1, &i);
  MlirValue more = ir_binary(&at, "arith.addi", ir_load(&at, counts, 1, &place),
                             ir_int(&at, ir_int_type(&at, 64), 1));
  ir_store(&at, more, counts, 1, &place);
}

static bool lower_unique(struct lower_block *b, struct op_plan *p) {
  MlirValue x = operand(b, p, 0), n;
  if (mlirValueIsNull(x))
    return false;
  struct ir *ir = &b->ir, at;
  const onnx_attr *axis = view_attr(p->view, "axis");
  struct items u = {
      .x = x, .rank = view_rank(p->view, 0), .axis = axis->i, .elem = (int)view_elem(p->view, 0)};
  if (!axis->present) {
    u.x = lower_flat(ir, x, &n);
    u.rank = 1;
    u.axis = 0;
  }
  u.axis += u.axis < 0 ? u.rank : 0;
  if (u.axis < 0 || u.axis >= u.rank)
    return lower_error(b->function->lower, p->op, "axis %d is not there", (int)u.axis), false;
  u.n = ir_dim(ir, u.x, u.axis);
  u.width = ir_index(ir, 1);
  for (intptr_t d = 0; d < u.rank; ++d)
    if (d != u.axis)
      u.width = ir_binary(ir, "arith.muli", u.width, ir_dim(ir, u.x, d));
  MlirValue order = index_buffer(b, u.n), scratch = index_buffer(b, u.n),
            group = index_buffer(b, u.n);
  MlirValue first = index_buffer(b, u.n), rank_of = index_buffer(b, u.n),
            place_of = index_buffer(b, u.n);
  emit_iota(ir, order, u.n);
  emit_sort(ir, order, scratch, u.n, item_before, &u);
  MlirValue count = group_items(ir, &u, order, group, first);
  // rank_of[place] = group, sorted by value as they are or by first occurrence; place_of is its
  // inverse.
  emit_iota(ir, rank_of, count);
  if (!view_int(p->view, "sorted"))
    emit_sort(ir, rank_of, scratch, count, number_before, &first);
  MlirValue i = emit_loop(ir, count, &at), g = ir_load(&at, rank_of, 1, &i);
  ir_store(&at, i, place_of, 1, &g);
  unique_results(b, p, &u, count, rank_of, place_of, group, first);
  return true;
}

//===----------------------------------------------------------------------===//
// NonMaxSuppression
//===----------------------------------------------------------------------===//

struct nms {
  MlirValue boxes, scores, batch, class, limit, iou, least;
  bool center;
};

static MlirValue box_part(struct ir *ir, const struct nms *m, MlirValue box, int part) {
  MlirValue index[] = {m->batch, box, ir_index(ir, part)};
  return ir_load(ir, m->boxes, 3, index);
}

// Low and high edges along one axis: corners in any order, or centre and size.
static void box_edges(struct ir *ir, const struct nms *m, MlirValue box, int axis, MlirValue *low,
                      MlirValue *high) {
  MlirValue a = box_part(ir, m, box, axis), c = box_part(ir, m, box, axis + 2);
  if (!m->center) {
    *low = ir_binary(ir, "arith.minimumf", a, c);
    *high = ir_binary(ir, "arith.maximumf", a, c);
    return;
  }
  MlirValue half = ir_binary(ir, "arith.mulf", c, ir_float(ir, mlirValueGetType(c), 0.5));
  *low = ir_binary(ir, "arith.subf", a, half);
  *high = ir_binary(ir, "arith.addf", a, half);
}

static MlirValue overlap(struct ir *ir, const struct nms *m, MlirValue a, MlirValue b) {
  MlirValue zero = ir_float(ir, ir_f32_type(ir), 0.0), inter = {NULL}, area_a = {NULL},
            area_b = {NULL};
  for (int axis = 0; axis < 2; ++axis) {
    MlirValue la, ha, lb, hb;
    box_edges(ir, m, a, axis, &la, &ha);
    box_edges(ir, m, b, axis, &lb, &hb);
    MlirValue side = ir_binary(ir, "arith.subf", ir_binary(ir, "arith.minimumf", ha, hb),
                               ir_binary(ir, "arith.maximumf", la, lb));
    side = ir_binary(ir, "arith.maximumf", side, zero);
    MlirValue sa = ir_binary(ir, "arith.subf", ha, la), sb = ir_binary(ir, "arith.subf", hb, lb);
    inter = axis ? ir_binary(ir, "arith.mulf", inter, side) : side;
    area_a = axis ? ir_binary(ir, "arith.mulf", area_a, sa) : sa;
    area_b = axis ? ir_binary(ir, "arith.mulf", area_b, sb) : sb;
  }
  MlirValue all = ir_binary(ir, "arith.subf", ir_binary(ir, "arith.addf", area_a, area_b), inter);
  MlirValue some = ir_cmpf(ir, IR_OGT, all, zero);
  MlirValue ratio = ir_binary(ir, "arith.divf", inter,
                              ir_select(ir, some, all, ir_float(ir, ir_f32_type(ir), 1.0)));
  return ir_select(ir, some, ratio, zero);
}

static MlirValue box_score(struct ir *ir, const struct nms *m, MlirValue box) {
  MlirValue index[] = {m->batch, m->class, box};
  return ir_load(ir, m->scores, 3, index);
}

static MlirValue score_before(struct ir *ir, MlirValue a, MlirValue b, void *user) {
  return ir_cmpf(ir, IR_OGT, box_score(ir, user, a), box_score(ir, user, b));
}

// Does a box of out[start, count) overlap `box` too much?
static MlirValue is_suppressed(struct ir *ir, const struct nms *m, MlirValue out, MlirValue start,
                               MlirValue count, MlirValue box) {
  MlirValue no = ir_int(ir, ir_int_type(ir, 1), 0);
  struct ir body;
  MlirOperation loop = ir_for(ir, start, count, ir_index(ir, 1), 1, &no, &body);
  MlirValue where[] = {ir_arg(&body, 0), ir_index(&body, 2)};
  MlirValue other = ir_to_index(&body, ir_load(&body, out, 2, where));
  MlirValue over = ir_cmpf(&body, IR_OGT, overlap(&body, m, other, box), m->iou);
  MlirValue any = ir_binary(&body, "arith.ori", ir_arg(&body, 1), over);
  ir_yield(&body, "scf.yield", 1, &any);
  return ir_result(loop, 0);
}

// One class of one batch: boxes by falling score, each kept unless a kept one covers it. Returns
// the new count.
static MlirValue select_boxes(struct ir *ir, const struct nms *m, MlirValue order, MlirValue n,
                              MlirValue out, MlirValue start) {
  struct ir body, then, keep, empty, skip, drop;
  MlirType index = ir_index_type(ir);
  MlirOperation loop = ir_for(ir, ir_index(ir, 0), n, ir_index(ir, 1), 1, &start, &body);
  MlirValue i = ir_arg(&body, 0), count = ir_arg(&body, 1), box = ir_load(&body, order, 1, &i);
  MlirValue room = ir_cmpi(&body, IR_SLT, ir_binary(&body, "arith.subi", count, start), m->limit);
  MlirValue good = ir_binary(&body, "arith.andi", room,
                             ir_cmpf(&body, IR_OGT, box_score(&body, m, box), m->least));
  MlirOperation test = ir_if(&body, good, 1, &index, &then, &skip);
  MlirValue free_box = not(&then, is_suppressed(&then, m, out, start, count, box));
  MlirOperation kept = ir_if(&then, free_box, 1, &index, &keep, &drop);
  MlirValue row[] = {m->batch, m->class, box};
  for (int k = 0; k < 3; ++k) {
    MlirValue where[] = {count, ir_index(&keep, k)};
    ir_store(&keep, as_i64(&keep, row[k]), out, 2, where);
  }
  MlirValue more = ir_binary(&keep, "arith.addi", count, ir_index(&keep, 1)),
            inner = ir_result(kept, 0);
  ir_yield(&keep, "scf.yield", 1, &more);
  ir_yield(&drop, "scf.yield", 1, &count);
  ir_yield(&then, "scf.yield", 1, &inner);
  ir_yield(&skip, "scf.yield", 1, &count);
  MlirValue next = ir_result(test, 0);
  ir_yield(&body, "scf.yield", 1, &next);
  (void)empty;
  return ir_result(loop, 0);
}

static MlirValue scalar_or(struct lower_block *b, struct op_plan *p, int i, double otherwise) {
  MlirValue v = operand(b, p, i);
  return mlirValueIsNull(v) ? ir_float(&b->ir, ir_f32_type(&b->ir), otherwise)
                            : emit_scalar_load(&b->ir, v);
}

static bool lower_nms(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, batches, classes;
  struct nms m = {.boxes = operand(b, p, 0),
                  .scores = operand(b, p, 1),
                  .center = view_int(p->view, "center_point_box") != 0};
  if (mlirValueIsNull(m.boxes) || mlirValueIsNull(m.scores))
    return false;
  MlirValue zero = ir_index(ir, 0),
            n = ir_binary(ir, "arith.minsi", ir_dim(ir, m.boxes, 1), ir_dim(ir, m.scores, 2));
  MlirValue limit = operand(b, p, 2);
  m.limit = mlirValueIsNull(limit) ? zero : ir_to_index(ir, emit_scalar_load(ir, limit));
  m.limit = ir_binary(ir, "arith.maxsi", ir_binary(ir, "arith.minsi", m.limit, n), zero);
  m.iou = scalar_or(b, p, 3, 0.0);
  m.least = scalar_or(b, p, 4, -__builtin_inf());
  MlirValue num_batches =
      ir_binary(ir, "arith.minsi", ir_dim(ir, m.boxes, 0), ir_dim(ir, m.scores, 0));
  MlirValue num_classes = ir_dim(ir, m.scores, 1);
  MlirValue bound =
      ir_binary(ir, "arith.muli", ir_binary(ir, "arith.muli", num_batches, num_classes), m.limit);
  int64_t shape[] = {ir_dynamic(), 3};
  MlirType type = ir_memref(ir_int_type(ir, 64), 2, shape);
  struct storage *s;
  MlirValue out = lower_alloc_buffer(b, type, 1, &bound, &s);
  MlirValue order = index_buffer(b, n), scratch = index_buffer(b, n), one = ir_index(ir, 1);
  MlirOperation outer = ir_for(ir, zero, num_batches, one, 1, &zero, &batches);
  m.batch = ir_arg(&batches, 0);
  MlirValue count = ir_arg(&batches, 1);
  MlirOperation inner = ir_for(&batches, zero, num_classes, one, 1, &count, &classes);
  m.class = ir_arg(&classes, 0);
  emit_iota(&classes, order, n);
  emit_sort(&classes, order, scratch, n, score_before, &m);
  MlirValue next = select_boxes(&classes, &m, order, n, out, ir_arg(&classes, 1));
  ir_yield(&classes, "scf.yield", 1, &next);
  next = ir_result(inner, 0);
  ir_yield(&batches, "scf.yield", 1, &next);
  MlirValue sizes[] = {ir_result(outer, 0), ir_index(ir, 3)};
  lower_define(b, mlirOperationGetResult(p->op, 0), ir_reinterpret(ir, out, type, sizes), s);
  return true;
}

const struct direct_lowering lower_select_table[] = {
    {"TopK", check_operands, lower_topk, NULL},
    {"Unique", check_operands, lower_unique, NULL},
    {"NonMaxSuppression", check_operands, lower_nms, NULL},
    {NULL, NULL, NULL, NULL}};
