//===- dialect.c - The loop dialect's table and what its ops share ------------------===//
#include "dialects/krnl/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirType parse_loop(MlirxAsmParser p) {
  return krnl_loop_get(mlirxParserGetContext(p));
}

const MlirxType krnl_loop_type = {.name = "loop", .parse = parse_loop};

MlirType krnl_loop_get(MlirContext ctx) {
  return mlirxTypeGet(ctx, &krnl_loop_type, 0, NULL);
}

static const MlirxOp *all_ops[96];
static const MlirxType *const types[] = {&krnl_loop_type, NULL};
static const char *const dependents[] = {"affine", "arith", "func", "memref", "scf", NULL};

static void gather_ops(MlirxDialect *self) {
  const MlirxOp *const *const groups[] = {krnl_loop_ops, krnl_memory_ops, krnl_tile_ops,
                                          krnl_runtime_ops};
  self->numOps = 0;
  for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); ++g)
    for (const MlirxOp *const *op = groups[g]; *op; ++op)
      all_ops[self->numOps++] = *op;
}

static bool is_argument_of_bytes(MlirOperation op, intptr_t arg) {
  if (arg < 0)
    return false;
  MlirAttribute type = attr(op, "function_type");
  if (mlirAttributeIsNull(type) || !mlirAttributeIsAType(type))
    return true; // an llvm.func or the like: types are no longer ours to check
  MlirType function = mlirTypeAttrGetValue(type);
  if (!mlirTypeIsAFunction(function) || arg >= mlirFunctionTypeGetNumInputs(function))
    return true;
  MlirType t = mlirFunctionTypeGetInput(function, arg);
  return !mlirTypeIsAMemRef(t) ||
         (mlirShapedTypeGetRank(t) == 1 && mlirTypeIsAInteger(mlirShapedTypeGetElementType(t)));
}

// krnl.arena, krnl.weights, krnl.constants and krnl.status mark arguments of a function.
static MlirLogicalResult verify_attribute(MlirOperation op, intptr_t arg,
                                          MlirNamedAttribute named) {
  MlirStringRef name = mlirIdentifierStr(named.name);
  if (mlirStringRefEqual(name, str("krnl.weights"))) {
    if (arg < 0)
      return mlirxEmitError(op,
                            "krnl.weights marks an argument of a function, found on an operation");
    if (!mlirAttributeIsAInteger(named.attribute))
      return mlirxEmitError(op, "argument %d: krnl.weights needs the file's index, an integer",
                            (int)arg);
  }
  const char *const marks[] = {"krnl.arena", "krnl.weights", "krnl.constants", "krnl.status"};
  for (size_t i = 0; i < 4; ++i)
    if (arg >= 0 && mlirStringRefEqual(name, str(marks[i])) && !is_argument_of_bytes(op, arg))
      return mlirxEmitError(op, "argument %d: %s needs a rank-1 memref of integers", (int)arg,
                            marks[i]);
  return ok();
}

MlirxDialect krnl_dialect = {
    .name = "krnl",
    .prepare = gather_ops,
    .ops = all_ops,
    .types = types,
    .dependentDialects = dependents,
    .inlinable = true,
    .verifyAttribute = verify_attribute,
};

//===----------------------------------------------------------------------===//
// Reading attributes
//===----------------------------------------------------------------------===//

int64_t krnl_int_attr(MlirOperation op, const char *name, int64_t otherwise) {
  MlirAttribute a = attr(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a))
    return otherwise;
  return mlirIntegerAttrGetValueInt(a);
}

bool krnl_has_attr(MlirOperation op, const char *name) {
  return !mlirAttributeIsNull(attr(op, name));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

struct text {
  char *data;
  size_t size, used;
};

static void append(MlirStringRef part, void *user) {
  struct text *t = user;
  size_t n = part.length < t->size - t->used - 1 ? part.length : t->size - t->used - 1;
  memcpy(t->data + t->used, part.data, n);
  t->used += n;
  t->data[t->used] = 0;
}

const char *krnl_type_text(MlirType type) {
  static _Thread_local char ring[4][160];
  static _Thread_local unsigned next;
  char *buffer = ring[next++ % 4];
  struct text t = {buffer, sizeof(ring[0]), 0};
  buffer[0] = 0;
  mlirTypePrint(type, append, &t);
  return buffer;
}

MlirLogicalResult krnl_check_counts(MlirOperation op, intptr_t operands, intptr_t results) {
  intptr_t o = mlirOperationGetNumOperands(op), r = mlirOperationGetNumResults(op);
  if (operands >= 0 && o != operands)
    return mlirxEmitError(op, "expected %d operands, found %d", (int)operands, (int)o);
  if (results >= 0 && r != results)
    return mlirxEmitError(op, "expected %d results, found %d", (int)results, (int)r);
  return ok();
}

MlirLogicalResult krnl_check_loops(MlirOperation op, intptr_t first, intptr_t count) {
  for (intptr_t i = first; i < first + count; ++i) {
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!krnl_is_loop(t))
      return mlirxEmitError(op, "operand %d: expected !krnl.loop, found %s", (int)i,
                            krnl_type_text(t));
  }
  return ok();
}

MlirLogicalResult krnl_check_indices(MlirOperation op, intptr_t first, intptr_t count) {
  for (intptr_t i = first; i < first + count; ++i) {
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsAIndex(t))
      return mlirxEmitError(op, "operand %d: expected index, found %s", (int)i, krnl_type_text(t));
  }
  return ok();
}

MlirLogicalResult krnl_check_memref(MlirOperation op, intptr_t operand) {
  if (mlirOperationGetNumOperands(op) <= operand)
    return mlirxEmitError(op, "expected a memref as operand %d, found %d operands", (int)operand,
                          (int)mlirOperationGetNumOperands(op));
  MlirType t = mlirValueGetType(mlirOperationGetOperand(op, operand));
  if (!mlirTypeIsAMemRef(t))
    return mlirxEmitError(op, "operand %d: expected a ranked memref, found %s", (int)operand,
                          krnl_type_text(t));
  return ok();
}

MlirLogicalResult krnl_check_positive(MlirOperation op, const char *name, int64_t *value) {
  MlirAttribute a = attr(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a))
    return mlirxEmitError(op, "expected an integer attribute '%s'", name);
  *value = mlirIntegerAttrGetValueInt(a);
  if (*value < 1)
    return mlirxEmitError(op, "attribute '%s': expected a positive number, found %lld", name,
                          (long long)*value);
  return ok();
}

MlirLogicalResult krnl_check_int_array(MlirOperation op, const char *name, intptr_t n,
                                       bool required, int64_t least) {
  MlirAttribute a = attr(op, name);
  if (mlirAttributeIsNull(a))
    return required ? mlirxEmitError(op, "expected an array attribute '%s'", name) : ok();
  if (!mlirAttributeIsAArray(a))
    return mlirxEmitError(op, "attribute '%s': expected an array of integers", name);
  intptr_t size = mlirArrayAttrGetNumElements(a);
  if (n >= 0 && size != n)
    return mlirxEmitError(op, "attribute '%s': expected %d numbers, found %d", name, (int)n,
                          (int)size);
  for (intptr_t i = 0; i < size; ++i) {
    MlirAttribute e = mlirArrayAttrGetElement(a, i);
    if (!mlirAttributeIsAInteger(e))
      return mlirxEmitError(op, "attribute '%s': element %d is no integer", name, (int)i);
    if (mlirIntegerAttrGetValueInt(e) < least)
      return mlirxEmitError(op, "attribute '%s': element %d: expected at least %lld, found %lld",
                            name, (int)i, (long long)least,
                            (long long)mlirIntegerAttrGetValueInt(e));
  }
  return ok();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

MlirLogicalResult krnl_parse_operands(MlirxAsmParser p, MlirxPunct open, MlirxPunct close,
                                      intptr_t *first, intptr_t *count) {
  *first = 0;
  *count = 0;
  TRY(mlirxParse(p, open));
  if (mlirxParseOptional(p, close))
    return ok();
  do {
    intptr_t operand = mlirxParseOperand(p);
    if (operand < 0)
      return fail();
    if (!(*count)++)
      *first = operand;
  } while (mlirxParseOptional(p, MLIRX_COMMA));
  return mlirxParse(p, close);
}

MlirLogicalResult krnl_resolve_range(MlirxAsmParser p, intptr_t first, intptr_t count,
                                     MlirType type) {
  for (intptr_t i = first; i < first + count; ++i)
    TRY(mlirxResolveOperand(p, i, type));
  return ok();
}

MlirLogicalResult krnl_parse_loop_types(MlirxAsmParser p, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    if (i)
      TRY(mlirxParse(p, MLIRX_COMMA));
    MlirxLoc at = mlirxParserGetCurrentLoc(p);
    MlirType t = mlirxParseType(p);
    if (mlirTypeIsNull(t))
      return fail();
    if (!krnl_is_loop(t))
      return mlirxParserError(p, at, "expected !krnl.loop, found %s", krnl_type_text(t));
  }
  return ok();
}

void krnl_print_operands(MlirxAsmPrinter p, MlirOperation op, intptr_t first, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    if (i)
      mlirxPrint(p, ", ");
    mlirxPrintOperand(p, mlirOperationGetOperand(op, first + i));
  }
}

void krnl_print_types(MlirxAsmPrinter p, MlirOperation op, intptr_t first, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    if (i)
      mlirxPrint(p, ", ");
    mlirxPrintType(p, mlirValueGetType(mlirOperationGetOperand(op, first + i)));
  }
}
