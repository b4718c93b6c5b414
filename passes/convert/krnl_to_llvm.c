//===- krnl_to_llvm.c - convert-krnl-to-llvm
//---------------------------------------------------===//
//
// Runs last, after convert-func-to-llvm. krnl.entry_point becomes the constant onyx_manifest and
// the functions onyx_entry and onyx_init, which pass an array of pointers to descriptors on to the
// C interface that llvm.emit_c_interface made (docs/abi.md).
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/krnl.h"
#include "passes/convert/entry.h"
#include "passes/ir_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirType llvm_type(MlirContext ctx, const char *text) {
  return mlirTypeParseGet(ctx, ir_str(text));
}
static MlirAttribute llvm_attr(MlirContext ctx, const char *text) {
  return mlirAttributeParseGet(ctx, ir_str(text));
}

// The constant with the manifest's text and a final NUL.
static void make_manifest(struct ir *ir, const char *text) {
  size_t n = strlen(text) + 1;
  char type[64];
  snprintf(type, sizeof(type), "!llvm.array<%zu x i8>", n);
  struct ir_attr attrs[] = {{"sym_name", ir_string_attr(ir->ctx, "onyx_manifest")},
                            {"global_type", mlirTypeAttrGet(llvm_type(ir->ctx, type))},
                            {"constant", mlirUnitAttrGet(ir->ctx)},
                            {"linkage", llvm_attr(ir->ctx, "#llvm.linkage<external>")},
                            {"value", mlirStringAttrGet(ir->ctx, mlirStringRefCreate(text, n))}};
  MlirRegion initializer = mlirRegionCreate();
  ir_op(ir, "llvm.mlir.global", 0, NULL, 0, NULL, 5, attrs, 1, &initializer);
}

static MlirValue load_pointer(struct ir *ir, MlirValue array, int32_t index) {
  MlirType pointer = llvm_type(ir->ctx, "!llvm.ptr");
  struct ir_attr attrs[] = {{"rawConstantIndices", mlirDenseI32ArrayGet(ir->ctx, 1, &index)},
                            {"elem_type", mlirTypeAttrGet(pointer)}};
  MlirValue at =
      ir_result(ir_op(ir, "llvm.getelementptr", 1, &array, 1, &pointer, 2, attrs, 0, NULL), 0);
  return ir_result(ir_op(ir, "llvm.load", 1, &at, 1, &pointer, 0, NULL, 0, NULL), 0);
}

// llvm.func NAME(ptr args, ptr results) that calls `callee` with [results,] args[0], args[1], ..
static void make_entry(struct ir *ir, const char *name, const char *callee, intptr_t num_args,
                       bool has_results) {
  MlirContext ctx = ir->ctx;
  MlirType pointer = llvm_type(ctx, "!llvm.ptr");
  struct ir_attr attrs[] = {
      {"sym_name", ir_string_attr(ctx, name)},
      {"function_type", mlirTypeAttrGet(llvm_type(ctx, "!llvm.func<void (ptr, ptr)>"))},
      {"linkage", llvm_attr(ctx, "#llvm.linkage<external>")}};
  MlirRegion region = mlirRegionCreate();
  MlirBlock block =
      mlirBlockCreate(2, (MlirType[]){pointer, pointer}, (MlirLocation[]){ir->loc, ir->loc});
  mlirRegionAppendOwnedBlock(region, block);
  ir_op(ir, "llvm.func", 0, NULL, 0, NULL, 3, attrs, 1, &region);
  struct ir at = ir_at_end(block, ir->loc);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(num_args + 1));
  intptr_t n = 0;
  if (has_results)
    operands[n++] = mlirBlockGetArgument(block, 1);
  for (intptr_t i = 0; i < num_args; ++i)
    operands[n++] = load_pointer(&at, mlirBlockGetArgument(block, 0), (int32_t)i);
  int32_t segments[] = {(int32_t)n, 0};
  struct ir_attr call[] = {{"callee", mlirFlatSymbolRefAttrGet(ctx, ir_str(callee))},
                           {"operandSegmentSizes", mlirDenseI32ArrayGet(ctx, 2, segments)},
                           {"op_bundle_sizes", mlirDenseI32ArrayGet(ctx, 0, NULL)}};
  ir_op(&at, "llvm.call", n, operands, 0, NULL, 3, call, 0, NULL);
  ir_op(&at, "llvm.return", 0, NULL, 0, NULL, 0, NULL, 0, NULL);
  free(operands);
}

static intptr_t type_arity(MlirOperation function, bool *returns) {
  // !llvm.func<R (A, B)> has no accessor for arguments of a parsed type here: the C interface has a
  // body.
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  *returns = false;
  for (MlirBlock b = body; !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b)) {
    MlirOperation end = mlirBlockGetTerminator(b); // branches have operands of their own
    *returns |= ir_is(end, "llvm.return") && mlirOperationGetNumOperands(end) > 0;
  }
  return mlirBlockGetNumArguments(body);
}

// `attribute` names the function; its C interface has a leading result argument if the plain
// function returns anything.
static bool lower_one(struct ir *ir, MlirOperation module, MlirOperation entry,
                      const char *attribute, const char *name) {
  MlirAttribute ref = mlirOperationGetAttributeByName(entry, ir_str(attribute));
  if (mlirAttributeIsNull(ref))
    return true;
  MlirStringRef symbol = mlirSymbolRefAttrGetRootReference(ref);
  char interface[512];
  snprintf(interface, sizeof(interface), "_mlir_ciface_%.*s", (int)symbol.length, symbol.data);
  MlirOperation plain = ir_lookup_symbol(module, symbol),
                function = ir_lookup_symbol(module, ir_str(interface));
  bool returns, unused;
  if (mlirOperationIsNull(plain) || !ir_is(plain, "llvm.func") || mlirOperationIsNull(function) ||
      !ir_is(function, "llvm.func") ||
      mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(plain, 0)))) {
    mlirxEmitError(
        entry,
        "%s: expected an llvm.func @%.*s with a C interface (llvm.emit_c_interface, then "
        "convert-func-to-llvm)",
        attribute, (int)symbol.length, symbol.data);
    return false;
  }
  type_arity(plain, &returns);
  intptr_t num_args = type_arity(function, &unused) - returns;
  make_entry(ir, name, interface, num_args, returns);
  return true;
}

static bool lower_entry_point(MlirOperation module, MlirOperation entry) {
  char *text = onyx_manifest_text(module, entry);
  if (!text)
    return false;
  struct ir ir = ir_before(entry);
  make_manifest(&ir, text);
  free(text);
  if (!lower_one(&ir, module, entry, "func", "onyx_entry") ||
      !lower_one(&ir, module, entry, "init", "onyx_init"))
    return false;
  mlirOperationDestroy(entry);
  return true;
}

static MlirWalkResult find_left_over(MlirOperation op, void *user) {
  const MlirxOp *d = mlirxOperationGetDescriptor(op);
  if (!d || strncmp(d->name, "krnl.", 5))
    return MlirWalkResultAdvance;
  mlirxEmitError(op, "is left after convert-krnl-to-affine and cannot become LLVM");
  *(bool *)user = false;
  return MlirWalkResultAdvance;
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation module, void *state) {
  (void)pass;
  (void)state;
  MlirOperation entry = {NULL};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!mlirxIsA(op, &krnl_entry_point))
      continue;
    if (!mlirOperationIsNull(entry))
      return mlirxEmitErrorWithNote(op, mlirOperationGetLocation(entry), "the first one",
                                    "a module has one entry point");
    entry = op;
  }
  bool good = mlirOperationIsNull(entry) || lower_entry_point(module, entry);
  if (good)
    mlirOperationWalk(module, find_left_over, &good, MlirWalkPreOrder);
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static const char *const anchors[] = {"builtin.module", NULL};
static const char *const dependents[] = {"llvm", NULL};

const MlirxPassDescriptor convert_krnl_to_llvm = {
    .argument = "convert-krnl-to-llvm",
    .description = "Turn krnl.entry_point into the manifest and the entry functions of a model",
    .anchors = anchors,
    .dependentDialects = dependents,
    .run = run,
};
