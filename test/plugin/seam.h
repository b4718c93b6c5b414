// What the files of the test plugin share.
#ifndef ONYX_TEST_SEAM_H
#define ONYX_TEST_SEAM_H

#include "mlirx/mlirx.h"

extern const MlirxOp seam_const, seam_add, seam_double, seam_load, seam_store, seam_opaque,
    seam_once, seam_loop, seam_if, seam_yield, seam_module, seam_symbol, seam_scope, seam_pad,
    seam_words, seam_needs;
extern const MlirxType seam_box, seam_pair;
extern const MlirxAttr seam_range;
extern MlirxDialect seam_dialect;
extern const MlirxPassDescriptor *const seam_passes[];
extern const MlirxPipeline *const seam_pipelines[];

// asm.c
MlirLogicalResult seam_parse_const(MlirxAsmParser p);
void seam_print_const(MlirOperation op, MlirxAsmPrinter p);
MlirLogicalResult seam_parse_loop(MlirxAsmParser p);
void seam_print_loop(MlirOperation op, MlirxAsmPrinter p);
MlirLogicalResult seam_parse_yield(MlirxAsmParser p);
void seam_print_yield(MlirOperation op, MlirxAsmPrinter p);
MlirLogicalResult seam_parse_words(MlirxAsmParser p);
void seam_print_words(MlirOperation op, MlirxAsmPrinter p);
MlirType seam_parse_pair(MlirxAsmParser p);
void seam_print_pair(MlirType type, MlirxAsmPrinter p);
MlirAttribute seam_parse_range(MlirxAsmParser p, MlirType type);
void seam_print_range(MlirAttribute attr, MlirxAsmPrinter p);

static inline MlirStringRef str(const char *s) {
  return mlirStringRefCreateFromCString(s);
}
static inline MlirLogicalResult ok(bool good) {
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
static inline bool failed(MlirLogicalResult r) {
  return mlirLogicalResultIsFailure(r);
}

#endif
