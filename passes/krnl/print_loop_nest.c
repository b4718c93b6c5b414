//===- print_loop_nest.c - krnl-print-loop-nest
//----------------------------------------------------------===//
//
// The loops of each function as indented text, to stderr: bounds, steps, and the accesses in them.
// Loops are called by their depth, other values by their names.
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/krnl.h"
#include "passes/ir_build.h"
#include "passes/krnl/passes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printer {
  MlirAsmState names;
  char *text;
  size_t size, room;
  struct variable {
    MlirValue value;
    int depth;
  } variables[128];
  int num_variables;
};

static void put(MlirStringRef part, void *user) {
  struct printer *p = user;
  if (p->size + part.length + 1 > p->room) {
    p->room = 2 * (p->size + part.length + 1);
    p->text = realloc(p->text, p->room);
  }
  memcpy(p->text + p->size, part.data, part.length);
  p->size += part.length;
  p->text[p->size] = 0;
}

MLIRX_PRINTF(2, 3) static void putf(struct printer *p, const char *fmt, ...) {
  char line[256];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(line, sizeof(line), fmt, args);
  va_end(args);
  put(mlirStringRefCreate(line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1), p);
}

static void put_value(struct printer *p, MlirValue v) {
  int64_t constant;
  for (int i = p->num_variables; i-- > 0;)
    if (mlirValueEqual(p->variables[i].value, v)) {
      putf(p, "i%d", p->variables[i].depth);
      return;
    }
  if (ir_constant_int(v, &constant))
    putf(p, "%lld", (long long)constant);
  else
    mlirValuePrintAsOperand(v, p->names, put, p);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static void put_expr(struct printer *p, MlirAffineExpr e, intptr_t num_dims,
                     const MlirValue *operands, bool inner) {
  if (mlirAffineExprIsADim(e)) {
    put_value(p, operands[mlirAffineDimExprGetPosition(e)]);
    return;
  }
  if (mlirAffineExprIsASymbol(e)) {
    put_value(p, operands[num_dims + mlirAffineSymbolExprGetPosition(e)]);
    return;
  }
  if (mlirAffineExprIsAConstant(e)) {
    putf(p, "%lld", (long long)mlirAffineConstantExprGetValue(e));
    return;
  }
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(e), b = mlirAffineBinaryOpExprGetRHS(e);
  bool sum = mlirAffineExprIsAAdd(e);
  putf(p, "%s", inner ? "(" : "");
  put_expr(p, a, num_dims, operands, !sum || !(mlirAffineExprIsAAdd(a) || mlirAffineExprIsAMul(a)));
  if (sum && mlirAffineExprIsAConstant(b) && mlirAffineConstantExprGetValue(b) < 0) {
    putf(p, " - %lld", -(long long)mlirAffineConstantExprGetValue(b));
  } else {
    putf(p, " %s ",
         sum                            ? "+"
         : mlirAffineExprIsAMul(e)      ? "*"
         : mlirAffineExprIsAMod(e)      ? "mod"
         : mlirAffineExprIsAFloorDiv(e) ? "floordiv"
                                        : "ceildiv");
    put_expr(p, b, num_dims, operands,
             !sum || !(mlirAffineExprIsAAdd(b) || mlirAffineExprIsAMul(b)));
  }
  putf(p, "%s", inner ? ")" : "");
}

// Results of the map between commas; with `combine` and several of them as combine(..).
static void put_map(struct printer *p, MlirOperation op, MlirAffineMap map, intptr_t first,
                    const char *combine) {
  intptr_t n = mlirAffineMapGetNumInputs(map), results = mlirAffineMapGetNumResults(map);
  MlirValue *operands = malloc(sizeof(*operands) * (size_t)(n + 1));
  for (intptr_t i = 0; i < n; ++i)
    operands[i] = mlirOperationGetOperand(op, first + i);
  bool call = combine && results > 1;
  if (call)
    putf(p, "%s(", combine);
  for (intptr_t i = 0; i < results; ++i) {
    putf(p, "%s", i ? ", " : "");
    put_expr(p, mlirAffineMapGetResult(map, i), mlirAffineMapGetNumDims(map), operands, false);
  }
  if (call)
    putf(p, ")");
  free(operands);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static void indent(struct printer *p, int depth) {
  for (int i = 0; i <= depth; ++i)
    putf(p, "  ");
}

static MlirAffineMap map_attr(MlirOperation op, const char *name) {
  return mlirAffineMapAttrGetValue(mlirOperationGetAttributeByName(op, ir_str(name)));
}

static void put_affine_head(struct printer *p, MlirOperation op, const char *word) {
  bool parallel = ir_is(op, "affine.parallel");
  MlirAffineMap lower = map_attr(op, parallel ? "lowerBoundsMap" : "lowerBoundMap");
  MlirAffineMap upper = map_attr(op, parallel ? "upperBoundsMap" : "upperBoundMap");
  putf(p, "%s i%d = ", word, p->num_variables);
  put_map(p, op, lower, 0, "max");
  putf(p, " to ");
  put_map(p, op, upper, mlirAffineMapGetNumInputs(lower), "min");
  MlirAttribute step = mlirOperationGetAttributeByName(op, ir_str(parallel ? "steps" : "step"));
  int64_t by = mlirIntegerAttrGetValueInt(parallel ? mlirArrayAttrGetElement(step, 0) : step);
  if (by != 1)
    putf(p, " step %lld", (long long)by);
  putf(p, "\n");
}

static void put_scf_head(struct printer *p, MlirOperation op, const char *word) {
  putf(p, "%s i%d = ", word, p->num_variables);
  put_value(p, mlirOperationGetOperand(op, 0));
  putf(p, " to ");
  put_value(p, mlirOperationGetOperand(op, 1));
  int64_t by;
  if (!ir_constant_int(mlirOperationGetOperand(op, 2), &by) || by != 1) {
    putf(p, " step ");
    put_value(p, mlirOperationGetOperand(op, 2));
  }
  putf(p, "\n");
}

// "load m[i0, i1 + 1]"
static bool put_access(struct printer *p, MlirOperation op) {
  static const struct {
    const char *name, *word;
    int memref;
    bool affine;
  } known[] = {{"affine.load", "load", 0, true},
               {"affine.store", "store", 1, true},
               {"memref.load", "load", 0, false},
               {"memref.store", "store", 1, false},
               {"krnl.load", "load", 0, false},
               {"krnl.store", "store", 1, false},
               {"vector.load", "vector load", 0, false},
               {"vector.store", "vector store", 1, false},
               {"vector.maskedload", "masked load", 0, false},
               {"vector.maskedstore", "masked store", 0, false},
               {"affine.vector_load", "vector load", 0, true},
               {"affine.vector_store", "vector store", 1, true}};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    if (!ir_is(op, known[i].name))
      continue;
    MlirValue memref = mlirOperationGetOperand(op, known[i].memref);
    putf(p, "%s ", known[i].word);
    put_value(p, memref);
    putf(p, "[");
    if (known[i].affine) {
      put_map(p, op, map_attr(op, "map"), known[i].memref + 1, NULL);
    } else {
      intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(memref));
      for (intptr_t d = 0; d < rank; ++d) {
        putf(p, "%s", d ? ", " : "");
        put_value(p, mlirOperationGetOperand(op, known[i].memref + 1 + d));
      }
    }
    putf(p, "]\n");
    return true;
  }
  return false;
}

static void put_block(struct printer *p, MlirBlock block, int depth);

static void put_regions(struct printer *p, MlirOperation op, int depth) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      put_block(p, b, depth);
}

static void put_loop(struct printer *p, MlirOperation op, int depth, bool affine,
                     const char *word) {
  indent(p, depth);
  if (affine)
    put_affine_head(p, op, word);
  else
    put_scf_head(p, op, word);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  bool room = p->num_variables < 128;
  if (room) {
    p->variables[p->num_variables] =
        (struct variable){mlirBlockGetArgument(body, 0), p->num_variables};
    ++p->num_variables;
  }
  put_regions(p, op, depth + 1);
  p->num_variables -= room;
}

static void put_op(struct printer *p, MlirOperation op, int depth) {
  if (ir_is(op, "affine.for")) {
    put_loop(p, op, depth, true, "for");
  } else if (ir_is(op, "affine.parallel") && mlirBlockGetNumArguments(mlirRegionGetFirstBlock(
                                                 mlirOperationGetRegion(op, 0))) == 1) {
    put_loop(p, op, depth, true, "parallel");
  } else if (ir_is(op, "scf.for")) {
    put_loop(p, op, depth, false, "for");
  } else if (ir_is(op, "scf.parallel") && mlirOperationGetNumOperands(op) == 3) {
    put_loop(p, op, depth, false, "parallel");
  } else if (mlirOperationGetNumRegions(op)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    indent(p, depth);
    putf(p, "%.*s\n", (int)name.length, name.data);
    put_regions(p, op, depth + 1);
  } else {
    size_t before = p->size;
    indent(p, depth);
    if (!put_access(p, op))
      p->text[p->size = before] = 0;
  }
}

static void put_block(struct printer *p, MlirBlock block, int depth) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    put_op(p, op, depth);
}

static void print_function(MlirOperation f) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  struct printer p = {.names = mlirAsmStateCreateForOperation(f, flags)};
  MlirAttribute name = mlirOperationGetAttributeByName(f, ir_str("sym_name"));
  MlirStringRef text = mlirStringAttrGetValue(name);
  putf(&p, "@%.*s\n", (int)text.length, text.data);
  put_regions(&p, f, 0);
  fputs(p.text, stderr); // in one piece: functions may be printed by several threads
  free(p.text);
  mlirAsmStateDestroy(p.names);
  mlirOpPrintingFlagsDestroy(flags);
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass;
  (void)state;
  if (ir_is(op, "func.func")) {
    print_function(op);
    return mlirLogicalResultSuccess();
  }
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation f = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(f);
       f = mlirOperationGetNextInBlock(f))
    if (ir_is(f, "func.func"))
      print_function(f);
  return mlirLogicalResultSuccess();
}

const MlirxPassDescriptor krnl_print_loop_nest = {
    .argument = "krnl-print-loop-nest",
    .description = "Print the loops of each function as indented text on stderr",
    .run = run,
};
