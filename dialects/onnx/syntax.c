// Custom assembly: Constant, ConstantOfShape, Return and Yield. Every other op is in generic form.
#include "dialects/onnx/internal.h"

// onnx.Constant [{attributes}] value
// onnx.Constant {attributes} : type
MlirLogicalResult onnx_parse_constant(MlirxAsmParser p) {
  MlirLogicalResult ok = success();
  if (failed(mlirxParseOptionalAttrDict(p)))
    return failure();
  MlirxLoc where = mlirxParserGetCurrentLoc(p);
  MlirAttribute value = mlirxParseOptionalAttribute(p, (MlirType){0}, &ok);
  if (failed(ok))
    return failure();
  if (!mlirAttributeIsNull(value)) {
    MlirType type = mlirAttributeGetType(value);
    if (!mlirTypeIsATensor(type))
      return mlirxParserError(p, where,
                              "onnx.Constant: expected an elements attribute of tensor type");
    mlirxParserAddAttribute(p, "value", value);
    mlirxParserAddResultTypes(p, 1, &type);
    return success();
  }
  if (failed(mlirxParse(p, MLIRX_COLON)))
    return failure();
  MlirType type = mlirxParseType(p);
  if (mlirTypeIsNull(type))
    return failure();
  mlirxParserAddResultTypes(p, 1, &type);
  return success();
}

void onnx_print_constant(MlirOperation op, MlirxAsmPrinter p) {
  static const char *const elided[] = {"value", NULL};
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirAttribute value = attribute(op, "value");
  if (!mlirAttributeIsNull(value) && mlirTypeEqual(mlirAttributeGetType(value), type)) {
    mlirxPrintOptionalAttrDict(p, op, elided);
    mlirxPrint(p, " ");
    mlirxPrintAttribute(p, value);
    return;
  }
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : ");
  mlirxPrintType(p, type);
}

// onnx.ConstantOfShape(%shape) {value = dense<..>} : (type) -> type
MlirLogicalResult onnx_parse_constant_of_shape(MlirxAsmParser p) {
  intptr_t operand;
  MlirType from, to;
  if (failed(mlirxParse(p, MLIRX_LPAREN)) || (operand = mlirxParseOperand(p)) < 0 ||
      failed(mlirxParse(p, MLIRX_RPAREN)) || failed(mlirxParseOptionalAttrDict(p)) ||
      failed(mlirxParse(p, MLIRX_COLON)) || failed(mlirxParse(p, MLIRX_LPAREN)) ||
      mlirTypeIsNull(from = mlirxParseType(p)) || failed(mlirxParse(p, MLIRX_RPAREN)) ||
      failed(mlirxParse(p, MLIRX_ARROW)) || mlirTypeIsNull(to = mlirxParseType(p)) ||
      failed(mlirxResolveOperand(p, operand, from)))
    return failure();
  mlirxParserAddResultTypes(p, 1, &to);
  return success();
}

void onnx_print_constant_of_shape(MlirOperation op, MlirxAsmPrinter p) {
  MlirValue shape = mlirOperationGetOperand(op, 0);
  mlirxPrint(p, "(");
  mlirxPrintOperand(p, shape);
  mlirxPrint(p, ")");
  mlirxPrintOptionalAttrDict(p, op, NULL);
  mlirxPrint(p, " : (");
  mlirxPrintType(p, mlirValueGetType(shape));
  mlirxPrint(p, ") -> ");
  mlirxPrintType(p, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

// onnx.Return %a, %b : type, type
enum { max_return_operands = 4096 };

struct operand_list {
  intptr_t operands[max_return_operands];
  intptr_t count, resolved;
};

static MlirLogicalResult parse_return_type(MlirxAsmParser p, void *user) {
  struct operand_list *list = user;
  MlirxLoc where = mlirxParserGetCurrentLoc(p);
  MlirType type = mlirxParseType(p);
  if (mlirTypeIsNull(type))
    return failure();
  if (list->resolved == list->count)
    return mlirxParserError(p, where, "expected %d type(s), one for each operand",
                            (int)list->count);
  return mlirxResolveOperand(p, list->operands[list->resolved++], type);
}

MlirLogicalResult onnx_parse_return(MlirxAsmParser p) {
  struct operand_list list;
  list.count = list.resolved = 0;
  MlirxLoc start = mlirxParserGetCurrentLoc(p);
  intptr_t operand = mlirxParseOptionalOperand(p);
  if (operand == -2)
    return failure();
  while (operand >= 0) {
    if (list.count == max_return_operands)
      return mlirxParserError(p, start, "more than %d operands", max_return_operands);
    list.operands[list.count++] = operand;
    if (!mlirxParseOptional(p, MLIRX_COMMA))
      break;
    if ((operand = mlirxParseOperand(p)) < 0)
      return failure();
  }
  if (failed(mlirxParseOptionalAttrDict(p)))
    return failure();
  if (list.count == 0)
    return success();
  if (failed(mlirxParse(p, MLIRX_COLON)) ||
      failed(mlirxParseCommaSeparated(p, parse_return_type, &list)))
    return failure();
  if (list.resolved < list.count)
    return mlirxParserError(p, start, "expected %d types, found %d", (int)list.count,
                            (int)list.resolved);
  return success();
}

void onnx_print_return(MlirOperation op, MlirxAsmPrinter p) {
  intptr_t n = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n; i++) {
    mlirxPrint(p, i ? ", " : " ");
    mlirxPrintOperand(p, mlirOperationGetOperand(op, i));
  }
  mlirxPrintOptionalAttrDict(p, op, NULL);
  for (intptr_t i = 0; i < n; i++) {
    mlirxPrint(p, i ? ", " : " : ");
    mlirxPrintType(p, mlirValueGetType(mlirOperationGetOperand(op, i)));
  }
}
