//===- plan_memory.c - krnl-plan-memory
//------------------------------------------------------------===//
//
// Buffers of static size that do not leave the function become views of its argument marked
// krnl.arena, at offsets such that buffers that live at the same time do not overlap. Time is the
// op of the function's body: a loop counts as a whole. krnl.arena_bytes on the function says how
// much it takes, krnl.arena_live_bytes the most that lives at once, below which no plan can go.
// Other buffers that do not leave get a memref.dealloc after their last use where they have none.
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/krnl.h"
#include "passes/ir_build.h"
#include "passes/krnl/passes.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };
enum { OPTION_POISON };

struct buffer {
  MlirOperation alloc;
  int64_t size;       // bytes, a multiple of ALIGNMENT; -1: not for the arena
  size_t first, last; // ops of the function's body, inclusive
  bool escapes, has_dealloc, used;
  int64_t offset;
};

struct plan {
  MlirOperation function;
  MlirBlock body;
  struct buffer *buffers;
  size_t n, room;
  struct order { // ops of the body by address
    MlirOperation op;
    size_t index;
  } *order;
  size_t order_size;
  bool has_parallel; // some krnl.parallel
};

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static int by_address(const void *a, const void *b) {
  const struct order *x = a, *y = b;
  return x->op.ptr < y->op.ptr ? -1 : x->op.ptr > y->op.ptr;
}

static void number_ops(struct plan *p) {
  size_t room = 0, n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(p->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (n == room) {
      room = room ? 2 * room : 256;
      p->order = realloc(p->order, sizeof(*p->order) * room);
    }
    p->order[n] = (struct order){op, n};
    ++n;
  }
  p->order_size = n;
  if (n)
    qsort(p->order, n, sizeof(*p->order), by_address);
}

// The op of `block` that is op or holds it; null if it is elsewhere.
static MlirOperation ancestor_in(MlirBlock block, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static size_t time_of(const struct plan *p, MlirOperation op) {
  struct order key = {ancestor_in(p->body, op), 0};
  struct order *found = bsearch(&key, p->order, p->order_size, sizeof(key), by_address);
  return found ? found->index : 0;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

// Ops whose result is the same memory.
static bool is_alias(MlirOperation op) {
  static const char *const names[] = {"memref.cast",
                                      "memref.view",
                                      "memref.subview",
                                      "memref.reshape",
                                      "memref.reinterpret_cast",
                                      "memref.expand_shape",
                                      "memref.collapse_shape",
                                      "memref.assume_alignment",
                                      "memref.memory_space_cast",
                                      "memref.transpose"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    if (ir_is(op, names[i]))
      return true;
  return mlirxIsA(op, &krnl_vector_type_cast);
}

// Ops that read or write their memref operands and keep none of them.
static bool is_access(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length > 8 && !strncmp(name.data, "krnl.seq", 8))
    return false; // a sequence keeps what is put into it
  static const char *const dialects[] = {"memref.", "affine.", "vector.",
                                         "linalg.", "krnl.",   "arith."};
  for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); ++i)
    if (name.length > strlen(dialects[i]) && !strncmp(name.data, dialects[i], strlen(dialects[i])))
      return !ir_is(op, "affine.yield") && !ir_is(op, "affine.for") && !mlirxIsA(op, &krnl_yield) &&
             !mlirxIsA(op, &krnl_iterate) &&
             !ir_is(op, "memref.extract_aligned_pointer_as_index") &&
             !ir_is(op, "memref.extract_strided_metadata") && !ir_is(op, "memref.store");
  return false;
}

static bool has_memref_result(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    if (mlirTypeIsAMemRef(t) || mlirTypeIsAUnrankedMemRef(t))
      return true;
  }
  return false;
}

// A store of the buffer itself into a memref of memrefs lets it out; one into it does not.
static bool stores_value(MlirOperation op, MlirValue value) {
  return (ir_is(op, "memref.store") || mlirxIsA(op, &krnl_store)) &&
         mlirValueEqual(mlirOperationGetOperand(op, 0), value);
}

static void follow(struct plan *p, struct buffer *b, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use) && !b->escapes;
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (ir_is(op, "memref.dealloc")) {
      b->has_dealloc = true;
      continue;
    }
    size_t time = time_of(p, op);
    b->first = !b->used || time < b->first ? time : b->first;
    b->last = !b->used || time > b->last ? time : b->last;
    b->used = true;
    if (is_alias(op))
      follow(p, b, ir_result(op, 0));
    else if (stores_value(op, value))
      b->escapes = true;
    else if (!is_access(op) && !ir_is(op, "memref.store") &&
             !(ir_is(op, "func.call") && !has_memref_result(op)))
      b->escapes = true;
  }
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static int64_t element_size(MlirType e) {
  if (mlirTypeIsAIndex(e))
    return 8;
  if (mlirTypeIsAInteger(e) && mlirIntegerTypeGetWidth(e) <= 64) {
    int64_t bytes = 1;
    while (bytes * 8 < mlirIntegerTypeGetWidth(e))
      bytes *= 2;
    return bytes;
  }
  if (mlirTypeIsAFloat(e))
    return (mlirFloatTypeGetWidth(e) + 7) / 8;
  if (mlirTypeIsAComplex(e) && mlirTypeIsAFloat(mlirComplexTypeGetElementType(e)))
    return 2 * ((mlirFloatTypeGetWidth(mlirComplexTypeGetElementType(e)) + 7) / 8);
  return -1;
}

// Bytes, rounded up; -1 for a size that is dynamic, unknown or too large.
static int64_t size_of(MlirType type) {
  if (!mlirShapedTypeHasStaticShape(type) ||
      !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)) ||
      !mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type)))
    return -1;
  int64_t size = element_size(mlirShapedTypeGetElementType(type));
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type) && size >= 0; ++i)
    if (__builtin_mul_overflow(size, mlirShapedTypeGetDimSize(type, i), &size) ||
        size > INT64_MAX / 4)
      return -1;
  return size < 0 ? -1 : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

// Each thread needs its own: not in the arena.
static bool in_parallel(const struct plan *p, MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !mlirOperationEqual(op, p->function);
       op = mlirOperationGetParentOperation(op))
    if (ir_is(op, "scf.parallel") || ir_is(op, "affine.parallel") || ir_is(op, "scf.forall") ||
        ir_is(op, "omp.parallel") || (p->has_parallel && mlirxIsA(op, &krnl_iterate)))
      return true;
  return false;
}

static MlirWalkResult gather(MlirOperation op, void *user) {
  struct plan *p = user;
  if (!ir_is(op, "memref.alloc"))
    return MlirWalkResultAdvance;
  if (p->n == p->room) {
    p->room = p->room ? 2 * p->room : 64;
    p->buffers = realloc(p->buffers, sizeof(*p->buffers) * p->room);
  }
  struct buffer b = {.alloc = op, .size = size_of(mlirValueGetType(ir_result(op, 0)))};
  follow(p, &b, ir_result(op, 0));
  if (in_parallel(p, op))
    b.size = -1;
  p->buffers[p->n++] = b;
  return MlirWalkResultAdvance;
}

static MlirWalkResult find_parallel(MlirOperation op, void *found) {
  if (!mlirxIsA(op, &krnl_parallel))
    return MlirWalkResultAdvance;
  *(bool *)found = true;
  return MlirWalkResultInterrupt;
}

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

static bool overlap(const struct buffer *a, const struct buffer *b) {
  return a->first <= b->last && b->first <= a->last;
}

// Largest first; of equal ones the earlier, then as they stand (the plan is the same on every run).
static int by_size(const void *x, const void *y) {
  const struct buffer *a = *(struct buffer *const *)x, *b = *(struct buffer *const *)y;
  if (a->size != b->size)
    return a->size > b->size ? -1 : 1;
  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  return a < b ? -1 : a > b;
}

static int by_time(const void *x, const void *y) {
  const struct buffer *a = *(struct buffer *const *)x, *b = *(struct buffer *const *)y;
  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  return by_size(x, y);
}

// By size times lifetime: what blocks most first.
static int by_area(const void *x, const void *y) {
  const struct buffer *a = *(struct buffer *const *)x, *b = *(struct buffer *const *)y;
  double left = (double)a->size * (double)(a->last - a->first + 1);
  double right = (double)b->size * (double)(b->last - b->first + 1);
  return left != right ? (left > right ? -1 : 1) : by_size(x, y);
}

// Puts each into the smallest gap between those placed that live with it, else on top. placed[] is
// kept in order of offsets. Returns the end of the highest.
static int64_t place(struct buffer **order, size_t n, struct buffer **placed) {
  int64_t peak = 0;
  size_t num_placed = 0;
  for (size_t i = 0; i < n; ++i) {
    struct buffer *b = order[i];
    int64_t end = 0, best = -1, best_gap = INT64_MAX;
    for (size_t j = 0; j < num_placed; ++j) {
      if (!overlap(b, placed[j]))
        continue;
      int64_t gap = placed[j]->offset - end;
      if (gap >= b->size && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
      if (placed[j]->offset + placed[j]->size > end)
        end = placed[j]->offset + placed[j]->size;
    }
    b->offset = best < 0 ? end : best;
    if (b->offset + b->size > peak)
      peak = b->offset + b->size;
    size_t at = num_placed++;
    for (; at > 0 && placed[at - 1]->offset > b->offset; --at)
      placed[at] = placed[at - 1];
    placed[at] = b;
  }
  return peak;
}

// The most bytes that live at one time.
static int64_t live_bytes(const struct plan *p, struct buffer *const *list, size_t n) {
  int64_t *change = calloc(p->order_size + 2, sizeof(*change)), live = 0, most = 0;
  for (size_t i = 0; i < n; ++i) {
    change[list[i]->first] += list[i]->size;
    change[list[i]->last + 1] -= list[i]->size;
  }
  for (size_t t = 0; t <= p->order_size; ++t) {
    live += change[t];
    most = live > most ? live : most;
  }
  free(change);
  return most;
}

// The best of a few orders; offsets are left in the buffers.
static int64_t place_best(struct buffer **list, size_t n) {
  int (*const orders[])(const void *, const void *) = {by_size, by_area, by_time};
  struct buffer **placed = malloc(sizeof(*placed) * (n + 1));
  int64_t *offsets = malloc(sizeof(*offsets) * (n + 1)), best = INT64_MAX;
  struct buffer **same = malloc(sizeof(*same) * (n + 1));
  memcpy(same, list, sizeof(*same) * n);
  for (size_t k = 0; k < sizeof(orders) / sizeof(orders[0]); ++k) {
    qsort(list, n, sizeof(*list), orders[k]);
    int64_t peak = place(list, n, placed);
    if (peak >= best)
      continue;
    best = peak;
    for (size_t i = 0; i < n; ++i)
      offsets[i] = same[i]->offset;
  }
  for (size_t i = 0; i < n; ++i)
    same[i]->offset = offsets[i];
  free(placed);
  free(offsets);
  free(same);
  return n ? best : 0;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static MlirAttribute function_attr(MlirOperation f, const char *name) {
  return mlirOperationGetAttributeByName(f, ir_str(name));
}

static MlirValue arena_argument(MlirOperation function, MlirBlock body) {
  MlirAttribute all = function_attr(function, "arg_attrs");
  for (intptr_t i = 0; !mlirAttributeIsNull(all) && i < mlirArrayAttrGetNumElements(all); ++i)
    if (!mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, i),
                                                                ir_str("krnl.arena"))))
      return mlirBlockGetArgument(body, i);
  return (MlirValue){NULL};
}

// Appends an argument `memref<?xi8> {krnl.arena}`.
static MlirValue add_arena_argument(MlirOperation function, MlirBlock body) {
  MlirContext ctx = mlirOperationGetContext(function);
  MlirType type = mlirTypeAttrGetValue(function_attr(function, "function_type"));
  intptr_t n = mlirFunctionTypeGetNumInputs(type), m = mlirFunctionTypeGetNumResults(type);
  MlirType *types = malloc(sizeof(*types) * (size_t)(n + m + 1));
  MlirAttribute *attrs = malloc(sizeof(*attrs) * (size_t)(n + 1));
  MlirAttribute all = function_attr(function, "arg_attrs");
  for (intptr_t i = 0; i < n; ++i) {
    types[i] = mlirFunctionTypeGetInput(type, i);
    attrs[i] = mlirAttributeIsNull(all) ? mlirDictionaryAttrGet(ctx, 0, NULL)
                                        : mlirArrayAttrGetElement(all, i);
  }
  int64_t size = ir_dynamic();
  types[n] = ir_memref(mlirIntegerTypeGet(ctx, 8), 1, &size);
  MlirNamedAttribute mark =
      mlirNamedAttributeGet(mlirIdentifierGet(ctx, ir_str("krnl.arena")), mlirUnitAttrGet(ctx));
  attrs[n] = mlirDictionaryAttrGet(ctx, 1, &mark);
  for (intptr_t i = 0; i < m; ++i)
    types[n + 1 + i] = mlirFunctionTypeGetResult(type, i);
  MlirType wider = mlirFunctionTypeGet(ctx, n + 1, types, m, types + n + 1);
  mlirOperationSetAttributeByName(function, ir_str("function_type"), mlirTypeAttrGet(wider));
  mlirOperationSetAttributeByName(function, ir_str("arg_attrs"),
                                  mlirArrayAttrGet(ctx, n + 1, attrs));
  MlirValue argument = mlirBlockAddArgument(body, types[n], mlirOperationGetLocation(function));
  free(types);
  free(attrs);
  return argument;
}

static void erase_deallocs(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (ir_is(op, "memref.dealloc"))
      mlirOperationDestroy(op);
    else if (is_alias(op))
      erase_deallocs(ir_result(op, 0));
    use = next;
  }
}

// Fills the range with ones (a NaN in every float type) where the buffer's life begins: who reads
// what nobody wrote, or what lay there before, is found out.
static void fill_with_poison(struct ir ir, MlirValue arena, int64_t offset, int64_t size) {
  MlirType byte = ir_int_type(&ir, 8);
  MlirValue bytes = ir_view(&ir, arena, ir_index(&ir, offset), ir_memref(byte, 1, &size), 0, NULL);
  MlirValue ones = ir_int(&ir, byte, -1), zero = ir_index(&ir, 0), one = ir_index(&ir, 1);
  struct ir body;
  ir_for(&ir, zero, ir_index(&ir, size), one, 0, NULL, &body);
  MlirValue i = ir_arg(&body, 0);
  ir_store(&body, ones, bytes, 1, &i);
}

static void put_into_arena(struct buffer *b, MlirValue arena, int64_t base, bool poison) {
  MlirValue value = ir_result(b->alloc, 0);
  erase_deallocs(value);
  struct ir ir = ir_before(b->alloc);
  MlirValue view =
      ir_view(&ir, arena, ir_index(&ir, base + b->offset), mlirValueGetType(value), 0, NULL);
  if (poison && b->size)
    fill_with_poison(ir, arena, base + b->offset, b->size);
  mlirValueReplaceAllUsesOfWith(value, view);
  mlirOperationDestroy(b->alloc);
}

// The last op of `block` that uses the value or an alias of it, by position.
static void last_use(MlirValue value, MlirBlock block, MlirOperation *last) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use), at = ancestor_in(block, op);
    if (!mlirOperationIsNull(at) && mlirOperationIsBeforeInBlock(*last, at))
      *last = at;
    if (is_alias(op))
      last_use(ir_result(op, 0), block, last);
  }
}

static void free_after_last_use(struct buffer *b) {
  MlirOperation last = b->alloc;
  last_use(ir_result(b->alloc, 0), mlirOperationGetBlock(b->alloc), &last);
  struct ir ir = ir_after(last);
  if (mlirOperationIsNull(ir.before)) // the terminator uses it
    return;
  ir_dealloc(&ir, ir_result(b->alloc, 0));
}

static void rewrite(struct plan *p, bool may_add_argument, bool poison) {
  struct buffer **list = malloc(sizeof(*list) * (p->n + 1));
  size_t n = 0;
  MlirValue arena = arena_argument(p->function, p->body);
  for (size_t i = 0; i < p->n && (arena.ptr || may_add_argument); ++i)
    if (!p->buffers[i].escapes && p->buffers[i].size >= 0 && p->buffers[i].used)
      list[n++] = &p->buffers[i];
  int64_t live = live_bytes(p, list, n), peak = place_best(list, n);
  int64_t base = krnl_int_attr(p->function, "krnl.arena_bytes", 0);
  base = (base + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (n && !arena.ptr)
    arena = add_arena_argument(p->function, p->body);
  for (size_t i = 0; i < n; ++i) {
    put_into_arena(list[i], arena, base, poison);
    list[i]->alloc.ptr = NULL;
  }
  for (size_t i = 0; i < p->n; ++i) {
    struct buffer *b = &p->buffers[i];
    if (b->alloc.ptr && !b->escapes && !b->has_dealloc)
      free_after_last_use(b);
  }
  MlirContext ctx = mlirOperationGetContext(p->function);
  if (n) {
    mlirOperationSetDiscardableAttributeByName(p->function, ir_str("krnl.arena_bytes"),
                                               ir_i64_attr(ctx, base + peak));
    mlirOperationSetDiscardableAttributeByName(p->function, ir_str("krnl.arena_live_bytes"),
                                               ir_i64_attr(ctx, base + live));
  }
  free(list);
}

static void plan_function(MlirOperation function, bool may_add_argument, bool poison) {
  struct plan p = {.function = function};
  p.body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  // Control flow between blocks is for after this pass.
  if (mlirBlockIsNull(p.body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(p.body)))
    return;
  number_ops(&p);
  mlirOperationWalk(function, find_parallel, &p.has_parallel, MlirWalkPreOrder);
  mlirOperationWalk(function, gather, &p, MlirWalkPreOrder);
  if (p.n)
    rewrite(&p, may_add_argument, poison);
  free(p.buffers);
  free(p.order);
}

// Only what a krnl.entry_point runs may get a new argument: nobody else calls it.
static bool is_entry(MlirOperation module, MlirOperation function) {
  MlirAttribute name = mlirOperationGetAttributeByName(function, ir_str("sym_name"));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute func = mlirxIsA(op, &krnl_entry_point)
                             ? mlirOperationGetAttributeByName(op, ir_str("func"))
                             : mlirAttributeGetNull();
    if (!mlirAttributeIsNull(func) &&
        mlirStringRefEqual(mlirSymbolRefAttrGetRootReference(func), mlirStringAttrGetValue(name)))
      return true;
  }
  return false;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)state;
  bool poison = mlirxPassGetBool(pass, OPTION_POISON);
  if (ir_is(op, "func.func")) {
    plan_function(op, false, poison);
    return mlirLogicalResultSuccess();
  }
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation f = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(f);
       f = mlirOperationGetNextInBlock(f))
    if (ir_is(f, "func.func"))
      plan_function(f, is_entry(op, f), poison);
  return mlirLogicalResultSuccess();
}

static const char *const dependents[] = {"arith", "memref", "scf", NULL};
static const MlirxOption options[] = {
    [OPTION_POISON] = {"poison", MLIRX_OPT_BOOL, NULL,
                       "fill every buffer with ones where its life begins (to find errors)"},
    {0}};

const MlirxPassDescriptor krnl_plan_memory = {
    .argument = "krnl-plan-memory",
    .description = "Put buffers of static size into the arena, planned by their lifetimes",
    .dependentDialects = dependents,
    .options = options,
    .run = run,
};
