//===- emit_fail.c - The sticky status ---------------------------------------------===//
#include "passes/convert/emit.h"

static const char fail_name[] = "onyx_fail";

// if status[0] == 0: status = code, node, found, limit. The first error stays.
static void define_fail(struct ir *ir, MlirOperation module, MlirType status_type) {
  MlirType i64 = ir_int_type(ir, 64);
  MlirType args[] = {status_type, i64, i64, i64, i64};
  MlirLocation locs[] = {ir->loc, ir->loc, ir->loc, ir->loc, ir->loc};
  struct ir at = ir_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), ir->loc);
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(5, args, locs);
  mlirRegionAppendOwnedBlock(region, block);
  struct ir_attr attrs[] = {
      {"sym_name", ir_string_attr(ir->ctx, fail_name)},
      {"function_type", mlirTypeAttrGet(mlirFunctionTypeGet(ir->ctx, 5, args, 0, NULL))},
      {"sym_visibility", ir_string_attr(ir->ctx, "private")},
      {"no_inline", mlirUnitAttrGet(ir->ctx)}};
  ir_op(&at, "func.func", 0, NULL, 0, NULL, 4, attrs, 1, &region);
  struct ir body = ir_at_end(block, ir->loc);
  MlirValue status = ir_arg(&body, 0), zero = ir_index(&body, 0);
  MlirValue none = ir_cmpi(&body, IR_EQ, ir_load(&body, status, 1, &zero), ir_int(&body, i64, 0));
  struct ir then;
  ir_if(&body, none, 0, NULL, &then, NULL);
  for (int i = 0; i < 4; ++i) {
    MlirValue index = ir_index(&then, i);
    ir_store(&then, mlirBlockGetArgument(block, i + 1), status, 1, &index);
  }
  ir_op(&body, "func.return", 0, NULL, 0, NULL, 0, NULL, 0, NULL);
}

void emit_fail_unless(struct ir *ir, MlirValue status, MlirValue ok, int64_t code, int64_t node,
                      MlirValue found, MlirValue limit) {
  MlirOperation module = emit_module_of(ir);
  if (mlirOperationIsNull(ir_lookup_symbol(module, ir_str(fail_name))))
    define_fail(ir, module, mlirValueGetType(status));
  MlirType i64 = ir_int_type(ir, 64);
  MlirValue bad = ir_binary(ir, "arith.xori", ok, ir_int(ir, ir_int_type(ir, 1), 1));
  struct ir then;
  ir_if(ir, bad, 0, NULL, &then, NULL);
  MlirValue args[] = {status, ir_int(&then, i64, code), ir_int(&then, i64, node),
                      ir_from_index(&then, found, i64), ir_from_index(&then, limit, i64)};
  ir_call(&then, fail_name, 5, args, 0, NULL);
}
