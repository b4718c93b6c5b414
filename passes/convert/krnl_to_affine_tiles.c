//===- krnl_to_affine_tiles.c - Tile buffers and krnl.matmul
//----------------------------------------===//
//
// A tile is cut where its memory ends: n = min(tile, size - start) elements of a dim are there; up
// to the next multiple of padToNext the buffer is filled. Both are bounds of loops.
//
//===----------------------------------------------------------------------===//
#include "passes/convert/krnl_to_affine.h"

#include <stdlib.h>

enum { MAX_RANK = 16 };

//===----------------------------------------------------------------------===//
// Loops whose bounds are maps of two values
//===----------------------------------------------------------------------===//

// size and start as d0 and d1.
struct extent {
  MlirValue operands[2];
  int64_t tile;
};

static struct bound bound_of(MlirContext ctx, intptr_t n, MlirAffineExpr *results,
                             struct extent *e) {
  return (struct bound){mlirAffineMapGet(ctx, 2, 0, n, results), e->operands, 2};
}

static MlirAffineExpr constant(MlirContext ctx, int64_t value) {
  return mlirAffineConstantExprGet(ctx, value);
}

// size - start
static MlirAffineExpr rest(MlirContext ctx) {
  MlirAffineExpr size = mlirAffineDimExprGet(ctx, 0), start = mlirAffineDimExprGet(ctx, 1);
  return mlirAffineAddExprGet(size, mlirAffineMulExprGet(start, constant(ctx, -1)));
}

// Does every tile that starts at a multiple of its size end within the memory?
static bool is_whole(const struct extent *e) {
  int64_t size;
  return ir_constant_int(e->operands[0], &size) && size % e->tile == 0;
}

// i from 0 to min(tile, size - start): what is there.
static MlirValue open_there(struct ir *ir, MlirOperation at, struct extent *e) {
  MlirAffineExpr results[] = {constant(ir->ctx, e->tile), rest(ir->ctx)};
  struct bound lower = {mlirAffineMapConstantGet(ir->ctx, 0), NULL, 0};
  struct bound upper = bound_of(ir->ctx, is_whole(e) ? 1 : 2, results, e);
  return nest_simple(ir, at, &lower, &upper);
}

// i from max(0, size - start) to min(tile, the next multiple of `pad`): what is filled.
static MlirValue open_fill(struct ir *ir, MlirOperation at, struct extent *e, int64_t pad) {
  MlirContext ctx = ir->ctx;
  MlirAffineExpr p = constant(ctx, pad);
  MlirAffineExpr next = mlirAffineMulExprGet(mlirAffineCeilDivExprGet(rest(ctx), p), p);
  MlirAffineExpr low[] = {rest(ctx), constant(ctx, 0)}, high[] = {constant(ctx, e->tile), next};
  struct bound lower = bound_of(ctx, 2, low, e), upper = bound_of(ctx, 2, high, e);
  return nest_simple(ir, at, &lower, &upper);
}

// i from 0 to min(tile, the next multiple of `pad`): both.
static MlirValue open_both(struct ir *ir, MlirOperation at, struct extent *e, int64_t pad) {
  MlirContext ctx = ir->ctx;
  MlirAffineExpr p = constant(ctx, pad);
  MlirAffineExpr next = mlirAffineMulExprGet(mlirAffineCeilDivExprGet(rest(ctx), p), p);
  MlirAffineExpr high[] = {constant(ctx, e->tile), next};
  struct bound lower = {mlirAffineMapConstantGet(ctx, 0), NULL, 0};
  struct bound upper = bound_of(ctx, is_whole(e) ? 1 : 2, high, e);
  return nest_simple(ir, at, &lower, &upper);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

struct copy {
  MlirOperation op;
  MlirValue buffer, memory;
  MlirValue starts[MAX_RANK];      // of the memory
  struct extent extents[MAX_RANK]; // of the buffer's dims
  int64_t pad[MAX_RANK];
  intptr_t small, large; // ranks
  bool transpose;
};

static int64_t array_item(MlirOperation op, const char *name, intptr_t i, int64_t otherwise) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, ir_str(name));
  return mlirAttributeIsNull(a) ? otherwise
                                : mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(a, i));
}

// The buffer's axis that holds dim i of the tile.
static intptr_t buffer_axis(const struct copy *c, intptr_t i) {
  return c->transpose && i >= c->small - 2 ? 2 * c->small - 3 - i : i;
}

static bool read_copy(struct ir *ir, MlirOperation op, struct copy *c) {
  c->op = op;
  c->buffer = mlirOperationGetOperand(op, 0);
  c->memory = mlirOperationGetOperand(op, 1);
  MlirType buffer = mlirValueGetType(c->buffer);
  c->small = mlirShapedTypeGetRank(buffer);
  c->large = mlirShapedTypeGetRank(mlirValueGetType(c->memory));
  c->transpose = krnl_int_attr(op, "transpose", 0) != 0;
  if (c->large > MAX_RANK) {
    mlirxEmitError(op, "expected a rank of %d at most, found %d", MAX_RANK, (int)c->large);
    return false;
  }
  for (intptr_t i = 0; i < c->large; ++i)
    c->starts[i] = mlirOperationGetOperand(op, 2 + i);
  for (intptr_t i = 0; i < c->small; ++i) {
    intptr_t axis = c->large - c->small + i;
    c->extents[i].tile =
        array_item(op, "tileSize", i, mlirShapedTypeGetDimSize(buffer, buffer_axis(c, i)));
    c->extents[i].operands[0] = ir_dim(ir, c->memory, axis);
    c->extents[i].operands[1] = c->starts[axis];
    c->pad[i] = array_item(op, "padToNext", i, 1);
  }
  return true;
}

// Indices into the buffer and into the memory of tile element `at`.
static void indices_of(struct ir *ir, const struct copy *c, const MlirValue *at, MlirValue *buffer,
                       MlirValue *memory) {
  for (intptr_t i = 0; i < c->large - c->small; ++i)
    memory[i] = c->starts[i];
  for (intptr_t i = 0; i < c->small; ++i) {
    intptr_t axis = c->large - c->small + i;
    buffer[buffer_axis(c, i)] = at[i];
    memory[axis] = ir_binary(ir, "arith.addi", c->starts[axis], at[i]);
  }
}

static MlirValue load_from(struct ir *ir, MlirValue memref, intptr_t n, const MlirValue *indices) {
  MlirValue operands[MAX_RANK + 1] = {memref};
  for (intptr_t i = 0; i < n; ++i)
    operands[1 + i] = indices[i];
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(memref));
  MlirOperation op = ir_op(ir, krnl_load.name, n + 1, operands, 1, &element, 0, NULL, 0, NULL);
  return ir_result(op, 0);
}

static void store_to(struct ir *ir, MlirValue value, MlirValue memref, intptr_t n,
                     const MlirValue *indices) {
  MlirValue operands[MAX_RANK + 2] = {value, memref};
  for (intptr_t i = 0; i < n; ++i)
    operands[2 + i] = indices[i];
  lower_access_op(ir_op(ir, krnl_store.name, n + 2, operands, 0, NULL, 0, NULL, 0, NULL));
}

// buffer <- memory or back over what is there.
static void copy_elements(struct ir ir, struct copy *c, bool to_buffer) {
  MlirValue at[MAX_RANK], buffer[MAX_RANK], memory[MAX_RANK];
  for (intptr_t i = 0; i < c->small; ++i)
    at[i] = open_there(&ir, c->op, &c->extents[i]);
  indices_of(&ir, c, at, buffer, memory);
  MlirValue v = to_buffer ? load_from(&ir, c->memory, c->large, memory)
                          : load_from(&ir, c->buffer, c->small, buffer);
  if (to_buffer)
    store_to(&ir, v, c->buffer, c->small, buffer);
  else
    store_to(&ir, v, c->memory, c->large, memory);
  MlirOperation load = mlirOpResultGetOwner(v);
  lower_access_op(load);
}

// What is to be filled, in one piece a dim: dims before it where there is something, dims after it
// all over.
static void fill_rest(struct ir ir, struct copy *c, intptr_t dim, MlirValue pad) {
  MlirValue at[MAX_RANK], buffer[MAX_RANK];
  for (intptr_t i = 0; i < c->small; ++i)
    at[i] = i < dim    ? open_there(&ir, c->op, &c->extents[i])
            : i == dim ? open_fill(&ir, c->op, &c->extents[i], c->pad[i])
                       : open_both(&ir, c->op, &c->extents[i], c->pad[i]);
  for (intptr_t i = 0; i < c->small; ++i)
    buffer[buffer_axis(c, i)] = at[i];
  store_to(&ir, pad, c->buffer, c->small, buffer);
}

bool lower_copy_to_tile(MlirOperation op) {
  struct ir ir = ir_before(op);
  struct copy c;
  if (!read_copy(&ir, op, &c))
    return false;
  copy_elements(ir, &c, true);
  MlirValue pad = mlirOperationGetOperand(op, 2 + c.large);
  for (intptr_t i = 0; i < c.small; ++i)
    if (c.pad[i] > 1 && !is_whole(&c.extents[i]))
      fill_rest(ir, &c, i, pad);
  mlirOperationDestroy(op);
  return true;
}

bool lower_copy_from_tile(MlirOperation op) {
  struct ir ir = ir_before(op);
  struct copy c;
  if (!read_copy(&ir, op, &c))
    return false;
  copy_elements(ir, &c, false);
  mlirOperationDestroy(op);
  return true;
}

//===----------------------------------------------------------------------===//
// krnl.matmul
//===----------------------------------------------------------------------===//

enum { I, J, K };

struct operand { // A, B or C
  MlirValue memref;
  intptr_t rank;
  MlirValue
      starts[MAX_RANK]; // leading ones are indices; the last one or two where the memref begins
};

struct product {
  MlirOperation op;
  struct operand a, b, c;
  struct extent extents[3]; // end and start of i, j, k; the compute tile
  MlirType element;
  bool is_float, has_j; // no j: matrix times vector
  int64_t lanes;
};

static bool read_operand(MlirOperation op, intptr_t *at, struct operand *o) {
  o->memref = mlirOperationGetOperand(op, (*at)++);
  o->rank = mlirShapedTypeGetRank(mlirValueGetType(o->memref));
  if (o->rank > MAX_RANK) {
    mlirxEmitError(op, "expected a rank of %d at most, found %d", MAX_RANK, (int)o->rank);
    return false;
  }
  for (intptr_t i = 0; i < o->rank; ++i)
    o->starts[i] = mlirOperationGetOperand(op, (*at)++);
  return true;
}

// Size of a dim of a tile: by attribute, else by the memref; -1: not known.
static int64_t tile_of(MlirOperation op, const char *name, intptr_t i, const struct operand *o,
                       intptr_t axis) {
  MlirType type = mlirValueGetType(o->memref);
  int64_t known =
      mlirShapedTypeIsDynamicDim(type, axis) ? -1 : mlirShapedTypeGetDimSize(type, axis);
  MlirAttribute a = mlirOperationGetAttributeByName(op, ir_str(name));
  bool given = !mlirAttributeIsNull(a) && i < mlirArrayAttrGetNumElements(a);
  return given ? mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(a, i)) : known;
}

static int64_t lanes_of(MlirType element, int64_t tile) {
  int64_t bits =
      mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element) : mlirIntegerTypeGetWidth(element);
  int64_t lanes = bits ? 512 / bits : 1;
  while (lanes > 1 && tile % lanes)
    lanes /= 2;
  return lanes;
}

static bool read_product(MlirOperation op, struct product *m) {
  intptr_t at = 0, all = mlirOperationGetNumOperands(op);
  m->op = op;
  if (!read_operand(op, &at, &m->a) || !read_operand(op, &at, &m->b) ||
      !read_operand(op, &at, &m->c))
    return false;
  m->has_j = m->b.rank > 1 && m->c.rank > 1;
  if (!m->has_j && (m->b.rank > 1 || m->c.rank > 1)) {
    mlirxEmitError(op, "expected B and C both matrices or both vectors");
    return false;
  }
  int64_t tiles[] = {tile_of(op, "cTileSize", 0, &m->c, m->c.rank - (m->has_j ? 2 : 1)),
                     m->has_j ? tile_of(op, "cTileSize", 1, &m->c, m->c.rank - 1) : 1,
                     tile_of(op, "aTileSize", 1, &m->a, m->a.rank - 1)};
  for (int i = 0; i < 3; ++i) {
    m->extents[i].tile = array_item(op, "computeTileSize", i, tiles[i]);
    if (m->extents[i].tile < 1) {
      mlirxEmitError(op,
                     "expected 'computeTileSize', or memrefs whose shape says how much to compute");
      return false;
    }
    m->extents[i].operands[0] = mlirOperationGetOperand(op, all - 3 + i);
    m->extents[i].operands[1] = mlirOperationGetOperand(op, all - 6 + i);
  }
  m->element = mlirShapedTypeGetElementType(mlirValueGetType(m->a.memref));
  m->is_float = mlirTypeIsAFloat(m->element);
  m->lanes = lanes_of(m->element, m->extents[J].tile);
  return true;
}

// Indices of the element whose last indices are base + (x, y) relative to the start of the compute
// tile.
static intptr_t element_at(struct ir *ir, const struct product *m, const struct operand *o,
                           int first, int second, MlirValue x, MlirValue y, MlirValue *out) {
  int dims[] = {first, second};
  MlirValue offset[] = {x, y};
  intptr_t matrix = second < 0 ? 1 : 2;
  for (intptr_t i = 0; i < o->rank; ++i) {
    out[i] = o->starts[i];
    intptr_t d = i - (o->rank - matrix);
    if (d < 0)
      continue;
    MlirValue global = ir_binary(ir, "arith.addi", m->extents[dims[d]].operands[1], offset[d]);
    out[i] = ir_binary(ir, "arith.subi", global, o->starts[i]);
  }
  return o->rank;
}

static MlirValue load_element(struct ir *ir, const struct product *m, const struct operand *o,
                              int first, int second, MlirValue x, MlirValue y) {
  MlirValue indices[MAX_RANK];
  intptr_t n = element_at(ir, m, o, first, second, x, y, indices);
  MlirValue v = load_from(ir, o->memref, n, indices);
  return v;
}

// The loads are lowered at once; this is where their value is then.
static MlirValue lowered(struct ir *ir, MlirValue loaded) {
  // A use that survives the load's replacement tells what replaced it.
  MlirOperation keep = ir_op(ir, "builtin.unrealized_conversion_cast", 1, &loaded, 1,
                             (MlirType[]){mlirValueGetType(loaded)}, 0, NULL, 0, NULL);
  lower_access_op(mlirOpResultGetOwner(loaded));
  MlirValue v = mlirOperationGetOperand(keep, 0);
  mlirOperationDestroy(keep);
  return v;
}

static MlirValue multiply_add(struct ir *ir, const struct product *m, MlirValue a, MlirValue b,
                              MlirValue sum) {
  const char *const names[2][2] = {{"arith.muli", "arith.addi"}, {"arith.mulf", "arith.addf"}};
  if (mlirTypeIsAVector(mlirValueGetType(a)) && m->is_float)
    return ir_ternary(ir, "vector.fma", a, b, sum);
  return ir_binary(ir, names[m->is_float][1], sum, ir_binary(ir, names[m->is_float][0], a, b));
}

// Element by element over what is there: for i, j: c = C[i, j]; for k: c += A[i, k] * B[k, j].
static void scalar_product(struct ir ir, struct product *m) {
  struct ir at = ir;
  MlirValue i = open_there(&at, m->op, &m->extents[I]), j = {NULL};
  if (m->has_j)
    j = open_there(&at, m->op, &m->extents[J]);
  int second = m->has_j ? J : -1;
  MlirValue sum = lowered(&at, load_element(&at, m, &m->c, I, second, i, j));
  MlirAffineExpr results[] = {constant(ir.ctx, m->extents[K].tile), rest(ir.ctx)};
  struct bound lower = {mlirAffineMapConstantGet(ir.ctx, 0), NULL, 0};
  struct bound upper = bound_of(ir.ctx, 2, results, &m->extents[K]);
  struct ir inside;
  MlirOperation loop = nest_loop(&at, m->op, &lower, 1, &upper, 1, 1, 1, &sum, &inside);
  MlirValue k = ir_arg(&inside, 0), accumulated = ir_arg(&inside, 1);
  MlirValue a = lowered(&inside, load_element(&inside, m, &m->a, I, K, i, k));
  MlirValue b = lowered(&inside, load_element(&inside, m, &m->b, K, second, k, j));
  MlirValue next = multiply_add(&inside, m, a, b, accumulated);
  nest_yield(&inside, loop, 1, &next);
  MlirValue indices[MAX_RANK];
  intptr_t n = element_at(&at, m, &m->c, I, second, i, j, indices);
  store_to(&at, ir_result(loop, 0), m->c.memref, n, indices);
}

static MlirValue vector_load(struct ir *ir, const struct product *m, const struct operand *o,
                             int first, MlirValue x, MlirValue y, MlirType vector) {
  MlirValue operands[MAX_RANK + 1] = {o->memref};
  intptr_t n = element_at(ir, m, o, first, J, x, y, operands + 1);
  return ir_result(ir_op(ir, "vector.load", n + 1, operands, 1, &vector, 0, NULL, 0, NULL), 0);
}

static void vector_store(struct ir *ir, const struct product *m, MlirValue value, MlirValue x,
                         MlirValue y) {
  MlirValue operands[MAX_RANK + 2] = {value, m->c.memref};
  intptr_t n = element_at(ir, m, &m->c, I, J, x, y, operands + 2);
  ir_op(ir, "vector.store", n + 2, operands, 0, NULL, 0, NULL, 0, NULL);
}

// Rows [i, i + rows) of the tile: their sums stay in vectors over the loop of k.
static void vector_rows(struct ir *ir, struct product *m, MlirValue base, int64_t rows) {
  MlirContext ctx = ir->ctx;
  MlirType vector = mlirVectorTypeGet(1, &m->lanes, m->element);
  int64_t columns = m->extents[J].tile / m->lanes;
  MlirValue *sums = malloc(sizeof(*sums) * (size_t)(rows * columns)),
            *i = malloc(sizeof(*i) * (size_t)rows);
  MlirValue *j = malloc(sizeof(*j) * (size_t)columns), *b = malloc(sizeof(*b) * (size_t)columns);
  for (int64_t c = 0; c < columns; ++c)
    j[c] = ir_index(ir, c * m->lanes);
  for (int64_t r = 0; r < rows; ++r) {
    i[r] = base.ptr ? base : ir_index(ir, r);
    for (int64_t c = 0; c < columns; ++c)
      sums[r * columns + c] = vector_load(ir, m, &m->c, I, i[r], j[c], vector);
  }
  struct bound lower = {mlirAffineMapConstantGet(ctx, 0), NULL, 0};
  struct bound upper = {mlirAffineMapConstantGet(ctx, m->extents[K].tile), NULL, 0};
  struct ir inside;
  MlirOperation loop = nest_loop(ir, m->op, &lower, 1, &upper, 1, 1, rows * columns, sums, &inside);
  MlirValue k = ir_arg(&inside, 0);
  for (int64_t c = 0; c < columns; ++c)
    b[c] = vector_load(&inside, m, &m->b, K, k, j[c], vector);
  for (int64_t r = 0; r < rows; ++r) {
    MlirValue a = lowered(&inside, load_element(&inside, m, &m->a, I, K, i[r], k));
    a = ir_cast(&inside, "vector.broadcast", a, vector);
    for (int64_t c = 0; c < columns; ++c)
      sums[r * columns + c] =
          multiply_add(&inside, m, a, b[c], ir_arg(&inside, 1 + r * columns + c));
  }
  nest_yield(&inside, loop, rows * columns, sums);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      vector_store(ir, m, ir_result(loop, r * columns + c), i[r], j[c]);
  free(sums);
  free(i);
  free(j);
  free(b);
}

// The whole compute tile in vectors along j; `unroll`: all rows at once, else a loop of rows.
static void vector_product(struct ir ir, struct product *m) {
  enum { MAX_SUMS = 256 }; // vectors in flight, of which registers hold some
  int64_t rows = m->extents[I].tile, columns = m->extents[J].tile / m->lanes;
  bool unroll = krnl_int_attr(m->op, "unroll", 0) != 0 && rows * columns <= MAX_SUMS;
  if (unroll) {
    vector_rows(&ir, m, (MlirValue){NULL}, rows);
    return;
  }
  struct bound lower = {mlirAffineMapConstantGet(ir.ctx, 0), NULL, 0};
  struct bound upper = {mlirAffineMapConstantGet(ir.ctx, rows), NULL, 0};
  MlirValue i = nest_simple(&ir, m->op, &lower, &upper);
  vector_rows(&ir, m, i, 1);
}

// Is the whole compute tile inside the ends? Null: always.
static MlirValue is_full(struct ir *ir, const struct product *m) {
  MlirValue all = {NULL};
  for (int d = 0; d < 3; ++d) {
    if (is_whole(&m->extents[d]))
      continue;
    MlirValue left =
        ir_binary(ir, "arith.subi", m->extents[d].operands[0], m->extents[d].operands[1]);
    MlirValue fits = ir_cmpi(ir, IR_SGE, left, ir_index(ir, m->extents[d].tile));
    all = all.ptr ? ir_binary(ir, "arith.andi", all, fits) : fits;
  }
  return all;
}

bool lower_matmul(MlirOperation op) {
  struct product m;
  if (!read_product(op, &m))
    return false;
  struct ir ir = ir_before(op), full, partial;
  bool simd = krnl_int_attr(op, "simdize", 0) != 0 && m.has_j && m.lanes > 1 &&
              (m.is_float || mlirTypeIsAInteger(m.element));
  MlirValue whole = {NULL};
  if (simd && !krnl_int_attr(op, "overcompute", 0))
    whole = is_full(&ir, &m);
  if (!simd) {
    scalar_product(ir, &m);
  } else if (!whole.ptr) {
    vector_product(ir, &m);
  } else {
    ir_if(&ir, whole, 0, NULL, &full, &partial);
    vector_product(full, &m);
    scalar_product(partial, &m);
  }
  mlirOperationDestroy(op);
  return true;
}
