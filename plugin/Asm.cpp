//===- Asm.cpp - The C face of the assembly parser and printer -------------------------===//
//
// Needless once mlir-c wraps OpAsmParser and OpAsmPrinter.
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using onyx::ParserState;
using onyx::PrinterState;

static ParserState &stateOf(MlirxAsmParser p) {
  return *static_cast<ParserState *>(p.ptr);
}
static AsmParser &parserOf(MlirxAsmParser p) {
  return stateOf(p).base;
}
static PrinterState &stateOf(MlirxAsmPrinter p) {
  return *static_cast<PrinterState *>(p.ptr);
}
static AsmPrinter &printerOf(MlirxAsmPrinter p) {
  return stateOf(p).base;
}
static MlirLogicalResult wrapResult(ParseResult result) {
  return wrap(LogicalResult(result));
}

// Hooks of types and attributes have no op at hand.
static LogicalResult requireOp(MlirxAsmParser p) {
  if (stateOf(p).op)
    return success();
  return parserOf(p).emitError(parserOf(p).getCurrentLocation())
         << "operands, regions and results belong to operations";
}

std::string onyx::format(const char *fmt, va_list args) {
  va_list again;
  va_copy(again, args);
  int size = vsnprintf(nullptr, 0, fmt, args);
  std::string text(size > 0 ? size : 0, '\0');
  if (size > 0)
    vsnprintf(text.data(), text.size() + 1, fmt, again);
  va_end(again);
  return text;
}

//===----------------------------------------------------------------------===//
// Places and errors
//===----------------------------------------------------------------------===//

MlirContext mlirxParserGetContext(MlirxAsmParser p) {
  return wrap(parserOf(p).getContext());
}

static llvm::SMLoc unwrapLoc(MlirxAsmParser p, MlirxLoc loc) {
  if (!loc.ptr)
    return parserOf(p).getCurrentLocation();
  return llvm::SMLoc::getFromPointer(static_cast<const char *>(loc.ptr));
}

MlirxLoc mlirxParserGetCurrentLoc(MlirxAsmParser p) {
  return MlirxLoc{parserOf(p).getCurrentLocation().getPointer()};
}

MlirLocation mlirxParserGetLocation(MlirxAsmParser p, MlirxLoc loc) {
  return wrap(parserOf(p).getEncodedSourceLoc(unwrapLoc(p, loc)));
}

MlirLogicalResult mlirxParserError(MlirxAsmParser p, MlirxLoc loc, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  std::string message = onyx::format(fmt, args);
  va_end(args);
  parserOf(p).emitError(unwrapLoc(p, loc), message);
  return mlirLogicalResultFailure();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static ParseResult parsePunct(AsmParser &parser, MlirxPunct punct) {
  switch (punct) {
  case MLIRX_LPAREN:
    return parser.parseLParen();
  case MLIRX_RPAREN:
    return parser.parseRParen();
  case MLIRX_LSQUARE:
    return parser.parseLSquare();
  case MLIRX_RSQUARE:
    return parser.parseRSquare();
  case MLIRX_LBRACE:
    return parser.parseLBrace();
  case MLIRX_RBRACE:
    return parser.parseRBrace();
  case MLIRX_LESS:
    return parser.parseLess();
  case MLIRX_GREATER:
    return parser.parseGreater();
  case MLIRX_COMMA:
    return parser.parseComma();
  case MLIRX_COLON:
    return parser.parseColon();
  case MLIRX_EQUAL:
    return parser.parseEqual();
  case MLIRX_ARROW:
    return parser.parseArrow();
  case MLIRX_QUESTION:
    return parser.parseQuestion();
  case MLIRX_STAR:
    return parser.parseStar();
  case MLIRX_PLUS:
    return parser.parsePlus();
  case MLIRX_MINUS:
    return parser.parseMinus();
  }
  return failure();
}

static ParseResult parseOptionalPunct(AsmParser &parser, MlirxPunct punct) {
  switch (punct) {
  case MLIRX_LPAREN:
    return parser.parseOptionalLParen();
  case MLIRX_RPAREN:
    return parser.parseOptionalRParen();
  case MLIRX_LSQUARE:
    return parser.parseOptionalLSquare();
  case MLIRX_RSQUARE:
    return parser.parseOptionalRSquare();
  case MLIRX_LBRACE:
    return parser.parseOptionalLBrace();
  case MLIRX_RBRACE:
    return parser.parseOptionalRBrace();
  case MLIRX_LESS:
    return parser.parseOptionalLess();
  case MLIRX_GREATER:
    return parser.parseOptionalGreater();
  case MLIRX_COMMA:
    return parser.parseOptionalComma();
  case MLIRX_COLON:
    return parser.parseOptionalColon();
  case MLIRX_EQUAL:
    return parser.parseOptionalEqual();
  case MLIRX_ARROW:
    return parser.parseOptionalArrow();
  case MLIRX_QUESTION:
    return parser.parseOptionalQuestion();
  case MLIRX_STAR:
    return parser.parseOptionalStar();
  case MLIRX_PLUS:
    return parser.parseOptionalPlus();
  case MLIRX_MINUS:
    return parser.parseOptionalMinus();
  }
  return failure();
}

MlirLogicalResult mlirxParse(MlirxAsmParser p, MlirxPunct punct) {
  return wrapResult(parsePunct(parserOf(p), punct));
}
bool mlirxParseOptional(MlirxAsmParser p, MlirxPunct punct) {
  return succeeded(parseOptionalPunct(parserOf(p), punct));
}
MlirLogicalResult mlirxParseKeyword(MlirxAsmParser p, const char *keyword) {
  return wrapResult(parserOf(p).parseKeyword(keyword));
}
bool mlirxParseOptionalKeyword(MlirxAsmParser p, const char *keyword) {
  return succeeded(parserOf(p).parseOptionalKeyword(keyword));
}
MlirStringRef mlirxParseOptionalAnyKeyword(MlirxAsmParser p) {
  StringRef keyword;
  if (failed(parserOf(p).parseOptionalKeyword(&keyword)))
    return MlirStringRef{nullptr, 0};
  return wrap(keyword);
}
MlirLogicalResult mlirxParseInteger(MlirxAsmParser p, int64_t *value) {
  return wrapResult(parserOf(p).parseInteger(*value));
}
bool mlirxParseOptionalInteger(MlirxAsmParser p, int64_t *value, MlirLogicalResult *result) {
  OptionalParseResult parsed = parserOf(p).parseOptionalInteger(*value);
  *result = wrapResult(parsed.has_value() ? *parsed : ParseResult(success()));
  return parsed.has_value();
}
MlirLogicalResult mlirxParseCommaSeparated(MlirxAsmParser p,
                                           MlirLogicalResult (*each)(MlirxAsmParser, void *),
                                           void *user) {
  return wrapResult(
      parserOf(p).parseCommaSeparatedList([&]() -> ParseResult { return unwrap(each(p, user)); }));
}

//===----------------------------------------------------------------------===//
// Attributes, types, names
//===----------------------------------------------------------------------===//

MlirAttribute mlirxParseAttribute(MlirxAsmParser p, MlirType type) {
  Attribute attr;
  if (failed(parserOf(p).parseAttribute(attr, unwrap(type))))
    return mlirAttributeGetNull();
  return wrap(attr);
}
MlirAttribute mlirxParseOptionalAttribute(MlirxAsmParser p, MlirType type,
                                          MlirLogicalResult *result) {
  Attribute attr;
  OptionalParseResult parsed = parserOf(p).parseOptionalAttribute(attr, unwrap(type));
  *result = wrapResult(parsed.has_value() ? *parsed : ParseResult(success()));
  return parsed.has_value() && succeeded(*parsed) ? wrap(attr) : mlirAttributeGetNull();
}
MlirType mlirxParseType(MlirxAsmParser p) {
  Type type;
  if (failed(parserOf(p).parseType(type)))
    return MlirType{nullptr};
  return wrap(type);
}
MlirAttribute mlirxParseSymbolName(MlirxAsmParser p) {
  StringAttr name;
  if (failed(parserOf(p).parseSymbolName(name)))
    return mlirAttributeGetNull();
  return wrap(Attribute(name));
}

//===----------------------------------------------------------------------===//
// The op being parsed
//===----------------------------------------------------------------------===//

intptr_t mlirxParseOperand(MlirxAsmParser p) {
  OpAsmParser::UnresolvedOperand operand;
  if (failed(requireOp(p)) || failed(stateOf(p).op->parseOperand(operand)))
    return -1;
  stateOf(p).operands.push_back(operand);
  return stateOf(p).operands.size() - 1;
}

intptr_t mlirxParseOptionalOperand(MlirxAsmParser p) {
  if (failed(requireOp(p)))
    return -2;
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = stateOf(p).op->parseOptionalOperand(operand);
  if (!parsed.has_value())
    return -1;
  if (failed(*parsed))
    return -2;
  stateOf(p).operands.push_back(operand);
  return stateOf(p).operands.size() - 1;
}

MlirLogicalResult mlirxResolveOperand(MlirxAsmParser p, intptr_t operand, MlirType type) {
  ParserState &s = stateOf(p);
  if (failed(requireOp(p)))
    return mlirLogicalResultFailure();
  return wrapResult(s.op->resolveOperand(s.operands[operand], unwrap(type), s.state->operands));
}

intptr_t mlirxParseArgument(MlirxAsmParser p) {
  OpAsmParser::Argument argument;
  if (failed(requireOp(p)) || failed(stateOf(p).op->parseArgument(argument)))
    return -1;
  stateOf(p).arguments.push_back(argument);
  return stateOf(p).arguments.size() - 1;
}

intptr_t mlirxParseOptionalArgument(MlirxAsmParser p) {
  if (failed(requireOp(p)))
    return -2;
  OpAsmParser::Argument argument;
  OptionalParseResult parsed = stateOf(p).op->parseOptionalArgument(argument);
  if (!parsed.has_value())
    return -1;
  if (failed(*parsed))
    return -2;
  stateOf(p).arguments.push_back(argument);
  return stateOf(p).arguments.size() - 1;
}

MlirLogicalResult mlirxParseRegion(MlirxAsmParser p, intptr_t n, const intptr_t *arguments,
                                   const MlirType *types) {
  ParserState &s = stateOf(p);
  if (failed(requireOp(p)))
    return mlirLogicalResultFailure();
  SmallVector<OpAsmParser::Argument> entry;
  for (intptr_t i = 0; i < n; ++i) {
    entry.push_back(s.arguments[arguments[i]]);
    entry.back().type = unwrap(types[i]);
  }
  return wrapResult(s.op->parseRegion(*s.state->addRegion(), entry));
}

// Operation::create and no builder: the region belongs to no op yet.
MlirLogicalResult mlirxParserEnsureTerminator(MlirxAsmParser p, const char *terminator) {
  ParserState &s = stateOf(p);
  if (failed(requireOp(p)))
    return mlirLogicalResultFailure();
  if (s.state->regions.empty())
    return mlirxParserError(p, MlirxLoc{nullptr}, "expected a region");
  Region &region = *s.state->regions.back();
  if (region.empty())
    region.push_back(new Block);
  Block &block = region.back();
  if (!block.empty() && block.back().mightHaveTrait<OpTrait::IsTerminator>())
    return mlirLogicalResultSuccess();
  block.push_back(Operation::create(
      OperationState(s.op->getEncodedSourceLoc(s.op->getCurrentLocation()), terminator)));
  return mlirLogicalResultSuccess();
}

MlirLogicalResult mlirxParseOptionalAttrDict(MlirxAsmParser p) {
  if (failed(requireOp(p)))
    return mlirLogicalResultFailure();
  return wrapResult(stateOf(p).op->parseOptionalAttrDict(stateOf(p).state->attributes));
}
void mlirxParserAddAttribute(MlirxAsmParser p, const char *name, MlirAttribute attr) {
  if (stateOf(p).state)
    stateOf(p).state->attributes.set(name, unwrap(attr));
}
MlirAttribute mlirxParserGetAttribute(MlirxAsmParser p, const char *name) {
  if (!stateOf(p).state)
    return mlirAttributeGetNull();
  return wrap(stateOf(p).state->attributes.get(name));
}
void mlirxParserAddResultTypes(MlirxAsmParser p, intptr_t n, const MlirType *types) {
  for (intptr_t i = 0; stateOf(p).state && i < n; ++i)
    stateOf(p).state->types.push_back(unwrap(types[i]));
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void mlirxPrint(MlirxAsmPrinter p, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  printerOf(p).getStream() << onyx::format(fmt, args);
  va_end(args);
}
void mlirxPrintOperand(MlirxAsmPrinter p, MlirValue v) {
  if (stateOf(p).op)
    stateOf(p).op->printOperand(unwrap(v));
}
void mlirxPrintType(MlirxAsmPrinter p, MlirType t) {
  printerOf(p).printType(unwrap(t));
}
void mlirxPrintAttribute(MlirxAsmPrinter p, MlirAttribute a) {
  printerOf(p).printAttribute(unwrap(a));
}
void mlirxPrintAttributeWithoutType(MlirxAsmPrinter p, MlirAttribute a) {
  printerOf(p).printAttributeWithoutType(unwrap(a));
}
void mlirxPrintSymbolName(MlirxAsmPrinter p, MlirStringRef name) {
  printerOf(p).printSymbolName(unwrap(name));
}
void mlirxPrintQuoted(MlirxAsmPrinter p, MlirStringRef text) {
  printerOf(p).printString(unwrap(text));
}
void mlirxPrintOptionalAttrDict(MlirxAsmPrinter p, MlirOperation op, const char *const *elided) {
  SmallVector<StringRef> names;
  for (; elided && *elided; ++elided)
    names.push_back(*elided);
  if (stateOf(p).op)
    stateOf(p).op->printOptionalAttrDict(unwrap(op)->getAttrs(), names);
}
void mlirxPrintRegion(MlirxAsmPrinter p, MlirRegion r, bool entryArgs, bool terminators) {
  if (stateOf(p).op)
    stateOf(p).op->printRegion(*unwrap(r), entryArgs, terminators);
}
