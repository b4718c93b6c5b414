//===- tiles.c - Tile buffers and the matrix multiplication on them ----------------------===//
#include "dialects/krnl/internal.h"

static MlirLogicalResult check_range_of_indices(MlirOperation op, intptr_t first, intptr_t n,
                                                const char *what) {
  if (first + n > mlirOperationGetNumOperands(op))
    return mlirxEmitError(op, "expected %d indices of %s, found %d operands in all", (int)n, what,
                          (int)mlirOperationGetNumOperands(op));
  return krnl_check_indices(op, first, n);
}

static intptr_t rank_of(MlirOperation op, intptr_t operand) {
  return mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, operand)));
}

//===----------------------------------------------------------------------===//
// krnl.copy_to_tile_buffer %buf, %src[%i, %j], %pad {tileSize, padToNext, transpose} : memref,
// memref krnl.copy_from_tile_buffer %buf, %dst[%i, %j] {tileSize} : memref, memref
//===----------------------------------------------------------------------===//

// ": memref<..>, memref<..>" given to the buffer, the memory and its indices, in operand order.
static MlirLogicalResult finish_copy(MlirxAsmParser p, intptr_t buffer, intptr_t memory,
                                     intptr_t first, intptr_t n, intptr_t pad) {
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  MlirType buffer_type = mlirxParseType(p);
  if (mlirTypeIsNull(buffer_type))
    return fail();
  TRY(mlirxParse(p, MLIRX_COMMA));
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  MlirType memory_type = mlirxParseType(p);
  if (mlirTypeIsNull(memory_type))
    return fail();
  if (!mlirTypeIsAMemRef(memory_type))
    return mlirxParserError(p, at, "expected a ranked memref, found %s",
                            krnl_type_text(memory_type));
  TRY(mlirxResolveOperand(p, buffer, buffer_type));
  TRY(mlirxResolveOperand(p, memory, memory_type));
  TRY(krnl_resolve_range(p, first, n, mlirIndexTypeGet(mlirxParserGetContext(p))));
  return pad < 0 ? ok() : mlirxResolveOperand(p, pad, mlirShapedTypeGetElementType(memory_type));
}

static MlirLogicalResult parse_copy(MlirxAsmParser p, bool has_pad) {
  intptr_t first, n, pad = -1, buffer = mlirxParseOperand(p);
  if (buffer < 0)
    return fail();
  TRY(mlirxParse(p, MLIRX_COMMA));
  intptr_t memory = mlirxParseOperand(p);
  if (memory < 0)
    return fail();
  TRY(krnl_parse_operands(p, MLIRX_LSQUARE, MLIRX_RSQUARE, &first, &n));
  if (has_pad) {
    TRY(mlirxParse(p, MLIRX_COMMA));
    if ((pad = mlirxParseOperand(p)) < 0)
      return fail();
  }
  return finish_copy(p, buffer, memory, first, n, pad);
}

static MlirLogicalResult parse_copy_to(MlirxAsmParser p) {
  return parse_copy(p, true);
}
static MlirLogicalResult parse_copy_from(MlirxAsmParser p) {
  return parse_copy(p, false);
}

static void print_copy(MlirOperation op, MlirxAsmPrinter p, bool has_pad) {
  intptr_t n = mlirOperationGetNumOperands(op);
  mlirxPrint(p, " ");
  krnl_print_operands(p, op, 0, 2);
  mlirxPrint(p, "[");
  krnl_print_operands(p, op, 2, n - 2 - has_pad);
  mlirxPrint(p, "]");
  if (has_pad) {
    mlirxPrint(p, ", ");
    krnl_print_operands(p, op, n - 1, 1);
  }
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, 2);
}

static void print_copy_to(MlirOperation op, MlirxAsmPrinter p) {
  print_copy(op, p, true);
}
static void print_copy_from(MlirOperation op, MlirxAsmPrinter p) {
  print_copy(op, p, false);
}

// Buffer of static shape; memory of at least its rank; an index for each of the memory's dims.
static MlirLogicalResult verify_copy(MlirOperation op, bool has_pad) {
  TRY(krnl_check_counts(op, -1, 0));
  TRY(krnl_check_memref(op, 0));
  TRY(krnl_check_memref(op, 1));
  MlirType buffer = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType memory = mlirValueGetType(mlirOperationGetOperand(op, 1));
  intptr_t small = rank_of(op, 0), large = rank_of(op, 1);
  if (!mlirShapedTypeHasStaticShape(buffer))
    return mlirxEmitError(op, "buffer: expected a static shape, found %s", krnl_type_text(buffer));
  if (large < small)
    return mlirxEmitError(op, "expected a memref of rank %d at least, the buffer's, found %s",
                          (int)small, krnl_type_text(memory));
  if (!mlirTypeEqual(mlirShapedTypeGetElementType(buffer), mlirShapedTypeGetElementType(memory)))
    return mlirxEmitError(op, "expected equal element types, found %s and %s",
                          krnl_type_text(buffer), krnl_type_text(memory));
  if (mlirOperationGetNumOperands(op) != 2 + large + has_pad)
    return mlirxEmitError(op, "expected %d indices, the memref's rank, found %d", (int)large,
                          (int)(mlirOperationGetNumOperands(op) - 2 - has_pad));
  TRY(krnl_check_indices(op, 2, large));
  TRY(krnl_check_int_array(op, "tileSize", small, false, 1));
  MlirAttribute tile = attr(op, "tileSize");
  bool transpose = krnl_int_attr(op, "transpose", 0) != 0;
  for (intptr_t i = 0; !mlirAttributeIsNull(tile) && i < small; ++i) {
    intptr_t axis = transpose && i >= small - 2 ? 2 * small - 3 - i : i;
    int64_t size = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(tile, i));
    if (size > mlirShapedTypeGetDimSize(buffer, axis))
      return mlirxEmitError(op, "tileSize: dim %d: the buffer holds %lld, found %lld", (int)i,
                            (long long)mlirShapedTypeGetDimSize(buffer, axis), (long long)size);
  }
  return ok();
}

static MlirLogicalResult verify_copy_to(MlirOperation op) {
  TRY(verify_copy(op, true));
  intptr_t n = mlirOperationGetNumOperands(op);
  MlirType pad = mlirValueGetType(mlirOperationGetOperand(op, n - 1));
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  if (!mlirTypeEqual(pad, element))
    return mlirxEmitError(op, "pad value: expected %s, found %s", krnl_type_text(element),
                          krnl_type_text(pad));
  MlirAttribute transpose = attr(op, "transpose");
  if (!mlirAttributeIsNull(transpose) && !mlirAttributeIsABool(transpose))
    return mlirxEmitError(op, "attribute 'transpose': expected true or false");
  if (krnl_int_attr(op, "transpose", 0) && rank_of(op, 0) < 2)
    return mlirxEmitError(op, "transpose: expected a buffer of rank 2 at least");
  return krnl_check_int_array(op, "padToNext", rank_of(op, 0), false, 1);
}

static MlirLogicalResult verify_copy_from(MlirOperation op) {
  return verify_copy(op, false);
}

static void copies_to(MlirOperation op, MlirxEffects e) {
  mlirxEffectsWrite(e, mlirOperationGetOperand(op, 0));
  mlirxEffectsRead(e, mlirOperationGetOperand(op, 1));
}

static void copies_from(MlirOperation op, MlirxEffects e) {
  mlirxEffectsRead(e, mlirOperationGetOperand(op, 0));
  mlirxEffectsWrite(e, mlirOperationGetOperand(op, 1));
}

static const char *const copy_attrs[] = {"tileSize", "padToNext", "transpose", NULL};
const MlirxOp krnl_copy_to_tile_buffer = {.name = "krnl.copy_to_tile_buffer",
                                          .attrNames = copy_attrs,
                                          .verify = verify_copy_to,
                                          .effects = copies_to,
                                          .parse = parse_copy_to,
                                          .print = print_copy_to};
const MlirxOp krnl_copy_from_tile_buffer = {.name = "krnl.copy_from_tile_buffer",
                                            .attrNames = copy_attrs,
                                            .verify = verify_copy_from,
                                            .effects = copies_from,
                                            .parse = parse_copy_from,
                                            .print = print_copy_from};

//===----------------------------------------------------------------------===//
// krnl.matmul %A[%i, %k], %B[%k, %j], %C[%i, %j], (%li, %lj, %lk), (%is, %js, %ks), (%iub, %jub,
// %kub) {..}
//     : memref, memref, memref, (!krnl.loop, !krnl.loop, !krnl.loop)
// Operands: A, its indices, B, its indices, C, its indices, the loops, three starts, three ends.
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_matmul(MlirxAsmParser p) {
  MlirContext ctx = mlirxParserGetContext(p);
  MlirType index = mlirIndexTypeGet(ctx);
  intptr_t memref[3], first[6], n[6];
  for (int i = 0; i < 3; ++i) {
    if (i)
      TRY(mlirxParse(p, MLIRX_COMMA));
    if ((memref[i] = mlirxParseOperand(p)) < 0)
      return fail();
    TRY(krnl_parse_operands(p, MLIRX_LSQUARE, MLIRX_RSQUARE, &first[i], &n[i]));
  }
  for (int i = 3; i < 6; ++i) {
    MlirxLoc at = mlirxParserGetCurrentLoc(p);
    TRY(mlirxParse(p, MLIRX_COMMA));
    TRY(krnl_parse_operands(p, MLIRX_LPAREN, MLIRX_RPAREN, &first[i], &n[i]));
    if (i > 3 && n[i] != 3)
      return mlirxParserError(p, at, "expected three values (i, j, k), found %d", (int)n[i]);
  }
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  for (int i = 0; i < 3; ++i) {
    MlirType t = mlirxParseType(p);
    if (mlirTypeIsNull(t))
      return fail();
    TRY(mlirxParse(p, MLIRX_COMMA));
    TRY(mlirxResolveOperand(p, memref[i], t));
    TRY(krnl_resolve_range(p, first[i], n[i], index));
  }
  TRY(mlirxParse(p, MLIRX_LPAREN));
  TRY(krnl_parse_loop_types(p, n[3]));
  TRY(mlirxParse(p, MLIRX_RPAREN));
  TRY(krnl_resolve_range(p, first[3], n[3], krnl_loop_get(ctx)));
  TRY(krnl_resolve_range(p, first[4], 3, index));
  return krnl_resolve_range(p, first[5], 3, index);
}

static void print_matmul(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t at = 0, operands[3], all = mlirOperationGetNumOperands(op);
  for (int i = 0; i < 3; ++i) {
    intptr_t rank = rank_of(op, at);
    operands[i] = at;
    mlirxPrint(p, i ? ", " : " ");
    krnl_print_operands(p, op, at, 1);
    mlirxPrint(p, "[");
    krnl_print_operands(p, op, at + 1, rank);
    mlirxPrint(p, "]");
    at += 1 + rank;
  }
  intptr_t loops = all - 6 - at;
  mlirxPrint(p, ", (");
  krnl_print_operands(p, op, at, loops);
  mlirxPrint(p, "), (");
  krnl_print_operands(p, op, all - 6, 3);
  mlirxPrint(p, "), (");
  krnl_print_operands(p, op, all - 3, 3);
  mlirxPrint(p, ")");
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  for (int i = 0; i < 3; ++i) {
    krnl_print_types(p, op, operands[i], 1);
    mlirxPrint(p, ", ");
  }
  mlirxPrint(p, "(");
  krnl_print_types(p, op, at, loops);
  mlirxPrint(p, ")");
}

static const char *const matmul_attrs[] = {"computeTileSize", "aTileSize", "bTileSize",
                                           "cTileSize",       "simdize",   "unroll",
                                           "overcompute",     NULL};

static MlirLogicalResult verify_matmul(MlirOperation op) {
  TRY(krnl_check_counts(op, -1, 0));
  intptr_t at = 0, all = mlirOperationGetNumOperands(op);
  MlirType element = {NULL};
  const char *const names[] = {"A", "B", "C"};
  for (int i = 0; i < 3; ++i) {
    TRY(krnl_check_memref(op, at));
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, at));
    if (mlirShapedTypeGetRank(t) < (i == 2 || i == 1 ? 1 : 2))
      return mlirxEmitError(op, "%s: expected a matrix, found %s", names[i], krnl_type_text(t));
    if (i && !mlirTypeEqual(element, mlirShapedTypeGetElementType(t)))
      return mlirxEmitError(op, "%s: expected elements of %s as in A, found %s", names[i],
                            krnl_type_text(element), krnl_type_text(t));
    element = mlirShapedTypeGetElementType(t);
    TRY(check_range_of_indices(op, at + 1, mlirShapedTypeGetRank(t), names[i]));
    at += 1 + mlirShapedTypeGetRank(t);
  }
  if (all - at < 6)
    return mlirxEmitError(op,
                          "expected three starts and three ends after the loops, found %d operands",
                          (int)(all - at));
  TRY(krnl_check_loops(op, at, all - 6 - at));
  if (all - 6 - at > 3)
    return mlirxEmitError(op, "expected the loops i, j, k at most, found %d", (int)(all - 6 - at));
  TRY(krnl_check_indices(op, all - 6, 6));
  TRY(krnl_check_int_array(op, "computeTileSize", 3, false, 1));
  for (int i = 1; i < 4; ++i)
    TRY(krnl_check_int_array(op, matmul_attrs[i], -1, false, 1));
  for (int i = 4; i < 7; ++i) {
    MlirAttribute a = attr(op, matmul_attrs[i]);
    if (!mlirAttributeIsNull(a) && !mlirAttributeIsABool(a))
      return mlirxEmitError(op, "attribute '%s': expected true or false", matmul_attrs[i]);
  }
  return ok();
}

static void multiplies(MlirOperation op, MlirxEffects e) {
  intptr_t at = 0;
  for (int i = 0; i < 3; ++i) {
    mlirxEffectsRead(e, mlirOperationGetOperand(op, at));
    if (i == 2)
      mlirxEffectsWrite(e, mlirOperationGetOperand(op, at));
    at += 1 + rank_of(op, at);
  }
}

const MlirxOp krnl_matmul = {.name = "krnl.matmul",
                             .attrNames = matmul_attrs,
                             .verify = verify_matmul,
                             .effects = multiplies,
                             .parse = parse_matmul,
                             .print = print_matmul};

const MlirxOp *const krnl_tile_ops[] = {&krnl_copy_to_tile_buffer, &krnl_copy_from_tile_buffer,
                                        &krnl_matmul, NULL};
