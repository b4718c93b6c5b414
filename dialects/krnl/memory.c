//===- memory.c - Loads, stores, fills and copies --------------------------------------===//
#include "dialects/krnl/internal.h"

// "%m[%i, %j]": the operand's parser index and its indices.
static MlirLogicalResult parse_access(MlirxAsmParser p, intptr_t *memref, intptr_t *first,
                                      intptr_t *n) {
  *memref = mlirxParseOperand(p);
  if (*memref < 0)
    return fail();
  return krnl_parse_operands(p, MLIRX_LSQUARE, MLIRX_RSQUARE, first, n);
}

static void print_access(MlirxAsmPrinter p, MlirOperation op, intptr_t memref, intptr_t first,
                         intptr_t n) {
  mlirxPrintOperand(p, mlirOperationGetOperand(op, memref));
  mlirxPrint(p, "[");
  krnl_print_operands(p, op, first, n);
  mlirxPrint(p, "]");
}

// ": memref<..>"; null after an error.
static MlirType parse_memref_type(MlirxAsmParser p) {
  MlirType none = {NULL};
  if (failed(mlirxParse(p, MLIRX_COLON)))
    return none;
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  MlirType t = mlirxParseType(p);
  if (mlirTypeIsNull(t))
    return none;
  if (!mlirTypeIsAMemRef(t)) {
    mlirxParserError(p, at, "expected a ranked memref, found %s", krnl_type_text(t));
    return none;
  }
  return t;
}

static MlirLogicalResult verify_access(MlirOperation op, intptr_t memref) {
  TRY(krnl_check_memref(op, memref));
  int64_t rank = mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, memref)));
  intptr_t n = mlirOperationGetNumOperands(op) - memref - 1;
  if (n != rank)
    return mlirxEmitError(op, "expected %d indices, the memref's rank, found %d", (int)rank,
                          (int)n);
  return krnl_check_indices(op, memref + 1, n);
}

static MlirType element_of(MlirOperation op, intptr_t memref) {
  return mlirShapedTypeGetElementType(mlirValueGetType(mlirOperationGetOperand(op, memref)));
}

static MlirLogicalResult check_element(MlirOperation op, const char *what, MlirType found,
                                       intptr_t memref) {
  MlirType expected = element_of(op, memref);
  if (mlirTypeEqual(found, expected))
    return ok();
  return mlirxEmitError(op, "%s: expected %s, the memref's element type, found %s", what,
                        krnl_type_text(expected), krnl_type_text(found));
}

//===----------------------------------------------------------------------===//
// krnl.load %m[%i, %j] : memref<..>            krnl.store %v, %m[%i, %j] : memref<..>
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_load(MlirxAsmParser p) {
  intptr_t memref, first, n;
  TRY(parse_access(p, &memref, &first, &n));
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType t = parse_memref_type(p);
  if (mlirTypeIsNull(t))
    return fail();
  MlirType element = mlirShapedTypeGetElementType(t);
  mlirxParserAddResultTypes(p, 1, &element);
  TRY(mlirxResolveOperand(p, memref, t));
  return krnl_resolve_range(p, first, n, mlirIndexTypeGet(mlirxParserGetContext(p)));
}

static void print_load(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  print_access(p, op, 0, 1, mlirOperationGetNumOperands(op) - 1);
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, 1);
}

static MlirLogicalResult verify_load(MlirOperation op) {
  TRY(krnl_check_counts(op, -1, 1));
  TRY(verify_access(op, 0));
  return check_element(op, "result", mlirValueGetType(mlirOperationGetResult(op, 0)), 0);
}

static void reads_first(MlirOperation op, MlirxEffects e) {
  mlirxEffectsRead(e, mlirOperationGetOperand(op, 0));
}

const MlirxOp krnl_load = {.name = "krnl.load",
                           .verify = verify_load,
                           .effects = reads_first,
                           .parse = parse_load,
                           .print = print_load};

static MlirLogicalResult parse_store(MlirxAsmParser p) {
  intptr_t memref, first, n, value = mlirxParseOperand(p);
  if (value < 0)
    return fail();
  TRY(mlirxParse(p, MLIRX_COMMA));
  TRY(parse_access(p, &memref, &first, &n));
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType t = parse_memref_type(p);
  if (mlirTypeIsNull(t))
    return fail();
  TRY(mlirxResolveOperand(p, value, mlirShapedTypeGetElementType(t)));
  TRY(mlirxResolveOperand(p, memref, t));
  return krnl_resolve_range(p, first, n, mlirIndexTypeGet(mlirxParserGetContext(p)));
}

static void print_store(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  krnl_print_operands(p, op, 0, 1);
  mlirxPrint(p, ", ");
  print_access(p, op, 1, 2, mlirOperationGetNumOperands(op) - 2);
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 1, 1);
}

static MlirLogicalResult verify_store(MlirOperation op) {
  TRY(krnl_check_counts(op, -1, 0));
  TRY(verify_access(op, 1));
  return check_element(op, "stored value", mlirValueGetType(mlirOperationGetOperand(op, 0)), 1);
}

static void writes_second(MlirOperation op, MlirxEffects e) {
  mlirxEffectsWrite(e, mlirOperationGetOperand(op, 1));
}

const MlirxOp krnl_store = {.name = "krnl.store",
                            .verify = verify_store,
                            .effects = writes_second,
                            .parse = parse_store,
                            .print = print_store};

//===----------------------------------------------------------------------===//
// krnl.prefetch %m[%i], read, locality<3>, data : memref<..>
//===----------------------------------------------------------------------===//

// One of two words; *second says which.
static MlirLogicalResult parse_word(MlirxAsmParser p, const char *one, const char *two,
                                    bool *second) {
  *second = mlirxParseOptionalKeyword(p, two);
  return *second ? ok() : mlirxParseKeyword(p, one);
}

static MlirLogicalResult parse_prefetch(MlirxAsmParser p) {
  MlirContext ctx = mlirxParserGetContext(p);
  intptr_t memref, first, n;
  bool is_write, is_data;
  int64_t locality;
  TRY(parse_access(p, &memref, &first, &n));
  TRY(mlirxParse(p, MLIRX_COMMA));
  TRY(parse_word(p, "read", "write", &is_write));
  TRY(mlirxParse(p, MLIRX_COMMA));
  TRY(mlirxParseKeyword(p, "locality"));
  TRY(mlirxParse(p, MLIRX_LESS));
  TRY(mlirxParseInteger(p, &locality));
  TRY(mlirxParse(p, MLIRX_GREATER));
  TRY(mlirxParse(p, MLIRX_COMMA));
  TRY(parse_word(p, "instr", "data", &is_data));
  mlirxParserAddAttribute(p, "isWrite", mlirBoolAttrGet(ctx, is_write));
  mlirxParserAddAttribute(p, "localityHint",
                          mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 32), locality));
  mlirxParserAddAttribute(p, "isDataCache", mlirBoolAttrGet(ctx, is_data));
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType t = parse_memref_type(p);
  if (mlirTypeIsNull(t))
    return fail();
  TRY(mlirxResolveOperand(p, memref, t));
  return krnl_resolve_range(p, first, n, mlirIndexTypeGet(ctx));
}

static const char *const prefetch_attrs[] = {"isWrite", "localityHint", "isDataCache", NULL};

static void print_prefetch(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  print_access(p, op, 0, 1, mlirOperationGetNumOperands(op) - 1);
  mlirxPrint(p, ", %s, locality<%lld>, %s", krnl_int_attr(op, "isWrite", 0) ? "write" : "read",
             (long long)krnl_int_attr(op, "localityHint", 0),
             krnl_int_attr(op, "isDataCache", 0) ? "data" : "instr");
  mlirxPrintOptionalAttrDict(p, op, prefetch_attrs);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, 1);
}

static MlirLogicalResult verify_prefetch(MlirOperation op) {
  TRY(krnl_check_counts(op, -1, 0));
  TRY(verify_access(op, 0));
  for (int i = 0; i < 3; i += 2) {
    MlirAttribute a = attr(op, prefetch_attrs[i]);
    if (mlirAttributeIsNull(a) || !mlirAttributeIsABool(a))
      return mlirxEmitError(op, "expected a boolean attribute '%s'", prefetch_attrs[i]);
  }
  int64_t locality = krnl_int_attr(op, "localityHint", -1);
  if (locality < 0 || locality > 3)
    return mlirxEmitError(op, "localityHint: expected 0 to 3, found %lld", (long long)locality);
  return ok();
}

const MlirxOp krnl_prefetch = {.name = "krnl.prefetch",
                               .attrNames = prefetch_attrs,
                               .verify = verify_prefetch,
                               .parse = parse_prefetch,
                               .print = print_prefetch};

//===----------------------------------------------------------------------===//
// krnl.memset %m, %v {delayed = true} : memref<..>
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_memset(MlirxAsmParser p) {
  intptr_t memref = mlirxParseOperand(p);
  if (memref < 0)
    return fail();
  TRY(mlirxParse(p, MLIRX_COMMA));
  intptr_t value = mlirxParseOperand(p);
  if (value < 0)
    return fail();
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType t = parse_memref_type(p);
  if (mlirTypeIsNull(t))
    return fail();
  TRY(mlirxResolveOperand(p, memref, t));
  return mlirxResolveOperand(p, value, mlirShapedTypeGetElementType(t));
}

static void print_memset(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  krnl_print_operands(p, op, 0, 2);
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, 1);
}

static MlirLogicalResult verify_memset(MlirOperation op) {
  TRY(krnl_check_counts(op, 2, 0));
  TRY(krnl_check_memref(op, 0));
  return check_element(op, "value", mlirValueGetType(mlirOperationGetOperand(op, 1)), 0);
}

static void writes_first(MlirOperation op, MlirxEffects e) {
  mlirxEffectsWrite(e, mlirOperationGetOperand(op, 0));
}

static const char *const memset_attrs[] = {"delayed", NULL};
const MlirxOp krnl_memset = {.name = "krnl.memset",
                             .attrNames = memset_attrs,
                             .verify = verify_memset,
                             .effects = writes_first,
                             .parse = parse_memset,
                             .print = print_memset};

//===----------------------------------------------------------------------===//
// "krnl.memcpy"(%dst, %src, %count, %dst_offset, %src_offset): in elements
//===----------------------------------------------------------------------===//

static MlirLogicalResult verify_memcpy(MlirOperation op) {
  TRY(krnl_check_counts(op, 5, 0));
  TRY(krnl_check_memref(op, 0));
  TRY(krnl_check_memref(op, 1));
  TRY(check_element(op, "source", element_of(op, 1), 0));
  MlirType count = mlirValueGetType(mlirOperationGetOperand(op, 2));
  if (!mlirTypeIsAInteger(count) || mlirIntegerTypeGetWidth(count) != 64)
    return mlirxEmitError(op, "operand 2: expected the number of elements, an i64, found %s",
                          krnl_type_text(count));
  return krnl_check_indices(op, 3, 2);
}

static void copies(MlirOperation op, MlirxEffects e) {
  mlirxEffectsWrite(e, mlirOperationGetOperand(op, 0));
  mlirxEffectsRead(e, mlirOperationGetOperand(op, 1));
}

const MlirxOp krnl_memcpy = {.name = "krnl.memcpy", .verify = verify_memcpy, .effects = copies};

//===----------------------------------------------------------------------===//
// krnl.get_linear_offset_index %m at [%i, %j] : memref<..>
// krnl.vector_type_cast %m : memref<4x8xf32> to memref<4x2xvector<4xf32>>
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_linear_offset(MlirxAsmParser p) {
  MlirContext ctx = mlirxParserGetContext(p);
  intptr_t first, n, memref = mlirxParseOperand(p);
  if (memref < 0)
    return fail();
  TRY(mlirxParseKeyword(p, "at"));
  TRY(krnl_parse_operands(p, MLIRX_LSQUARE, MLIRX_RSQUARE, &first, &n));
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType t = parse_memref_type(p), index = mlirIndexTypeGet(ctx);
  if (mlirTypeIsNull(t))
    return fail();
  mlirxParserAddResultTypes(p, 1, &index);
  TRY(mlirxResolveOperand(p, memref, t));
  return krnl_resolve_range(p, first, n, index);
}

static void print_linear_offset(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  krnl_print_operands(p, op, 0, 1);
  mlirxPrint(p, " at [");
  krnl_print_operands(p, op, 1, mlirOperationGetNumOperands(op) - 1);
  mlirxPrint(p, "]");
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, 1);
}

static MlirLogicalResult verify_linear_offset(MlirOperation op) {
  TRY(krnl_check_counts(op, -1, 1));
  TRY(verify_access(op, 0));
  MlirType t = mlirValueGetType(mlirOperationGetResult(op, 0));
  return mlirTypeIsAIndex(t)
             ? ok()
             : mlirxEmitError(op, "result: expected index, found %s", krnl_type_text(t));
}

const MlirxOp krnl_get_linear_offset_index = {.name = "krnl.get_linear_offset_index",
                                              .traits = MLIRX_PURE,
                                              .verify = verify_linear_offset,
                                              .parse = parse_linear_offset,
                                              .print = print_linear_offset};

static MlirLogicalResult parse_vector_cast(MlirxAsmParser p) {
  intptr_t memref = mlirxParseOperand(p);
  if (memref < 0)
    return fail();
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType from = parse_memref_type(p);
  if (mlirTypeIsNull(from))
    return fail();
  TRY(mlirxParseKeyword(p, "to"));
  MlirType to = mlirxParseType(p);
  if (mlirTypeIsNull(to))
    return fail();
  mlirxParserAddResultTypes(p, 1, &to);
  return mlirxResolveOperand(p, memref, from);
}

static void print_vector_cast(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  krnl_print_operands(p, op, 0, 1);
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, 1);
  mlirxPrint(p, " to ");
  mlirxPrintType(p, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static MlirLogicalResult verify_vector_cast(MlirOperation op) {
  TRY(krnl_check_counts(op, 1, 1));
  TRY(krnl_check_memref(op, 0));
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType to = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsAMemRef(to) || !mlirTypeIsAVector(mlirShapedTypeGetElementType(to)))
    return mlirxEmitError(op, "result: expected a memref of vectors, found %s", krnl_type_text(to));
  MlirType vector = mlirShapedTypeGetElementType(to), element = mlirShapedTypeGetElementType(from);
  int64_t rank = mlirShapedTypeGetRank(from);
  if (mlirShapedTypeGetRank(vector) != 1 ||
      !mlirTypeEqual(mlirShapedTypeGetElementType(vector), element))
    return mlirxEmitError(op, "result: expected rank-1 vectors of %s, found %s",
                          krnl_type_text(element), krnl_type_text(vector));
  if (rank < 1 || mlirShapedTypeGetRank(to) != rank)
    return mlirxEmitError(op, "expected equal ranks of 1 at least, found %d and %d", (int)rank,
                          (int)mlirShapedTypeGetRank(to));
  int64_t lanes = mlirShapedTypeGetDimSize(vector, 0);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t a = mlirShapedTypeGetDimSize(from, i), b = mlirShapedTypeGetDimSize(to, i);
    bool dynamic = mlirShapedTypeIsDynamicSize(a);
    if (dynamic != mlirShapedTypeIsDynamicSize(b) ||
        (!dynamic && a != (i == rank - 1 ? b * lanes : b)))
      return mlirxEmitError(op, "dim %d: %s does not hold whole vectors as %s has them", (int)i,
                            krnl_type_text(from), krnl_type_text(to));
  }
  return ok();
}

const MlirxOp krnl_vector_type_cast = {.name = "krnl.vector_type_cast",
                                       .traits = MLIRX_PURE,
                                       .verify = verify_vector_cast,
                                       .parse = parse_vector_cast,
                                       .print = print_vector_cast};

//===----------------------------------------------------------------------===//
// "krnl.global"() {name, shape = [..], value = dense<..>, offset, alignment}
//===----------------------------------------------------------------------===//

static MlirLogicalResult verify_global(MlirOperation op) {
  TRY(krnl_check_counts(op, 0, 1));
  MlirType t = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsAMemRef(t) || !mlirShapedTypeHasStaticShape(t))
    return mlirxEmitError(op, "result: expected a memref of static shape, found %s",
                          krnl_type_text(t));
  MlirAttribute name = attr(op, "name"), value = attr(op, "value");
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return mlirxEmitError(op, "expected a string attribute 'name'");
  TRY(krnl_check_int_array(op, "shape", mlirShapedTypeGetRank(t), false, 0));
  MlirAttribute shape = attr(op, "shape");
  for (int64_t i = 0; !mlirAttributeIsNull(shape) && i < mlirShapedTypeGetRank(t); ++i) {
    int64_t expected = mlirShapedTypeGetDimSize(t, i);
    int64_t found = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(shape, i));
    if (found != expected)
      return mlirxEmitError(op, "shape: dim %d: expected %lld, as in the result, found %lld",
                            (int)i, (long long)expected, (long long)found);
  }
  if (krnl_has_attr(op, "alignment")) {
    int64_t alignment;
    TRY(krnl_check_positive(op, "alignment", &alignment));
    if (alignment & (alignment - 1))
      return mlirxEmitError(op, "alignment: expected a power of two, found %lld",
                            (long long)alignment);
  }
  if (mlirAttributeIsNull(value))
    return mlirxEmitError(op, "expected an attribute 'value': dense<..> or #onnx.file<..>");
  MlirType type = mlirAttributeGetType(value);
  if (!mlirTypeIsAShaped(type) || !mlirShapedTypeHasStaticShape(type))
    return ok(); // an attribute of another dialect: the lowering knows it or refuses it
  int64_t elements = 1, values = 1;
  for (int64_t i = 0; i < mlirShapedTypeGetRank(t); ++i)
    elements *= mlirShapedTypeGetDimSize(t, i);
  for (int64_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    values *= mlirShapedTypeGetDimSize(type, i);
  if (elements != values)
    return mlirxEmitError(op, "value: expected %lld elements, found %lld", (long long)elements,
                          (long long)values);
  return ok();
}

static const char *const global_attrs[] = {"name", "shape", "value", "offset", "alignment", NULL};
const MlirxOp krnl_global = {.name = "krnl.global",
                             .traits = MLIRX_PURE,
                             .attrNames = global_attrs,
                             .verify = verify_global};

const MlirxOp *const krnl_memory_ops[] = {&krnl_load,
                                          &krnl_store,
                                          &krnl_prefetch,
                                          &krnl_memset,
                                          &krnl_memcpy,
                                          &krnl_get_linear_offset_index,
                                          &krnl_vector_type_cast,
                                          &krnl_global,
                                          NULL};
