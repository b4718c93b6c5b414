//===- emit_type.c - Element types in MLIR, and constants of them ------------------===//
#include "passes/convert/emit.h"

#include <stdlib.h>
#include <string.h>

bool emit_is_code(int type) {
  return type == ONYX_F8E4M3FN || type == ONYX_F8E4M3FNUZ || type == ONYX_F8E5M2 ||
         type == ONYX_F8E5M2FNUZ || type == ONYX_F4E2M1 || type == ONYX_F8E8M0;
}

bool emit_is_small_float(int type) {
  return type == ONYX_F16 || type == ONYX_BF16 || emit_is_code(type);
}

bool emit_is_signed(int type) {
  return type == ONYX_INDEX || onyx_elem_is_signed((onyx_elem)type);
}

bool emit_is_integer(int type) {
  return type == ONYX_INDEX || onyx_elem_is_int((onyx_elem)type);
}

unsigned emit_bits(int type) {
  if (type == ONYX_INDEX)
    return 64;
  return type == ONYX_BOOL ? 1 : (unsigned)onyx_elem_bits((onyx_elem)type);
}

MlirType emit_type(MlirContext ctx, int type) {
  switch (type) {
  case ONYX_INDEX:
    return mlirIndexTypeGet(ctx);
  case ONYX_BOOL:
    return mlirIntegerTypeGet(ctx, 1);
  case ONYX_F16:
    return mlirF16TypeGet(ctx);
  case ONYX_BF16:
    return mlirBF16TypeGet(ctx);
  case ONYX_F32:
    return mlirF32TypeGet(ctx);
  case ONYX_F64:
    return mlirF64TypeGet(ctx);
  case ONYX_C64:
    return mlirComplexTypeGet(mlirF32TypeGet(ctx));
  case ONYX_C128:
    return mlirComplexTypeGet(mlirF64TypeGet(ctx));
  case ONYX_STRING: // the address of a string (docs/abi.md)
    return mlirIntegerTypeGet(ctx, 64);
  case ONYX_ELEM_UNDEFINED:
    return (MlirType){NULL};
  default: {
    unsigned bits = emit_bits(type);
    return mlirIntegerTypeGet(ctx, bits < 8 ? 8 : bits);
  }
  }
}

int64_t emit_elem_bytes(onyx_elem elem) {
  int bits = elem == ONYX_STRING ? 64 : onyx_elem_bits(elem);
  return elem == ONYX_BOOL || bits < 8 ? 1 : bits / 8;
}

MlirType emit_memref_type(MlirContext ctx, onyx_elem elem, int rank, const dim *const *dims) {
  int64_t shape[ONYX_MAX_RANK];
  for (int i = 0; i < rank; ++i)
    if (!dim_is_const(dims[i], &shape[i]))
      shape[i] = ir_dynamic();
  return ir_memref(emit_type(ctx, elem), rank, shape);
}

MlirAttribute emit_dense(MlirContext ctx, onyx_elem elem, intptr_t rank, const int64_t *shape,
                         const void *data) {
  MlirType type =
      mlirRankedTensorTypeGet(rank, shape, emit_type(ctx, elem), mlirAttributeGetNull());
  int64_t n = 1;
  for (intptr_t i = 0; i < rank; ++i)
    n *= shape[i];
  if (elem == ONYX_BOOL) { // dense of i1 has a form of its own
    int *bits = malloc(sizeof(int) * (size_t)(n + 1));
    for (int64_t i = 0; i < n; ++i)
      bits[i] = ((const uint8_t *)data)[i] != 0;
    MlirAttribute attr = mlirDenseElementsAttrBoolGet(type, n, bits);
    free(bits);
    return attr;
  }
  return mlirDenseElementsAttrRawBufferGet(type, (size_t)(n * emit_elem_bytes(elem)), data);
}

MlirValue emit_const_int(struct ir *ir, int type, int64_t value) {
  MlirType t = emit_type(ir->ctx, type);
  if (type == ONYX_BOOL)
    value = value != 0;
  return ir_int(ir, t, value);
}

MlirValue emit_const_float(struct ir *ir, int type, double value) {
  if (type == ONYX_STRING) // the empty string
    return ir_int(ir, ir_int_type(ir, 64), 0);
  if (emit_is_code(type))
    return ir_int(ir, emit_type(ir->ctx, type), emit_code_of(type, value));
  return ir_float(ir, emit_type(ir->ctx, type), value);
}
