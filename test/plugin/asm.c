// Custom assembly of the test dialect: between them the forms use all of mlirx.h's parser.
#include "seam.h"

#include <inttypes.h>
#include <string.h>

// seam.const 5 : i32 {a = 1}
MlirLogicalResult seam_parse_const(MlirxAsmParser p) {
  MlirAttribute value = mlirxParseAttribute(p, (MlirType){NULL});
  if (!value.ptr)
    return ok(false);
  mlirxParserAddAttribute(p, "value", value);
  MlirType type = mlirAttributeGetType(value);
  mlirxParserAddResultTypes(p, 1, &type);
  return mlirxParseOptionalAttrDict(p);
}

void seam_print_const(MlirOperation op, MlirxAsmPrinter p) {
  static const char *const elided[] = {"value", NULL};
  mlirxPrint(p, " ");
  mlirxPrintAttribute(p, mlirOperationGetAttributeByName(op, str("value")));
  mlirxPrintOptionalAttrDict(p, op, elided);
}

// seam.loop %n (%a = %x : i32, ...) { .. }: the terminator is hidden when there are no arguments.
typedef struct loop_parts {
  intptr_t args[8], inits[8], n;
  MlirType types[8];
} loop_parts;

static MlirLogicalResult parse_loop_arg(MlirxAsmParser p, void *user) {
  loop_parts *parts = user;
  if (parts->n == 8)
    return mlirxParserError(p, (MlirxLoc){NULL}, "at most %d loop arguments", 8);
  intptr_t i = parts->n++;
  if ((parts->args[i] = mlirxParseArgument(p)) < 0 || failed(mlirxParse(p, MLIRX_EQUAL)) ||
      (parts->inits[i] = mlirxParseOperand(p)) < 0 || failed(mlirxParse(p, MLIRX_COLON)))
    return ok(false);
  parts->types[i] = mlirxParseType(p);
  return ok(parts->types[i].ptr != NULL);
}

MlirLogicalResult seam_parse_loop(MlirxAsmParser p) {
  MlirType index = mlirIndexTypeGet(mlirxParserGetContext(p));
  loop_parts parts = {.n = 0};
  intptr_t count = mlirxParseOperand(p);
  if (count < 0 || failed(mlirxResolveOperand(p, count, index)))
    return ok(false);
  if (mlirxParseOptional(p, MLIRX_LPAREN) &&
      (failed(mlirxParseCommaSeparated(p, parse_loop_arg, &parts)) ||
       failed(mlirxParse(p, MLIRX_RPAREN))))
    return ok(false);
  for (intptr_t i = 0; i < parts.n; ++i)
    if (failed(mlirxResolveOperand(p, parts.inits[i], parts.types[i])))
      return ok(false);
  mlirxParserAddResultTypes(p, parts.n, parts.types);
  if (failed(mlirxParseRegion(p, parts.n, parts.args, parts.types)))
    return ok(false);
  if (parts.n == 0 && failed(mlirxParserEnsureTerminator(p, "seam.yield")))
    return ok(false);
  return mlirxParseOptionalAttrDict(p);
}

void seam_print_loop(MlirOperation op, MlirxAsmPrinter p) {
  MlirRegion body = mlirOperationGetRegion(op, 0);
  MlirBlock block = mlirRegionGetFirstBlock(body);
  intptr_t n = mlirOperationGetNumResults(op);
  mlirxPrint(p, " ");
  mlirxPrintOperand(p, mlirOperationGetOperand(op, 0));
  for (intptr_t i = 0; i < n; ++i) {
    mlirxPrint(p, i == 0 ? " (" : ", ");
    mlirxPrintOperand(p, mlirBlockGetArgument(block, i));
    mlirxPrint(p, " = ");
    mlirxPrintOperand(p, mlirOperationGetOperand(op, i + 1));
    mlirxPrint(p, " : ");
    mlirxPrintType(p, mlirValueGetType(mlirOperationGetResult(op, i)));
  }
  mlirxPrint(p, n ? ") " : " ");
  mlirxPrintRegion(p, body, false, n > 0);
  mlirxPrintOptionalAttrDict(p, op, NULL);
}

// seam.yield %a, %b : i32, i32
static MlirLogicalResult parse_yielded(MlirxAsmParser p, void *user) {
  loop_parts *parts = user;
  if (parts->n == 8)
    return mlirxParserError(p, (MlirxLoc){NULL}, "at most 8 values");
  return ok((parts->inits[parts->n++] = mlirxParseOperand(p)) >= 0);
}

MlirLogicalResult seam_parse_yield(MlirxAsmParser p) {
  loop_parts parts = {.n = 0};
  intptr_t first = mlirxParseOptionalOperand(p);
  if (first == -1)
    return mlirxParseOptionalAttrDict(p);
  if (first < 0)
    return ok(false);
  parts.inits[parts.n++] = first;
  if (mlirxParseOptional(p, MLIRX_COMMA) &&
      failed(mlirxParseCommaSeparated(p, parse_yielded, &parts)))
    return ok(false);
  for (intptr_t i = 0; i < parts.n; ++i) {
    if (failed(mlirxParse(p, i == 0 ? MLIRX_COLON : MLIRX_COMMA)))
      return ok(false);
    MlirType type = mlirxParseType(p);
    if (!type.ptr || failed(mlirxResolveOperand(p, parts.inits[i], type)))
      return ok(false);
  }
  return mlirxParseOptionalAttrDict(p);
}

void seam_print_yield(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t n = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n; ++i) {
    mlirxPrint(p, i == 0 ? " " : ", ");
    mlirxPrintOperand(p, mlirOperationGetOperand(op, i));
  }
  for (intptr_t i = 0; i < n; ++i) {
    mlirxPrint(p, i == 0 ? " : " : ", ");
    mlirxPrintType(p, mlirValueGetType(mlirOperationGetOperand(op, i)));
  }
  mlirxPrintOptionalAttrDict(p, op, NULL);
}

// seam.words @name "text" ?*+- <3> [word] -> 7: every token that the other forms leave out.
MlirLogicalResult seam_parse_words(MlirxAsmParser p) {
  MlirContext ctx = mlirxParserGetContext(p);
  MlirLogicalResult result;
  int64_t n = 0;
  MlirAttribute name = mlirxParseSymbolName(p);
  if (!name.ptr)
    return ok(false);
  MlirAttribute text = mlirxParseOptionalAttribute(p, (MlirType){NULL}, &result);
  if (failed(result))
    return ok(false);
  if (text.ptr)
    mlirxParserAddAttribute(p, "text", text);
  if (failed(mlirxParse(p, MLIRX_QUESTION)) || failed(mlirxParse(p, MLIRX_STAR)) ||
      failed(mlirxParse(p, MLIRX_PLUS)) || failed(mlirxParse(p, MLIRX_MINUS)) ||
      failed(mlirxParse(p, MLIRX_LESS)) || failed(mlirxParseInteger(p, &n)) ||
      failed(mlirxParse(p, MLIRX_GREATER)) || failed(mlirxParse(p, MLIRX_LSQUARE)))
    return ok(false);
  MlirxLoc at = mlirxParserGetCurrentLoc(p);
  MlirStringRef word = mlirxParseOptionalAnyKeyword(p);
  if (!word.data)
    return mlirxParserError(p, at, "expected a word, %s", "any word");
  if (!mlirStringRefEqual(word, str("word")) && !mlirStringRefEqual(word, str("other")))
    return mlirxParserError(p, at, "'%.*s' is neither 'word' nor 'other'", (int)word.length,
                            word.data);
  if (failed(mlirxParse(p, MLIRX_RSQUARE)) || failed(mlirxParse(p, MLIRX_ARROW)))
    return ok(false);
  int64_t after = 0;
  if (!mlirxParseOptionalInteger(p, &after, &result)) {
    if (failed(mlirxParseKeyword(p, "none")))
      return ok(false);
    after = -1;
  }
  if (failed(result))
    return ok(false);
  MlirType i64 = mlirIntegerTypeGet(ctx, 64);
  mlirxParserAddAttribute(p, "name", name);
  mlirxParserAddAttribute(p, "n", mlirIntegerAttrGet(i64, n));
  mlirxParserAddAttribute(p, "word", mlirStringAttrGet(ctx, word));
  mlirxParserAddAttribute(p, "after", mlirIntegerAttrGet(i64, after));
  return ok(mlirxParserGetAttribute(p, "word").ptr != NULL &&
            !mlirxParserGetAttribute(p, "nothing").ptr);
}

void seam_print_words(MlirOperation op, MlirxAsmPrinter p) {
  MlirAttribute text = mlirOperationGetAttributeByName(op, str("text"));
  MlirStringRef word = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, str("word")));
  int64_t after = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, str("after")));
  mlirxPrint(p, " ");
  mlirxPrintSymbolName(p, mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, str("name"))));
  if (text.ptr) {
    mlirxPrint(p, " ");
    mlirxPrintQuoted(p, mlirStringAttrGetValue(text));
  }
  mlirxPrint(p, " ?*+- <");
  mlirxPrintAttributeWithoutType(p, mlirOperationGetAttributeByName(op, str("n")));
  mlirxPrint(p, "> [%.*s] -> ", (int)word.length, word.data);
  if (after < 0)
    mlirxPrint(p, "none");
  else
    mlirxPrint(p, "%" PRId64, after);
}

// !seam.pair<i32, tensor<4xf32>>
MlirType seam_parse_pair(MlirxAsmParser p) {
  const MlirType null = {NULL};
  MlirType first, second;
  if (failed(mlirxParse(p, MLIRX_LESS)) || !(first = mlirxParseType(p)).ptr ||
      failed(mlirxParse(p, MLIRX_COMMA)) || !(second = mlirxParseType(p)).ptr ||
      failed(mlirxParse(p, MLIRX_GREATER)))
    return null;
  MlirAttribute params[] = {mlirTypeAttrGet(first), mlirTypeAttrGet(second)};
  return mlirxTypeGet(mlirxParserGetContext(p), &seam_pair, 2, params);
}

void seam_print_pair(MlirType type, MlirxAsmPrinter p) {
  mlirxPrint(p, "<");
  mlirxPrintType(p, mlirTypeAttrGetValue(mlirxTypeGetParam(type, 0)));
  mlirxPrint(p, ", ");
  mlirxPrintType(p, mlirTypeAttrGetValue(mlirxTypeGetParam(type, 1)));
  mlirxPrint(p, ">");
}

// #seam.range<1, 5> : i32
MlirAttribute seam_parse_range(MlirxAsmParser p, MlirType type) {
  const MlirAttribute null = {NULL};
  MlirContext ctx = mlirxParserGetContext(p);
  int64_t low, high;
  if (failed(mlirxParse(p, MLIRX_LESS)) || failed(mlirxParseInteger(p, &low)) ||
      failed(mlirxParse(p, MLIRX_COMMA)) || failed(mlirxParseInteger(p, &high)) ||
      failed(mlirxParse(p, MLIRX_GREATER)))
    return null;
  MlirType i64 = mlirIntegerTypeGet(ctx, 64);
  MlirAttribute params[] = {mlirIntegerAttrGet(i64, low), mlirIntegerAttrGet(i64, high),
                            mlirTypeAttrGet(type.ptr ? type : i64)};
  return mlirxAttrGet(ctx, &seam_range, 3, params);
}

void seam_print_range(MlirAttribute attr, MlirxAsmPrinter p) {
  mlirxPrint(p, "<");
  mlirxPrintAttributeWithoutType(p, mlirxAttrGetParam(attr, 0));
  mlirxPrint(p, ", ");
  mlirxPrintAttributeWithoutType(p, mlirxAttrGetParam(attr, 1));
  mlirxPrint(p, ">");
}
