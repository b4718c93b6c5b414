//===- lower_string.c - Tensors of strings --------------------------------------------===//
//
// An element is the address of a string; what moves strings is the comprehensions' affair. Here
// stands what looks into them: it calls the runtime's string functions (runtime/strings.h).
//
//===----------------------------------------------------------------------===//
#include "passes/convert/lower_sort.h"

#include <stdio.h>
#include <string.h>

static MlirType i64_type(struct ir *ir) {
  return ir_int_type(ir, 64);
}

static const char *global_name(struct lower *l, const char *what) {
  return onyx_arena_printf(l->arena, "%s_%d", what, l->num_globals++);
}

//===----------------------------------------------------------------------===//
// Constant strings
//===----------------------------------------------------------------------===//

// Records one after another; offsets[i] is where string i stands, -1 for an empty one.
static size_t lay_out(intptr_t n, const char *const *strings, int64_t *offsets, char *to) {
  size_t used = 0;
  for (intptr_t i = 0; i < n; ++i) {
    int64_t size = (int64_t)strlen(strings[i]);
    offsets[i] = size ? (int64_t)used : -1;
    if (!size)
      continue;
    if (to) {
      memcpy(to + used, &size, sizeof size);
      memcpy(to + used + sizeof size, strings[i], (size_t)size);
    }
    used += sizeof size + (((size_t)size + 7) & ~(size_t)7);
  }
  return used;
}

MlirValue lower_strings(struct lower_function *f, intptr_t n, const char *const *strings) {
  struct lower *l = f->lower;
  struct ir ir = lower_top(f), body;
  int64_t *offsets = lower_alloc(l, sizeof(int64_t) * (size_t)(n + 1)), count = n;
  int64_t bytes = (int64_t)lay_out(n, strings, offsets, NULL) + 8;
  char *blob = lower_alloc(l, (size_t)bytes);
  lay_out(n, strings, offsets, blob);
  MlirValue records =
      krnl_build_global(&ir, global_name(l, "strings"), ir_memref(ir_int_type(&ir, 8), 1, &bytes),
                        emit_dense(l->ctx, ONYX_I8, 1, &bytes, blob));
  mlirOperationSetAttributeByName(mlirOpResultGetOwner(records), ir_str("alignment"),
                                  ir_i64_attr(l->ctx, 64));
  MlirValue addresses = ir_alloc(&ir, ir_memref(i64_type(&ir), 1, &count), 0, NULL, 64);
  lower_adopt(f->top, addresses)->last = INTPTR_MAX;
  if (!n)
    return addresses;
  MlirValue places =
      krnl_build_global(&ir, global_name(l, "places"), ir_memref(i64_type(&ir), 1, &count),
                        emit_dense(l->ctx, ONYX_I64, 1, &count, offsets));
  MlirValue base = ir_from_index(
      &ir, ir_cast(&ir, "memref.extract_aligned_pointer_as_index", records, ir_index_type(&ir)),
      i64_type(&ir));
  MlirValue i = emit_loop(&ir, ir_index(&ir, n), &body), place = ir_load(&body, places, 1, &i);
  MlirValue zero = ir_int(&body, i64_type(&body), 0), some = ir_cmpi(&body, IR_SGE, place, zero);
  MlirValue address = ir_select(&body, some, ir_binary(&body, "arith.addi", base, place), zero);
  ir_store(&body, address, addresses, 1, &i);
  return addresses;
}

static MlirValue one_string(struct lower_function *f, const char *text) {
  MlirValue table = lower_strings(f, 1, &text);
  struct ir ir = lower_top(f);
  MlirValue zero = ir_index(&ir, 0);
  return ir_load(&ir, table, 1, &zero);
}

static MlirValue numbers(struct lower_function *f, onyx_elem elem, int64_t n, const void *data) {
  struct lower *l = f->lower;
  struct ir ir = lower_top(f);
  return krnl_build_global(&ir, global_name(l, "table"),
                           ir_memref(emit_type(l->ctx, (int)elem), 1, &n),
                           emit_dense(l->ctx, elem, 1, &n, data));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static MlirValue result_value(struct op_plan *p, int r) {
  return mlirOperationGetResult(p->op, r);
}

static int result_elem(struct op_plan *p, int r) {
  return (int)onnx_elem_from_mlir(
      mlirShapedTypeGetElementType(mlirValueGetType(result_value(p, r))));
}

static int operand_elem(struct op_plan *p, int i) {
  return (int)view_elem(p->view, i);
}

// Result r of this shape, `?` in every place.
static MlirValue make_result(struct lower_block *b, struct op_plan *p, int r, intptr_t rank,
                             const MlirValue *sizes) {
  int64_t shape[ONYX_MAX_RANK];
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = ir_dynamic();
  struct storage *s;
  MlirValue memref = lower_alloc_buffer(
      b, ir_memref(emit_type(b->ir.ctx, result_elem(p, r)), rank, shape), rank, sizes, &s);
  if (r < p->view->num_results && p->view->wanted[r])
    lower_define(b, result_value(p, r), memref, s);
  return memref;
}

static intptr_t sizes_of(struct ir *ir, MlirValue memref, MlirValue *sizes) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
  for (intptr_t i = 0; i < rank; ++i)
    sizes[i] = ir_dim(ir, memref, i);
  return rank;
}

// A loop over the elements of operand 0 with a result of its shape; `item` is the element, the
// caller stores what becomes of it by put_item.
struct map {
  struct ir body;
  MlirValue item, index, to;
};

static bool begin_map(struct lower_block *b, struct op_plan *p, struct map *m) {
  MlirValue x = lower_value(b, mlirOperationGetOperand(p->op, 0)), sizes[ONYX_MAX_RANK], n;
  if (mlirValueIsNull(x))
    return false;
  intptr_t rank = sizes_of(&b->ir, x, sizes);
  MlirValue y = make_result(b, p, 0, rank, sizes), flat = lower_flat(&b->ir, x, &n);
  m->to = lower_flat(&b->ir, y, &n);
  m->index = emit_loop(&b->ir, n, &m->body);
  m->item = ir_load(&m->body, flat, 1, &m->index);
  return true;
}

static void put_item(struct map *m, MlirValue v) {
  ir_store(&m->body, v, m->to, 1, &m->index);
}

static MlirValue number_to_string(struct ir *ir, MlirValue v, int elem) {
  MlirType i64 = i64_type(ir);
  bool is_float = onyx_elem_is_float((onyx_elem)elem);
  if (elem == ONYX_F64)
    return emit_call(ir, "onyx_string_from_f64", 1, &v, i64);
  MlirValue wide = emit_cast(ir, v, elem,
                             is_float                                 ? ONYX_F32
                             : onyx_elem_is_unsigned((onyx_elem)elem) ? ONYX_U64
                                                                      : ONYX_I64,
                             true);
  const char *callee = is_float                                 ? "onyx_string_from_f32"
                       : onyx_elem_is_unsigned((onyx_elem)elem) ? "onyx_string_from_u64"
                                                                : "onyx_string_from_i64";
  return emit_call(ir, callee, 1, &wide, i64);
}

static MlirValue string_to_number(struct ir *ir, MlirValue s, int elem) {
  if (onyx_elem_is_unsigned((onyx_elem)elem))
    return emit_cast(ir, emit_call(ir, "onyx_string_to_u64", 1, &s, i64_type(ir)), ONYX_U64, elem,
                     true);
  if (!onyx_elem_is_float((onyx_elem)elem))
    return emit_cast(ir, emit_call(ir, "onyx_string_to_i64", 1, &s, i64_type(ir)), ONYX_I64, elem,
                     true);
  return emit_cast(ir, emit_call(ir, "onyx_string_to_f64", 1, &s, mlirF64TypeGet(ir->ctx)),
                   ONYX_F64, elem, true);
}

static bool casts_strings(struct op_plan *p) {
  return (operand_elem(p, 0) == ONYX_STRING) != (result_elem(p, 0) == ONYX_STRING);
}

static bool lower_cast(struct lower_block *b, struct op_plan *p) {
  struct map m;
  if (!begin_map(b, p, &m))
    return false;
  put_item(&m, operand_elem(p, 0) == ONYX_STRING
                   ? string_to_number(&m.body, m.item, result_elem(p, 0))
                   : number_to_string(&m.body, m.item, operand_elem(p, 0)));
  return true;
}

static bool lower_match(struct lower_block *b, struct op_plan *p) {
  struct map m;
  MlirValue pattern = one_string(b->function, view_string(p->view, "pattern"));
  if (!begin_map(b, p, &m))
    return false;
  MlirValue args[] = {m.item, pattern};
  put_item(&m, emit_call(&m.body, "onyx_string_match", 2, args, ir_int_type(&m.body, 1)));
  return true;
}

static bool lower_concat(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir;
  MlirValue in[2], sizes[ONYX_MAX_RANK], index[ONYX_MAX_RANK], items[2];
  for (int i = 0; i < 2; ++i)
    if (mlirValueIsNull(in[i] = lower_value(b, mlirOperationGetOperand(p->op, i))))
      return false;
  intptr_t ranks[] = {view_rank(p->view, 0), view_rank(p->view, 1)},
           rank = ranks[ranks[1] > ranks[0]];
  MlirValue one = ir_index(ir, 1);
  for (intptr_t d = 0; d < rank; ++d) { // an axis of 1 stretches; others must agree
    MlirValue dims[2];
    for (int i = 0; i < 2; ++i)
      dims[i] = d < rank - ranks[i] ? one : ir_dim(ir, in[i], d - (rank - ranks[i]));
    MlirValue same = ir_cmpi(ir, IR_EQ, dims[0], dims[1]), unit0 = ir_cmpi(ir, IR_EQ, dims[0], one);
    MlirValue ok = ir_binary(ir, "arith.ori", ir_binary(ir, "arith.ori", same, unit0),
                             ir_cmpi(ir, IR_EQ, dims[1], one));
    emit_fail_unless(ir, b->function->status, ok, 3, p->node, dims[1], dims[0]);
    sizes[d] = ir_select(ir, ok, ir_select(ir, unit0, dims[1], dims[0]), ir_index(ir, 0));
  }
  MlirValue y = make_result(b, p, 0, rank, sizes);
  struct ir at = emit_loops(ir, rank, sizes, index);
  for (int i = 0; i < 2; ++i) {
    MlirValue from[ONYX_MAX_RANK];
    for (intptr_t d = 0; d < ranks[i]; ++d) {
      MlirValue unit = ir_cmpi(&at, IR_EQ, ir_dim(&at, in[i], d), ir_index(&at, 1));
      from[d] = ir_select(&at, unit, ir_index(&at, 0), index[d + rank - ranks[i]]);
    }
    items[i] = ir_load(&at, in[i], ranks[i], from);
  }
  ir_store(&at, emit_call(&at, "onyx_string_concat", 2, items, i64_type(&at)), y, rank, index);
  return true;
}

//===----------------------------------------------------------------------===//
// StringSplit
//===----------------------------------------------------------------------===//

static bool lower_split(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, body, inner;
  const onnx_attr *limit = view_attr(p->view, "maxsplit");
  MlirValue by = one_string(b->function, view_string(p->view, "delimiter"));
  MlirValue x = lower_value(b, mlirOperationGetOperand(p->op, 0)), sizes[ONYX_MAX_RANK + 1], n;
  if (mlirValueIsNull(x))
    return false;
  MlirValue most = ir_int(ir, i64_type(ir), limit->present ? limit->i : -1), zero = ir_index(ir, 0),
            one = ir_index(ir, 1);
  intptr_t rank = sizes_of(ir, x, sizes);
  MlirValue counts = make_result(b, p, 1, rank, sizes), flat = lower_flat(ir, x, &n),
            flat_counts = lower_flat(ir, counts, &n);
  MlirOperation loop = ir_for(ir, zero, n, one, 1, &zero, &body);
  MlirValue i = ir_arg(&body, 0), args[] = {ir_load(&body, flat, 1, &i), by, most, {NULL}};
  MlirValue count = emit_call(&body, "onyx_string_split_count", 3, args, i64_type(&body));
  ir_store(&body, count, flat_counts, 1, &i);
  MlirValue longest = ir_binary(&body, "arith.maxsi", ir_arg(&body, 1), ir_to_index(&body, count));
  ir_yield(&body, "scf.yield", 1, &longest);
  sizes[rank] = ir_result(loop, 0);
  MlirValue parts = make_result(b, p, 0, rank + 1, sizes), total,
            flat_parts = lower_flat(ir, parts, &total);
  i = emit_loop(ir, n, &body);
  MlirValue k = emit_loop(&body, sizes[rank], &inner);
  MlirValue more[] = {ir_load(&inner, flat, 1, &i), by, most,
                      ir_from_index(&inner, k, i64_type(&inner))};
  MlirValue part = emit_call(&inner, "onyx_string_split_part", 4, more, i64_type(&inner));
  MlirValue at =
      ir_binary(&inner, "arith.addi", ir_binary(&inner, "arith.muli", i, sizes[rank]), k);
  ir_store(&inner, part, flat_parts, 1, &at);
  return true;
}

//===----------------------------------------------------------------------===//
// StringNormalizer
//===----------------------------------------------------------------------===//

struct normalizer {
  MlirValue stop;
  intptr_t num_stop;
  bool sensitive;
  int change; // 0 none, 1 lower, 2 upper
};

static MlirValue in_case(struct ir *ir, MlirValue s, bool upper) {
  MlirValue args[] = {s, ir_int(ir, ir_int_type(ir, 1), upper)};
  return emit_call(ir, "onyx_string_case", 2, args, i64_type(ir));
}

// Does s stand in the list of stop words? (Those are lower case already where case does not
// matter.)
static MlirValue is_stopped(struct ir *ir, const struct normalizer *m, MlirValue s) {
  MlirValue no = ir_int(ir, ir_int_type(ir, 1), 0);
  if (!m->num_stop)
    return no;
  if (!m->sensitive)
    s = in_case(ir, s, false);
  struct ir body;
  MlirOperation loop =
      ir_for(ir, ir_index(ir, 0), ir_index(ir, m->num_stop), ir_index(ir, 1), 1, &no, &body);
  MlirValue i = ir_arg(&body, 0), args[] = {s, ir_load(&body, m->stop, 1, &i)};
  if (!m->sensitive)
    args[1] = in_case(&body, args[1], false);
  MlirValue equal = emit_call(&body, "onyx_string_equal", 2, args, ir_int_type(&body, 1));
  MlirValue any = ir_binary(&body, "arith.ori", ir_arg(&body, 1), equal);
  ir_yield(&body, "scf.yield", 1, &any);
  return ir_result(loop, 0);
}

static bool lower_normalizer(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, body, then;
  const onnx_attr *words = view_attr(p->view, "stopwords");
  const char *action = view_string(p->view, "case_change_action");
  MlirValue x = lower_value(b, mlirOperationGetOperand(p->op, 0)), n;
  if (mlirValueIsNull(x))
    return false;
  struct normalizer m = {.num_stop = words->n,
                         .sensitive = view_int(p->view, "is_case_sensitive") != 0,
                         .change = !strcmp(action, "LOWER")   ? 1
                                   : !strcmp(action, "UPPER") ? 2
                                                              : 0};
  if (m.num_stop)
    m.stop = lower_strings(b->function, m.num_stop, words->strings);
  MlirValue flat = lower_flat(ir, x, &n), zero = ir_index(ir, 0), one = ir_index(ir, 1);
  MlirOperation count = ir_for(ir, zero, n, one, 1, &zero, &body);
  MlirValue i = ir_arg(&body, 0), stopped = is_stopped(&body, &m, ir_load(&body, flat, 1, &i));
  MlirValue next = ir_select(&body, stopped, ir_arg(&body, 1),
                             ir_binary(&body, "arith.addi", ir_arg(&body, 1), one));
  ir_yield(&body, "scf.yield", 1, &next);
  // What is left of nothing is one empty string (StringNormalizer 10).
  MlirValue kept = ir_binary(ir, "arith.maxsi", ir_result(count, 0), one), total;
  intptr_t rank = view_rank(p->view, 0);
  MlirValue sizes[] = {rank == 1 ? kept : one, kept};
  MlirValue y = lower_flat(ir, make_result(b, p, 0, rank, sizes), &total);
  ir_store(ir, ir_int(ir, i64_type(ir), 0), y, 1, &zero);
  ir_for(ir, zero, n, one, 1, &zero, &body);
  i = ir_arg(&body, 0);
  MlirValue s = ir_load(&body, flat, 1, &i), place = ir_arg(&body, 1);
  stopped = is_stopped(&body, &m, s);
  MlirValue keep = ir_binary(&body, "arith.xori", stopped, ir_int(&body, ir_int_type(&body, 1), 1));
  ir_if(&body, keep, 0, NULL, &then, NULL);
  ir_store(&then, m.change ? in_case(&then, s, m.change == 2) : s, y, 1, &place);
  next = ir_select(&body, keep, ir_binary(&body, "arith.addi", place, one), place);
  ir_yield(&body, "scf.yield", 1, &next);
  return true;
}

//===----------------------------------------------------------------------===//
// Look-ups: LabelEncoder, CategoryMapper
//===----------------------------------------------------------------------===//

struct column { // of a look-up table
  MlirValue table;
  int elem;
  int64_t n;
};

static bool column_of_tensor(struct lower_function *f, const onnx_operand *t, struct column *c) {
  if (!t)
    return false;
  *c = (struct column){.elem = (int)t->type.elem, .n = t->num_elements};
  if (c->elem == ONYX_STRING && t->strings)
    c->table = lower_strings(f, t->num_elements, t->strings);
  else if (t->data)
    c->table = numbers(f, t->type.elem, t->num_elements, t->data);
  return !mlirValueIsNull(c->table);
}

// PREFIX_strings, PREFIX_int64s, PREFIX_floats or PREFIX_tensor.
static bool read_column(struct lower_function *f, op_view *v, const char *prefix,
                        struct column *c) {
  char name[64];
  snprintf(name, sizeof name, "%s_tensor", prefix);
  const onnx_attr *a = view_attr(v, name);
  if (a->present && column_of_tensor(f, a->tensor, c))
    return true;
  snprintf(name, sizeof name, "%s_strings", prefix);
  a = view_attr(v, name);
  if (a->present && a->n) {
    *c = (struct column){lower_strings(f, a->n, a->strings), ONYX_STRING, a->n};
    return true;
  }
  snprintf(name, sizeof name, "%s_int64s", prefix);
  a = view_attr(v, name);
  if (a->present && a->n) {
    *c = (struct column){numbers(f, ONYX_I64, a->n, a->ints), ONYX_I64, a->n};
    return true;
  }
  snprintf(name, sizeof name, "%s_floats", prefix);
  a = view_attr(v, name);
  if (!a->present)
    return false;
  float *floats = lower_alloc(f->lower, sizeof(float) * (size_t)(a->n + 1));
  for (int64_t i = 0; i < a->n; ++i)
    floats[i] = (float)a->floats[i];
  *c = (struct column){numbers(f, ONYX_F32, a->n, floats), ONYX_F32, a->n};
  return true;
}

static MlirValue same_key(struct ir *ir, int elem, MlirValue a, MlirValue b) {
  MlirValue equal = emit_compare(ir, EXPR_EQ, elem, a, b);
  if (!onyx_elem_is_float((onyx_elem)elem))
    return equal;
  MlirValue both = ir_binary(ir, "arith.andi", emit_unary(ir, EXPR_ISNAN, elem, a),
                             emit_unary(ir, EXPR_ISNAN, elem, b));
  return ir_binary(ir, "arith.ori", equal, both); // LabelEncoder 4: NaN finds NaN
}

// values[i] of the first i with keys[i] == key, else `otherwise`.
static MlirValue look_up(struct ir *ir, const struct column *keys, const struct column *values,
                         MlirValue key, MlirValue otherwise) {
  MlirValue n = ir_index(ir, keys->n < values->n ? keys->n : values->n), zero = ir_index(ir, 0);
  struct ir test, step, some, none;
  MlirType i1 = ir_int_type(ir, 1), type = mlirValueGetType(otherwise);
  MlirOperation loop = ir_while(ir, 1, &zero, &test, &step);
  MlirValue i = ir_arg(&test, 0);
  MlirOperation go = ir_if(&test, ir_cmpi(&test, IR_SLT, i, n), 1, &i1, &some, &none);
  MlirValue differ = ir_binary(&some, "arith.xori",
                               same_key(&some, keys->elem, ir_load(&some, keys->table, 1, &i), key),
                               ir_int(&some, i1, 1));
  MlirValue no = ir_int(&none, i1, 0);
  ir_yield(&some, "scf.yield", 1, &differ);
  ir_yield(&none, "scf.yield", 1, &no);
  MlirValue condition[] = {ir_result(go, 0), i};
  ir_yield(&test, "scf.condition", 2, condition);
  MlirValue next = ir_binary(&step, "arith.addi", ir_arg(&step, 0), ir_index(&step, 1));
  ir_yield(&step, "scf.yield", 1, &next);
  i = ir_result(loop, 0);
  MlirOperation pick = ir_if(ir, ir_cmpi(ir, IR_SLT, i, n), 1, &type, &some, &none);
  MlirValue found = ir_load(&some, values->table, 1, &i);
  ir_yield(&some, "scf.yield", 1, &found);
  ir_yield(&none, "scf.yield", 1, &otherwise);
  return ir_result(pick, 0);
}

static bool has_strings(struct op_plan *p) {
  return operand_elem(p, 0) == ONYX_STRING || result_elem(p, 0) == ONYX_STRING;
}

static MlirValue default_label(struct lower_block *b, struct op_plan *p, int elem) {
  struct ir ir = lower_top(b->function);
  const onnx_attr *t = view_attr(p->view, "default_tensor");
  struct column c;
  if (t->present && column_of_tensor(b->function, t->tensor, &c)) {
    ir = lower_top(b->function);
    MlirValue zero = ir_index(&ir, 0);
    return ir_load(&ir, c.table, 1, &zero);
  }
  if (elem == ONYX_STRING)
    return one_string(b->function, view_string(p->view, "default_string"));
  return onyx_elem_is_float((onyx_elem)elem)
             ? emit_const_float(&ir, elem, view_float(p->view, "default_float"))
             : emit_const_int(&ir, elem, view_int(p->view, "default_int64"));
}

static bool lower_label_encoder(struct lower_block *b, struct op_plan *p) {
  struct column keys, values;
  struct map m;
  if (!read_column(b->function, p->view, "keys", &keys) ||
      !read_column(b->function, p->view, "values", &values) || keys.elem != operand_elem(p, 0) ||
      values.elem != result_elem(p, 0))
    return lower_error(b->function->lower, p->op,
                       "expected keys of the operand's type and values of the result's"),
           false;
  MlirValue otherwise = default_label(b, p, values.elem);
  if (!begin_map(b, p, &m))
    return false;
  put_item(&m, look_up(&m.body, &keys, &values, m.item, otherwise));
  return true;
}

static bool lower_category_mapper(struct lower_block *b, struct op_plan *p) {
  const onnx_attr *strings = view_attr(p->view, "cats_strings"),
                  *ints = view_attr(p->view, "cats_int64s");
  struct lower_function *f = b->function;
  struct map m;
  struct column names = {lower_strings(f, strings->n, strings->strings), ONYX_STRING, strings->n};
  struct column numbers_of = {numbers(f, ONYX_I64, ints->n, ints->ints), ONYX_I64, ints->n};
  bool to_number = operand_elem(p, 0) == ONYX_STRING;
  MlirValue otherwise =
      to_number ? (MlirValue){NULL} : one_string(f, view_string(p->view, "default_string"));
  if (!begin_map(b, p, &m))
    return false;
  if (to_number)
    otherwise = emit_const_int(&m.body, ONYX_I64, view_int(p->view, "default_int64"));
  put_item(&m, to_number ? look_up(&m.body, &names, &numbers_of, m.item, otherwise)
                         : look_up(&m.body, &numbers_of, &names, m.item, otherwise));
  return true;
}

//===----------------------------------------------------------------------===//
// ZipMap
//===----------------------------------------------------------------------===//

// A map for each row: all have the class labels as keys.
static bool lower_zip_map(struct lower_block *b, struct op_plan *p) {
  struct ir *ir = &b->ir, body;
  const onnx_attr *strings = view_attr(p->view, "classlabels_strings"),
                  *ints = view_attr(p->view, "classlabels_int64s");
  bool named = strings->present && strings->n;
  int64_t dynamic = ir_dynamic(), shape[] = {dynamic, 2}, num = named ? strings->n : ints->n;
  MlirValue x = lower_value(b, mlirOperationGetOperand(p->op, 0)), total, one = ir_index(ir, 1);
  if (mlirValueIsNull(x))
    return false;
  MlirValue labels = named ? lower_strings(b->function, num, strings->strings)
                           : numbers(b->function, ONYX_I64, num, ints->ints);
  MlirValue flat = lower_flat(ir, x, &total), classes = ir_index(ir, num);
  bool flat_input = view_rank(p->view, 0) == 1;
  MlirValue rows = flat_input ? one : ir_dim(ir, x, 0), width = ir_dim(ir, x, flat_input ? 0 : 1);
  MlirValue ok = ir_cmpi(ir, IR_EQ, width, classes);
  emit_fail_unless(ir, b->function->status, ok, 3, p->node, width, classes);
  rows = ir_select(ir, ok, rows, ir_index(ir, 0));
  MlirValue n = ir_binary(ir, "arith.muli", rows, classes);
  MlirType i64 = i64_type(ir);
  MlirValue parts[] = {ir_alloc(ir, ir_memref(i64, 1, &dynamic), 1, &n, 64),
                       ir_alloc(ir, ir_memref(ir_f32_type(ir), 1, &dynamic), 1, &n, 64),
                       ir_alloc(ir, ir_memref(i64, 2, shape), 1, &rows, 64)};
  MlirValue i = emit_loop(ir, n, &body), label = ir_binary(&body, "arith.remui", i, classes);
  ir_store(&body, ir_load(&body, labels, 1, &label), parts[0], 1, &i);
  ir_store(&body, ir_load(&body, flat, 1, &i), parts[1], 1, &i);
  i = emit_loop(ir, rows, &body);
  MlirValue first[] = {i, ir_index(&body, 0)}, count[] = {i, ir_index(&body, 1)};
  ir_store(&body, ir_from_index(&body, ir_binary(&body, "arith.muli", i, classes), i64), parts[2],
           2, first);
  ir_store(&body, ir_from_index(&body, classes, i64), parts[2], 2, count);
  lower_define_owned(b, result_value(p, 0), 3, parts);
  return true;
}

static bool check_types(struct lower *l, struct op_plan *p) {
  MlirType parts[LOWER_MAX_PARTS];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(p->op); ++i)
    if (!onnx_is_none(mlirOperationGetOperand(p->op, i)) &&
        !lower_parts(l, mlirValueGetType(mlirOperationGetOperand(p->op, i)), parts))
      return lower_error(l, p->op, "operand %d: the rank is not known (run shape-inference first)",
                         (int)i),
             false;
  return true;
}

const struct direct_lowering lower_string_table[] = {
    {"Cast", check_types, lower_cast, casts_strings},
    {"CastLike", check_types, lower_cast, casts_strings},
    {"CategoryMapper", check_types, lower_category_mapper, NULL},
    {"LabelEncoder", check_types, lower_label_encoder, has_strings},
    {"RegexFullMatch", check_types, lower_match, NULL},
    {"StringConcat", check_types, lower_concat, NULL},
    {"StringNormalizer", check_types, lower_normalizer, NULL},
    {"StringSplit", check_types, lower_split, NULL},
    {"ZipMap", check_types, lower_zip_map, NULL},
    {NULL, NULL, NULL, NULL}};
