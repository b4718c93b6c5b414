//===- loops.c - Loops and their schedule --------------------------------------------===//
#include "dialects/krnl/internal.h"

#include <stdlib.h>

static void affects_loops(MlirOperation op, MlirxEffects effects) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirxEffectsWrite(effects, mlirOperationGetOperand(op, i));
}

static MlirLogicalResult results_are_loops(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    if (!krnl_is_loop(t))
      return mlirxEmitError(op, "result %d: expected !krnl.loop, found %s", (int)i,
                            krnl_type_text(t));
  }
  return ok();
}

//===----------------------------------------------------------------------===//
// %l:3 = krnl.define_loops 3
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_define_loops(MlirxAsmParser p) {
  int64_t n;
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  TRY(mlirxParseInteger(p, &n));
  if (n < 0 || n > 4096)
    return mlirxParserError(p, at, "expected a number of loops from 0 to 4096, found %lld",
                            (long long)n);
  MlirContext ctx = mlirxParserGetContext(p);
  mlirxParserAddAttribute(p, "num_loops", mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), n));
  TRY(mlirxParseOptionalAttrDict(p));
  MlirType loop = krnl_loop_get(ctx);
  for (int64_t i = 0; i < n; ++i)
    mlirxParserAddResultTypes(p, 1, &loop);
  return ok();
}

static void print_define_loops(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " %lld", (long long)mlirOperationGetNumResults(op));
  mlirxPrintOptionalAttrDict(p, op, (const char *const[]){"num_loops", NULL});
}

static MlirLogicalResult verify_define_loops(MlirOperation op) {
  TRY(krnl_check_counts(op, 0, -1));
  TRY(results_are_loops(op));
  intptr_t results = mlirOperationGetNumResults(op);
  int64_t n = krnl_int_attr(op, "num_loops", -1);
  if (n != results)
    return mlirxEmitError(op, "num_loops: expected %d, the number of results, found %lld",
                          (int)results, (long long)n);
  MlirAttribute labels = attr(op, "labels"), nest = attr(op, "nest");
  if (!mlirAttributeIsNull(nest) && !mlirAttributeIsAString(nest))
    return mlirxEmitError(op, "attribute 'nest': expected a string");
  if (mlirAttributeIsNull(labels))
    return ok();
  if (!mlirAttributeIsAArray(labels) || mlirArrayAttrGetNumElements(labels) != results)
    return mlirxEmitError(op, "attribute 'labels': expected one string a loop");
  for (intptr_t i = 0; i < results; ++i)
    if (!mlirAttributeIsAString(mlirArrayAttrGetElement(labels, i)))
      return mlirxEmitError(op, "attribute 'labels': element %d is no string", (int)i);
  return ok();
}

// Two nests are two nests, however equal; one that nobody uses may go.
static void makes_loops(MlirOperation op, MlirxEffects effects) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirxEffectsAllocate(effects, mlirOperationGetResult(op, i));
}

static const char *const define_loops_attrs[] = {"num_loops", "nest", "labels", NULL};
const MlirxOp krnl_define_loops = {.name = "krnl.define_loops",
                                   .attrNames = define_loops_attrs,
                                   .verify = verify_define_loops,
                                   .effects = makes_loops,
                                   .parse = parse_define_loops,
                                   .print = print_define_loops};

//===----------------------------------------------------------------------===//
// %b, %in = krnl.block %i 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
// %a, %b = krnl.skew %i, %j 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)
//===----------------------------------------------------------------------===//

// ": (!krnl.loop, ..) -> (!krnl.loop, ..)" with `n` loops left and two right.
static MlirLogicalResult parse_loop_signature(MlirxAsmParser p, intptr_t n) {
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  TRY(mlirxParse(p, MLIRX_LPAREN));
  TRY(krnl_parse_loop_types(p, n));
  TRY(mlirxParse(p, MLIRX_RPAREN));
  TRY(mlirxParse(p, MLIRX_ARROW));
  TRY(mlirxParse(p, MLIRX_LPAREN));
  TRY(krnl_parse_loop_types(p, 2));
  TRY(mlirxParse(p, MLIRX_RPAREN));
  MlirType loop = krnl_loop_get(mlirxParserGetContext(p));
  mlirxParserAddResultTypes(p, 2, (MlirType[]){loop, loop});
  return ok();
}

static MlirLogicalResult parse_factor(MlirxAsmParser p, const char *name) {
  int64_t value;
  TRY(mlirxParseInteger(p, &value));
  MlirContext ctx = mlirxParserGetContext(p);
  mlirxParserAddAttribute(p, name, mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), value));
  return ok();
}

static MlirLogicalResult parse_block(MlirxAsmParser p) {
  intptr_t loop = mlirxParseOperand(p);
  if (loop < 0)
    return fail();
  TRY(parse_factor(p, "tile_size"));
  TRY(parse_loop_signature(p, 1));
  return mlirxResolveOperand(p, loop, krnl_loop_get(mlirxParserGetContext(p)));
}

static void print_block(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  mlirxPrintOperand(p, mlirOperationGetOperand(op, 0));
  mlirxPrint(p, " %lld", (long long)krnl_int_attr(op, "tile_size", 0));
  mlirxPrintOptionalAttrDict(p, op, (const char *const[]){"tile_size", NULL});
  mlirxPrint(p, " : (!krnl.loop) -> (!krnl.loop, !krnl.loop)");
}

static MlirLogicalResult verify_block(MlirOperation op) {
  int64_t tile;
  TRY(krnl_check_counts(op, 1, 2));
  TRY(krnl_check_loops(op, 0, 1));
  TRY(results_are_loops(op));
  return krnl_check_positive(op, "tile_size", &tile);
}

static const char *const block_attrs[] = {"tile_size", NULL};
const MlirxOp krnl_block = {.name = "krnl.block",
                            .attrNames = block_attrs,
                            .verify = verify_block,
                            .effects = affects_loops,
                            .parse = parse_block,
                            .print = print_block};

static MlirLogicalResult parse_skew(MlirxAsmParser p) {
  intptr_t first = mlirxParseOperand(p);
  if (first < 0)
    return fail();
  TRY(mlirxParse(p, MLIRX_COMMA));
  intptr_t second = mlirxParseOperand(p);
  if (second < 0)
    return fail();
  TRY(parse_factor(p, "factor"));
  TRY(parse_loop_signature(p, 2));
  MlirType loop = krnl_loop_get(mlirxParserGetContext(p));
  TRY(mlirxResolveOperand(p, first, loop));
  return mlirxResolveOperand(p, second, loop);
}

static void print_skew(MlirOperation op, MlirxAsmPrinter p) {
  mlirxPrint(p, " ");
  krnl_print_operands(p, op, 0, 2);
  mlirxPrint(p, " %lld", (long long)krnl_int_attr(op, "factor", 0));
  mlirxPrintOptionalAttrDict(p, op, (const char *const[]){"factor", NULL});
  mlirxPrint(p, " : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)");
}

static MlirLogicalResult verify_skew(MlirOperation op) {
  TRY(krnl_check_counts(op, 2, 2));
  TRY(krnl_check_loops(op, 0, 2));
  TRY(results_are_loops(op));
  if (mlirValueEqual(mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)))
    return mlirxEmitError(op, "expected two different loops, found one twice");
  MlirAttribute factor = attr(op, "factor");
  if (mlirAttributeIsNull(factor) || !mlirAttributeIsAInteger(factor))
    return mlirxEmitError(op, "expected an integer attribute 'factor'");
  return ok();
}

static const char *const factor_attrs[] = {"factor", NULL};
const MlirxOp krnl_skew = {.name = "krnl.skew",
                           .attrNames = factor_attrs,
                           .verify = verify_skew,
                           .effects = affects_loops,
                           .parse = parse_skew,
                           .print = print_skew};

//===----------------------------------------------------------------------===//
// krnl.permute(%a, %b, %c) [1, 2, 0] : !krnl.loop, !krnl.loop, !krnl.loop
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_permute(MlirxAsmParser p) {
  intptr_t first, n;
  TRY(krnl_parse_operands(p, MLIRX_LPAREN, MLIRX_RPAREN, &first, &n));
  MlirContext ctx = mlirxParserGetContext(p);
  MlirAttribute map = mlirxParseAttribute(p, (MlirType){NULL});
  if (mlirAttributeIsNull(map))
    return fail();
  mlirxParserAddAttribute(p, "map", map);
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  TRY(krnl_parse_loop_types(p, n));
  return krnl_resolve_range(p, first, n, krnl_loop_get(ctx));
}

static void print_permute(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t n = mlirOperationGetNumOperands(op);
  mlirxPrint(p, "(");
  krnl_print_operands(p, op, 0, n);
  mlirxPrint(p, ") [");
  MlirAttribute map = attr(op, "map");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(map); ++i)
    mlirxPrint(p, "%s%lld", i ? ", " : "",
               (long long)mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(map, i)));
  mlirxPrint(p, "]");
  mlirxPrintOptionalAttrDict(p, op, (const char *const[]){"map", NULL});
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, n);
}

static MlirLogicalResult no_loop_twice(MlirOperation op, intptr_t n) {
  for (intptr_t i = 0; i < n; ++i)
    for (intptr_t j = 0; j < i; ++j)
      if (mlirValueEqual(mlirOperationGetOperand(op, i), mlirOperationGetOperand(op, j)))
        return mlirxEmitError(op, "operand %d: the loop is operand %d as well", (int)i, (int)j);
  return ok();
}

static MlirLogicalResult verify_permute(MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  TRY(krnl_check_counts(op, -1, 0));
  TRY(krnl_check_loops(op, 0, n));
  TRY(krnl_check_int_array(op, "map", n, true, 0));
  TRY(no_loop_twice(op, n));
  MlirAttribute map = attr(op, "map");
  bool *seen = calloc((size_t)n + 1, 1);
  intptr_t bad = -1;
  for (intptr_t i = 0; i < n && bad < 0; ++i) {
    int64_t to = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(map, i));
    if (to >= n || seen[to])
      bad = i;
    else
      seen[to] = true;
  }
  free(seen);
  if (bad >= 0)
    return mlirxEmitError(
        op, "map: expected a permutation of 0 to %d, found %lld at position %d", (int)n - 1,
        (long long)mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(map, bad)), (int)bad);
  return ok();
}

static const char *const permute_attrs[] = {"map", NULL};
const MlirxOp krnl_permute = {.name = "krnl.permute",
                              .attrNames = permute_attrs,
                              .verify = verify_permute,
                              .effects = affects_loops,
                              .parse = parse_permute,
                              .print = print_permute};

//===----------------------------------------------------------------------===//
// krnl.unroll %i [4] : !krnl.loop          krnl.vectorize %i 16 : !krnl.loop
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_one_loop(MlirxAsmParser p, intptr_t loop) {
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  TRY(krnl_parse_loop_types(p, 1));
  return mlirxResolveOperand(p, loop, krnl_loop_get(mlirxParserGetContext(p)));
}

static MlirLogicalResult parse_unroll(MlirxAsmParser p) {
  intptr_t loop = mlirxParseOperand(p);
  if (loop < 0)
    return fail();
  int64_t factor;
  MlirLogicalResult result = ok();
  if (mlirxParseOptionalInteger(p, &factor, &result)) {
    TRY(result);
    MlirContext ctx = mlirxParserGetContext(p);
    mlirxParserAddAttribute(p, "factor", mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), factor));
  }
  return parse_one_loop(p, loop);
}

static MlirLogicalResult parse_vectorize(MlirxAsmParser p) {
  intptr_t loop = mlirxParseOperand(p);
  if (loop < 0)
    return fail();
  TRY(parse_factor(p, "lanes"));
  return parse_one_loop(p, loop);
}

static void print_one_loop(MlirOperation op, MlirxAsmPrinter p, const char *name) {
  mlirxPrint(p, " ");
  mlirxPrintOperand(p, mlirOperationGetOperand(op, 0));
  if (krnl_has_attr(op, name))
    mlirxPrint(p, " %lld", (long long)krnl_int_attr(op, name, 0));
  mlirxPrintOptionalAttrDict(p, op, (const char *const[]){name, NULL});
  mlirxPrint(p, " : !krnl.loop");
}

static void print_unroll(MlirOperation op, MlirxAsmPrinter p) {
  print_one_loop(op, p, "factor");
}
static void print_vectorize(MlirOperation op, MlirxAsmPrinter p) {
  print_one_loop(op, p, "lanes");
}

static MlirLogicalResult verify_unroll(MlirOperation op) {
  int64_t factor;
  TRY(krnl_check_counts(op, 1, 0));
  TRY(krnl_check_loops(op, 0, 1));
  return krnl_has_attr(op, "factor") ? krnl_check_positive(op, "factor", &factor) : ok();
}

static MlirLogicalResult verify_vectorize(MlirOperation op) {
  int64_t lanes;
  TRY(krnl_check_counts(op, 1, 0));
  TRY(krnl_check_loops(op, 0, 1));
  return krnl_check_positive(op, "lanes", &lanes);
}

const MlirxOp krnl_unroll = {.name = "krnl.unroll",
                             .attrNames = factor_attrs,
                             .verify = verify_unroll,
                             .effects = affects_loops,
                             .parse = parse_unroll,
                             .print = print_unroll};

static const char *const vectorize_attrs[] = {"lanes", NULL};
const MlirxOp krnl_vectorize = {.name = "krnl.vectorize",
                                .attrNames = vectorize_attrs,
                                .verify = verify_vectorize,
                                .effects = affects_loops,
                                .parse = parse_vectorize,
                                .print = print_vectorize};

//===----------------------------------------------------------------------===//
// krnl.parallel(%i, %j), num_threads(%n) {proc_bind = "spread"} : !krnl.loop, !krnl.loop
// The loops, then the number of threads (i32) if there is one.
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_parallel(MlirxAsmParser p) {
  intptr_t first, n, threads = -1;
  MlirContext ctx = mlirxParserGetContext(p);
  TRY(krnl_parse_operands(p, MLIRX_LPAREN, MLIRX_RPAREN, &first, &n));
  if (mlirxParseOptional(p, MLIRX_COMMA)) {
    TRY(mlirxParseKeyword(p, "num_threads"));
    TRY(mlirxParse(p, MLIRX_LPAREN));
    if ((threads = mlirxParseOperand(p)) < 0)
      return fail();
    TRY(mlirxParse(p, MLIRX_RPAREN));
  }
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  TRY(krnl_parse_loop_types(p, n));
  TRY(krnl_resolve_range(p, first, n, krnl_loop_get(ctx)));
  return threads < 0 ? ok() : mlirxResolveOperand(p, threads, mlirIntegerTypeGet(ctx, 32));
}

static intptr_t num_parallel_loops(MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  if (n && !krnl_is_loop(mlirValueGetType(mlirOperationGetOperand(op, n - 1))))
    --n;
  return n;
}

static void print_parallel(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t n = num_parallel_loops(op);
  mlirxPrint(p, "(");
  krnl_print_operands(p, op, 0, n);
  mlirxPrint(p, ")");
  if (n < mlirOperationGetNumOperands(op)) {
    mlirxPrint(p, ", num_threads(");
    mlirxPrintOperand(p, mlirOperationGetOperand(op, n));
    mlirxPrint(p, ")");
  }
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  krnl_print_types(p, op, 0, n);
}

static MlirLogicalResult verify_parallel(MlirOperation op) {
  intptr_t n = num_parallel_loops(op), all = mlirOperationGetNumOperands(op);
  TRY(krnl_check_counts(op, -1, 0));
  TRY(krnl_check_loops(op, 0, n));
  TRY(no_loop_twice(op, n));
  if (!n)
    return mlirxEmitError(op, "expected a loop at least");
  if (n < all) {
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, n));
    if (!mlirTypeIsAInteger(t) || mlirIntegerTypeGetWidth(t) != 32)
      return mlirxEmitError(op, "num_threads: expected i32, found %s", krnl_type_text(t));
  }
  MlirAttribute bind = attr(op, "proc_bind");
  if (mlirAttributeIsNull(bind))
    return ok();
  const char *const names[] = {"primary", "master", "close", "spread"};
  for (size_t i = 0; i < 4; ++i)
    if (mlirAttributeIsAString(bind) &&
        mlirStringRefEqual(mlirStringAttrGetValue(bind), str(names[i])))
      return ok();
  return mlirxEmitError(op, "proc_bind: expected \"primary\", \"master\", \"close\" or \"spread\"");
}

static const char *const parallel_attrs[] = {"proc_bind", NULL};
const MlirxOp krnl_parallel = {.name = "krnl.parallel",
                               .attrNames = parallel_attrs,
                               .verify = verify_parallel,
                               .effects = affects_loops,
                               .parse = parse_parallel,
                               .print = print_parallel};

//===----------------------------------------------------------------------===//
// %iv:2 = krnl.get_induction_var_value(%b, %c) : (!krnl.loop, !krnl.loop) -> (index, index)
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_get_iv(MlirxAsmParser p) {
  intptr_t first, n;
  MlirContext ctx = mlirxParserGetContext(p);
  TRY(krnl_parse_operands(p, MLIRX_LPAREN, MLIRX_RPAREN, &first, &n));
  TRY(mlirxParseOptionalAttrDict(p));
  TRY(mlirxParse(p, MLIRX_COLON));
  TRY(mlirxParse(p, MLIRX_LPAREN));
  TRY(krnl_parse_loop_types(p, n));
  TRY(mlirxParse(p, MLIRX_RPAREN));
  TRY(mlirxParse(p, MLIRX_ARROW));
  bool parenthesized = mlirxParseOptional(p, MLIRX_LPAREN);
  for (intptr_t i = 0; i < n; ++i) {
    if (i)
      TRY(mlirxParse(p, MLIRX_COMMA));
    MlirType t = mlirxParseType(p);
    if (mlirTypeIsNull(t))
      return fail();
    mlirxParserAddResultTypes(p, 1, &t);
  }
  if (parenthesized)
    TRY(mlirxParse(p, MLIRX_RPAREN));
  return krnl_resolve_range(p, first, n, krnl_loop_get(ctx));
}

static void print_get_iv(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t n = mlirOperationGetNumOperands(op);
  mlirxPrint(p, "(");
  krnl_print_operands(p, op, 0, n);
  mlirxPrint(p, ")");
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : (");
  krnl_print_types(p, op, 0, n);
  mlirxPrint(p, ") -> %s", n == 1 ? "" : "(");
  for (intptr_t i = 0; i < n; ++i)
    mlirxPrint(p, "%sindex", i ? ", " : "");
  if (n != 1)
    mlirxPrint(p, ")");
}

static MlirLogicalResult verify_get_iv(MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  TRY(krnl_check_counts(op, -1, n));
  TRY(krnl_check_loops(op, 0, n));
  for (intptr_t i = 0; i < n; ++i) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    if (!mlirTypeIsAIndex(t))
      return mlirxEmitError(op, "result %d: expected index, found %s", (int)i, krnl_type_text(t));
  }
  return ok();
}

// A read: it may be merged with its like in one body but not move out of the iterate.
static void reads_loops(MlirOperation op, MlirxEffects effects) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirxEffectsRead(effects, mlirOperationGetOperand(op, i));
}

const MlirxOp krnl_get_induction_var_value = {.name = "krnl.get_induction_var_value",
                                              .verify = verify_get_iv,
                                              .effects = reads_loops,
                                              .parse = parse_get_iv,
                                              .print = print_get_iv};

//===----------------------------------------------------------------------===//
// "krnl.region"() ({..}): a scope in which what is computed inside a loop is an affine symbol.
//===----------------------------------------------------------------------===//

static MlirLogicalResult verify_region(MlirOperation op) {
  TRY(krnl_check_counts(op, 0, 0));
  if (mlirOperationGetNumRegions(op) != 1)
    return mlirxEmitError(op, "expected one region, found %d", (int)mlirOperationGetNumRegions(op));
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (!mlirBlockIsNull(block) && mlirBlockGetNumArguments(block))
    return mlirxEmitError(op, "expected a block without arguments");
  return ok();
}

const MlirxOp krnl_region = {.name = "krnl.region",
                             .traits = MLIRX_AFFINE_SCOPE | MLIRX_NO_TERMINATOR |
                                       MLIRX_SINGLE_BLOCK | MLIRX_RECURSIVE_EFFECTS,
                             .verify = verify_region};

const MlirxOp *const krnl_loop_ops[] = {
    &krnl_define_loops, &krnl_block,     &krnl_permute,  &krnl_skew,
    &krnl_unroll,       &krnl_vectorize, &krnl_parallel, &krnl_get_induction_var_value,
    &krnl_iterate,      &krnl_yield,     &krnl_region,   NULL};
