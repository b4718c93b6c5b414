//===- iterate.c - krnl.iterate and krnl.yield ----------------------------------------===//
//
// krnl.iterate(%b, %c) with (%i -> %ii = 0 to 10, %j -> %jj = max #m(%d)[%s] to min #n(%d)[%s])
//     iter_args(%a = %x, %y = %z) -> (f32, f32) { .. }
//
// Operands: the optimised loops; for each `with` entry its loop and the operands of its bounds; the
// initial values of the iter_args. A plain value as bound is the map ()[s0] -> (s0).
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/internal.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

struct krnl_iterate_view krnl_iterate_read(MlirOperation op) {
  MlirAttribute bounds = attr(op, "bounds");
  struct krnl_iterate_view it = {.op = op};
  it.num_optimized = krnl_int_attr(op, "num_optimized_loops", 0);
  it.num_loops = mlirArrayAttrGetNumElements(bounds) / 2;
  it.num_inits = mlirOperationGetNumResults(op);
  it.first_init = mlirOperationGetNumOperands(op) - it.num_inits;
  it.body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  return it;
}

MlirValue krnl_iterate_optimized(const struct krnl_iterate_view *it, intptr_t i) {
  return mlirOperationGetOperand(it->op, i);
}

void krnl_iterate_read_bounds(const struct krnl_iterate_view *it, struct krnl_iterate_bounds *out) {
  MlirAttribute bounds = attr(it->op, "bounds");
  intptr_t next = it->num_optimized;
  for (intptr_t i = 0; i < it->num_loops; ++i) {
    out[i].loop = mlirOperationGetOperand(it->op, next++);
    out[i].lower = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(bounds, 2 * i));
    out[i].upper = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(bounds, 2 * i + 1));
    out[i].lower_first = next;
    next += mlirAffineMapGetNumInputs(out[i].lower);
    out[i].upper_first = next;
    next += mlirAffineMapGetNumInputs(out[i].upper);
  }
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

// A growing list; freed by its owner.
struct list {
  intptr_t *items;
  intptr_t n, room;
};

static void push(struct list *l, intptr_t item) {
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 8;
    l->items = realloc(l->items, sizeof(*l->items) * (size_t)l->room);
  }
  l->items[l->n++] = item;
}

struct parsed {
  intptr_t first_optimized, num_optimized;
  struct list operands;  // parser indices in the op's order; -1 - index for a loop
  struct list variables; // region arguments
  struct list inits;
  MlirAttribute *bounds;
  intptr_t num_bounds, room;
};

static void push_bound(struct parsed *s, MlirAttribute map) {
  if (s->num_bounds == s->room) {
    s->room = s->room ? 2 * s->room : 8;
    s->bounds = realloc(s->bounds, sizeof(*s->bounds) * (size_t)s->room);
  }
  s->bounds[s->num_bounds++] = map;
}

// "(%a, %b)" or "[%a]" after a map; the count must be the map's.
static MlirLogicalResult parse_map_operands(MlirxAsmParser p, struct parsed *s, MlirxPunct open,
                                            MlirxPunct close, intptr_t expected, const char *what) {
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  intptr_t first, n;
  TRY(krnl_parse_operands(p, open, close, &first, &n));
  if (n != expected)
    return mlirxParserError(p, at, "expected %d %s of the bound's map, found %d", (int)expected,
                            what, (int)n);
  for (intptr_t i = 0; i < n; ++i)
    push(&s->operands, first + i);
  return ok();
}

static MlirLogicalResult parse_bound(MlirxAsmParser p, struct parsed *s, const char *combiner) {
  MlirContext ctx = mlirxParserGetContext(p);
  bool combined = mlirxParseOptionalKeyword(p, combiner);
  intptr_t value = combined ? -1 : mlirxParseOptionalOperand(p);
  if (value < -1)
    return fail();
  if (value >= 0) {
    MlirAffineExpr s0 = mlirAffineSymbolExprGet(ctx, 0);
    push(&s->operands, value);
    push_bound(s, mlirAffineMapAttrGet(mlirAffineMapGet(ctx, 0, 1, 1, &s0)));
    return ok();
  }
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  MlirAttribute bound = mlirxParseAttribute(p, mlirIndexTypeGet(ctx));
  if (mlirAttributeIsNull(bound))
    return fail();
  if (mlirAttributeIsAInteger(bound) && !combined) {
    push_bound(
        s, mlirAffineMapAttrGet(mlirAffineMapConstantGet(ctx, mlirIntegerAttrGetValueInt(bound))));
    return ok();
  }
  if (!mlirAttributeIsAAffineMap(bound))
    return mlirxParserError(p, at, "expected a bound: an integer, a value or an affine map");
  MlirAffineMap map = mlirAffineMapAttrGetValue(bound);
  if (mlirAffineMapGetNumResults(map) != 1 && !combined)
    return mlirxParserError(p, at, "expected '%s' before a bound of %d results", combiner,
                            (int)mlirAffineMapGetNumResults(map));
  push_bound(s, bound);
  TRY(parse_map_operands(p, s, MLIRX_LPAREN, MLIRX_RPAREN, mlirAffineMapGetNumDims(map), "dims"));
  intptr_t symbols = mlirAffineMapGetNumSymbols(map);
  if (!symbols && !mlirxParseOptional(p, MLIRX_LSQUARE))
    return ok();
  if (!symbols)
    return mlirxParse(p, MLIRX_RSQUARE);
  return parse_map_operands(p, s, MLIRX_LSQUARE, MLIRX_RSQUARE, symbols, "symbols");
}

static MlirLogicalResult parse_with_entry(MlirxAsmParser p, void *user) {
  struct parsed *s = user;
  intptr_t loop = mlirxParseOperand(p);
  if (loop < 0)
    return fail();
  push(&s->operands, -1 - loop);
  TRY(mlirxParse(p, MLIRX_ARROW));
  intptr_t variable = mlirxParseArgument(p);
  if (variable < 0)
    return fail();
  push(&s->variables, variable);
  TRY(mlirxParse(p, MLIRX_EQUAL));
  TRY(parse_bound(p, s, "max"));
  TRY(mlirxParseKeyword(p, "to"));
  return parse_bound(p, s, "min");
}

static MlirLogicalResult parse_iter_arg(MlirxAsmParser p, void *user) {
  struct parsed *s = user;
  intptr_t variable = mlirxParseArgument(p);
  if (variable < 0)
    return fail();
  push(&s->variables, variable);
  TRY(mlirxParse(p, MLIRX_EQUAL));
  intptr_t init = mlirxParseOperand(p);
  if (init < 0)
    return fail();
  push(&s->inits, init);
  return ok();
}

// "-> (f32, f32)": the iter_args' types, appended to `types`.
static MlirLogicalResult parse_result_types(MlirxAsmParser p, intptr_t n, MlirType *types) {
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  TRY(mlirxParse(p, MLIRX_ARROW));
  bool parenthesized = mlirxParseOptional(p, MLIRX_LPAREN);
  intptr_t found = 0;
  if (!parenthesized || !mlirxParseOptional(p, MLIRX_RPAREN)) {
    do {
      MlirType t = mlirxParseType(p);
      if (mlirTypeIsNull(t))
        return fail();
      if (found < n)
        types[found] = t;
      ++found;
    } while (parenthesized && mlirxParseOptional(p, MLIRX_COMMA));
    if (parenthesized)
      TRY(mlirxParse(p, MLIRX_RPAREN));
  }
  if (found != n)
    return mlirxParserError(p, at, "expected %d result types, one an iter_arg, found %d", (int)n,
                            (int)found);
  mlirxParserAddResultTypes(p, n, types);
  return ok();
}

static MlirLogicalResult resolve_all(MlirxAsmParser p, struct parsed *s,
                                     const MlirType *init_types) {
  MlirContext ctx = mlirxParserGetContext(p);
  MlirType loop = krnl_loop_get(ctx), index = mlirIndexTypeGet(ctx);
  TRY(krnl_resolve_range(p, s->first_optimized, s->num_optimized, loop));
  for (intptr_t i = 0; i < s->operands.n; ++i) {
    intptr_t item = s->operands.items[i];
    TRY(mlirxResolveOperand(p, item < 0 ? -1 - item : item, item < 0 ? loop : index));
  }
  for (intptr_t i = 0; i < s->inits.n; ++i)
    TRY(mlirxResolveOperand(p, s->inits.items[i], init_types[i]));
  return ok();
}

static MlirLogicalResult parse_body(MlirxAsmParser p, struct parsed *s) {
  intptr_t num_variables = s->variables.n - s->inits.n;
  MlirType *types = malloc(sizeof(*types) * (size_t)(s->variables.n + 1));
  for (intptr_t i = 0; i < num_variables; ++i)
    types[i] = mlirIndexTypeGet(mlirxParserGetContext(p));
  MlirLogicalResult result = ok();
  if (s->inits.n)
    result = parse_result_types(p, s->inits.n, types + num_variables);
  if (!failed(result))
    result = resolve_all(p, s, types + num_variables);
  if (!failed(result))
    result = mlirxParseRegion(p, s->variables.n, s->variables.items, types);
  free(types);
  return result;
}

static MlirLogicalResult parse_into(MlirxAsmParser p, struct parsed *s) {
  MlirContext ctx = mlirxParserGetContext(p);
  TRY(krnl_parse_operands(p, MLIRX_LPAREN, MLIRX_RPAREN, &s->first_optimized, &s->num_optimized));
  TRY(mlirxParseKeyword(p, "with"));
  TRY(mlirxParse(p, MLIRX_LPAREN));
  if (!mlirxParseOptional(p, MLIRX_RPAREN)) {
    TRY(mlirxParseCommaSeparated(p, parse_with_entry, s));
    TRY(mlirxParse(p, MLIRX_RPAREN));
  }
  if (mlirxParseOptionalKeyword(p, "iter_args")) {
    TRY(mlirxParse(p, MLIRX_LPAREN));
    TRY(mlirxParseCommaSeparated(p, parse_iter_arg, s));
    TRY(mlirxParse(p, MLIRX_RPAREN));
  }
  mlirxParserAddAttribute(p, "bounds", mlirArrayAttrGet(ctx, s->num_bounds, s->bounds));
  mlirxParserAddAttribute(p, "num_optimized_loops",
                          mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), s->num_optimized));
  TRY(parse_body(p, s));
  if (!s->inits.n)
    TRY(mlirxParserEnsureTerminator(p, "krnl.yield"));
  return mlirxParseOptionalAttrDict(p);
}

static MlirLogicalResult parse_iterate(MlirxAsmParser p) {
  struct parsed s = {0};
  MlirLogicalResult result = parse_into(p, &s);
  free(s.operands.items);
  free(s.variables.items);
  free(s.inits.items);
  free(s.bounds);
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static bool is_symbol_identity(MlirAffineMap map) {
  return mlirAffineMapGetNumDims(map) == 0 && mlirAffineMapGetNumSymbols(map) == 1 &&
         mlirAffineMapGetNumResults(map) == 1 &&
         mlirAffineExprIsASymbol(mlirAffineMapGetResult(map, 0));
}

static void print_bound(MlirOperation op, MlirxAsmPrinter p, MlirAffineMap map, intptr_t first,
                        const char *combiner) {
  intptr_t dims = mlirAffineMapGetNumDims(map), symbols = mlirAffineMapGetNumSymbols(map);
  if (dims + symbols == 0 && mlirAffineMapIsSingleConstant(map)) {
    mlirxPrint(p, "%lld", (long long)mlirAffineMapGetSingleConstantResult(map));
    return;
  }
  if (is_symbol_identity(map)) {
    mlirxPrintOperand(p, mlirOperationGetOperand(op, first));
    return;
  }
  if (mlirAffineMapGetNumResults(map) != 1)
    mlirxPrint(p, "%s ", combiner);
  mlirxPrintAttribute(p, mlirAffineMapAttrGet(map));
  mlirxPrint(p, "(");
  krnl_print_operands(p, op, first, dims);
  mlirxPrint(p, ")");
  if (!symbols)
    return;
  mlirxPrint(p, "[");
  krnl_print_operands(p, op, first + dims, symbols);
  mlirxPrint(p, "]");
}

static void print_iterate(MlirOperation op, MlirxAsmPrinter p) {
  struct krnl_iterate_view it = krnl_iterate_read(op);
  struct krnl_iterate_bounds *bounds = calloc((size_t)it.num_loops + 1, sizeof(*bounds));
  krnl_iterate_read_bounds(&it, bounds);
  mlirxPrint(p, "(");
  krnl_print_operands(p, op, 0, it.num_optimized);
  mlirxPrint(p, ") with (");
  for (intptr_t i = 0; i < it.num_loops; ++i) {
    if (i)
      mlirxPrint(p, ", ");
    mlirxPrintOperand(p, bounds[i].loop);
    mlirxPrint(p, " -> ");
    mlirxPrintOperand(p, mlirBlockGetArgument(it.body, i));
    mlirxPrint(p, " = ");
    print_bound(op, p, bounds[i].lower, bounds[i].lower_first, "max");
    mlirxPrint(p, " to ");
    print_bound(op, p, bounds[i].upper, bounds[i].upper_first, "min");
  }
  mlirxPrint(p, ")");
  free(bounds);
  for (intptr_t i = 0; i < it.num_inits; ++i) {
    mlirxPrint(p, i ? ", " : " iter_args(");
    mlirxPrintOperand(p, mlirBlockGetArgument(it.body, it.num_loops + i));
    mlirxPrint(p, " = ");
    mlirxPrintOperand(p, mlirOperationGetOperand(op, it.first_init + i));
  }
  if (it.num_inits) {
    mlirxPrint(p, ") -> (");
    krnl_print_types(p, op, it.first_init, it.num_inits);
    mlirxPrint(p, ")");
  }
  mlirxPrintRegion(p, mlirOperationGetRegion(op, 0), false, it.num_inits > 0);
  mlirxPrintOptionalAttrDict(p, op, (const char *const[]){"bounds", "num_optimized_loops", NULL});
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

static MlirLogicalResult verify_attributes(MlirOperation op) {
  MlirAttribute bounds = attr(op, "bounds");
  if (mlirAttributeIsNull(bounds) || !mlirAttributeIsAArray(bounds))
    return mlirxEmitError(op, "expected an array attribute 'bounds'");
  intptr_t n = mlirArrayAttrGetNumElements(bounds);
  if (n % 2)
    return mlirxEmitError(op, "bounds: expected a lower and an upper map a loop, found %d maps",
                          (int)n);
  for (intptr_t i = 0; i < n; ++i) {
    MlirAttribute map = mlirArrayAttrGetElement(bounds, i);
    if (!mlirAttributeIsAAffineMap(map))
      return mlirxEmitError(op, "bounds: element %d is no affine map", (int)i);
    if (mlirAffineMapGetNumResults(mlirAffineMapAttrGetValue(map)) == 0)
      return mlirxEmitError(op, "bounds: element %d is a map without results", (int)i);
  }
  int64_t optimized = krnl_int_attr(op, "num_optimized_loops", -1);
  if (optimized < 0 || optimized > mlirOperationGetNumOperands(op))
    return mlirxEmitError(op, "num_optimized_loops: expected a number of operands, found %lld",
                          (long long)optimized);
  return ok();
}

// The number of operands that the maps ask for, with the loops and the inits.
static MlirLogicalResult verify_operands(MlirOperation op) {
  MlirAttribute bounds = attr(op, "bounds");
  intptr_t optimized = krnl_int_attr(op, "num_optimized_loops", 0);
  intptr_t loops = mlirArrayAttrGetNumElements(bounds) / 2, next = optimized;
  intptr_t expected = optimized + loops + mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < 2 * loops; ++i)
    expected +=
        mlirAffineMapGetNumInputs(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(bounds, i)));
  if (expected != mlirOperationGetNumOperands(op))
    return mlirxEmitError(
        op, "expected %d operands (loops, operands of bounds, initial values), found %d",
        (int)expected, (int)mlirOperationGetNumOperands(op));
  TRY(krnl_check_loops(op, 0, optimized));
  for (intptr_t i = 0; i < loops; ++i) {
    TRY(krnl_check_loops(op, next++, 1));
    for (int b = 0; b < 2; ++b) {
      MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(bounds, 2 * i + b));
      TRY(krnl_check_indices(op, next, mlirAffineMapGetNumInputs(map)));
      next += mlirAffineMapGetNumInputs(map);
    }
  }
  return ok();
}

static MlirLogicalResult verify_distinct_loops(MlirOperation op) {
  struct krnl_iterate_view it = krnl_iterate_read(op);
  for (intptr_t i = 0; i < it.num_optimized; ++i)
    for (intptr_t j = 0; j < i; ++j)
      if (mlirValueEqual(mlirOperationGetOperand(op, i), mlirOperationGetOperand(op, j)))
        return mlirxEmitError(op, "optimised loops %d and %d are the same loop", (int)j, (int)i);
  struct krnl_iterate_bounds *bounds = calloc((size_t)it.num_loops + 1, sizeof(*bounds));
  krnl_iterate_read_bounds(&it, bounds);
  intptr_t twice = -1;
  for (intptr_t i = 0; i < it.num_loops; ++i)
    for (intptr_t j = 0; j < i; ++j)
      if (mlirValueEqual(bounds[i].loop, bounds[j].loop))
        twice = i;
  free(bounds);
  return twice < 0 ? ok() : mlirxEmitError(op, "loop %d of 'with' has bounds already", (int)twice);
}

static MlirLogicalResult verify_iterate(MlirOperation op) {
  if (mlirOperationGetNumRegions(op) != 1)
    return mlirxEmitError(op, "expected one region, found %d", (int)mlirOperationGetNumRegions(op));
  TRY(verify_attributes(op));
  TRY(verify_operands(op));
  return verify_distinct_loops(op);
}

// Body arguments: an index for each `with` entry, then the iter_args; the yield gives the
// iter_args.
static MlirLogicalResult verify_body(MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return mlirxEmitError(op, "expected a body of one block");
  struct krnl_iterate_view it = krnl_iterate_read(op);
  if (mlirBlockGetNumArguments(body) != it.num_loops + it.num_inits)
    return mlirxEmitError(op, "expected %d body arguments (%d loops, %d iter_args), found %d",
                          (int)(it.num_loops + it.num_inits), (int)it.num_loops, (int)it.num_inits,
                          (int)mlirBlockGetNumArguments(body));
  for (intptr_t i = 0; i < it.num_loops; ++i) {
    MlirType t = mlirValueGetType(mlirBlockGetArgument(body, i));
    if (!mlirTypeIsAIndex(t))
      return mlirxEmitError(op, "body argument %d: expected index, found %s", (int)i,
                            krnl_type_text(t));
  }
  MlirOperation yield = mlirBlockGetTerminator(body);
  if (mlirOperationIsNull(yield) || !mlirxIsA(yield, &krnl_yield))
    return mlirxEmitError(op, "expected a body that ends in krnl.yield");
  if (mlirOperationGetNumOperands(yield) != it.num_inits)
    return mlirxEmitError(yield, "expected %d values, one an iter_arg, found %d", (int)it.num_inits,
                          (int)mlirOperationGetNumOperands(yield));
  for (intptr_t i = 0; i < it.num_inits; ++i) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    MlirType init = mlirValueGetType(mlirOperationGetOperand(op, it.first_init + i));
    MlirType inside = mlirValueGetType(mlirBlockGetArgument(body, it.num_loops + i));
    MlirType yielded = mlirValueGetType(mlirOperationGetOperand(yield, i));
    if (!mlirTypeEqual(t, init) || !mlirTypeEqual(t, inside) || !mlirTypeEqual(t, yielded))
      return mlirxEmitError(
          op, "iter_arg %d: result is %s, initial value %s, argument %s, yielded %s", (int)i,
          krnl_type_text(t), krnl_type_text(init), krnl_type_text(inside), krnl_type_text(yielded));
  }
  return ok();
}

//===----------------------------------------------------------------------===//
// Control flow: the body runs any number of times, none included.
//===----------------------------------------------------------------------===//

static void iterate_successors(MlirOperation op, intptr_t from, MlirxSuccessors out) {
  (void)op;
  (void)from;
  mlirxSuccessorsAdd(out, 0);
  mlirxSuccessorsAdd(out, -1);
}

static void iterate_entry(MlirOperation op, intptr_t to, intptr_t *first, intptr_t *count) {
  (void)to;
  *count = mlirOperationGetNumResults(op);
  *first = mlirOperationGetNumOperands(op) - *count;
}

static void iterate_inputs(MlirOperation op, intptr_t to, intptr_t *first, intptr_t *count) {
  (void)to;
  struct krnl_iterate_view it = krnl_iterate_read(op);
  *first = it.num_loops;
  *count = it.num_inits;
}

static const MlirxRegionBranch iterate_branch = {iterate_successors, iterate_entry, iterate_inputs};
static const char *const iterate_attrs[] = {"bounds", "num_optimized_loops", NULL};
const MlirxOp krnl_iterate = {.name = "krnl.iterate",
                              .traits = MLIRX_RECURSIVE_EFFECTS | MLIRX_SINGLE_BLOCK,
                              .attrNames = iterate_attrs,
                              .verify = verify_iterate,
                              .verifyRegions = verify_body,
                              .parse = parse_iterate,
                              .print = print_iterate,
                              .regionBranch = &iterate_branch,
                              .loopLike = true};

//===----------------------------------------------------------------------===//
// krnl.yield %x, %y : f32, f32
//===----------------------------------------------------------------------===//

static MlirLogicalResult parse_yield(MlirxAsmParser p) {
  intptr_t n = 0, first = mlirxParseOptionalOperand(p);
  if (first < -1)
    return fail();
  if (first >= 0)
    n = 1;
  while (n && mlirxParseOptional(p, MLIRX_COMMA)) {
    if (mlirxParseOperand(p) < 0)
      return fail();
    ++n;
  }
  TRY(mlirxParseOptionalAttrDict(p));
  if (!n)
    return ok();
  TRY(mlirxParse(p, MLIRX_COLON));
  for (intptr_t i = 0; i < n; ++i) {
    if (i)
      TRY(mlirxParse(p, MLIRX_COMMA));
    MlirType t = mlirxParseType(p);
    if (mlirTypeIsNull(t))
      return fail();
    TRY(mlirxResolveOperand(p, first + i, t));
  }
  return ok();
}

static void print_yield(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t n = mlirOperationGetNumOperands(op);
  if (n) {
    mlirxPrint(p, " ");
    krnl_print_operands(p, op, 0, n);
  }
  mlirxPrintOptionalAttrDict(p, op, NULL);
  if (n) {
    mlirxPrint(p, " : ");
    krnl_print_types(p, op, 0, n);
  }
}

static MlirLogicalResult verify_yield(MlirOperation op) {
  TRY(krnl_check_counts(op, -1, 0));
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (mlirOperationIsNull(parent) || !mlirxIsA(parent, &krnl_iterate))
    return mlirxEmitError(op, "expected to end the body of krnl.iterate");
  return ok();
}

const MlirxOp krnl_yield = {.name = "krnl.yield",
                            .traits = MLIRX_TERMINATOR | MLIRX_RETURN_LIKE | MLIRX_PURE,
                            .verify = verify_yield,
                            .parse = parse_yield,
                            .print = print_yield,
                            .regionTerminator = true};
