//===- Op.cpp - A C descriptor as a registered operation --------------------------===//
//
// Needless once mlir-c can register operations with hooks (it has none in 22).
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/CAPI/Rewrite.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace {

struct TraitFlag {
  TypeID id;
  unsigned flag;
};

// The TypeID of a trait depends on how the compiler spells its name, so this file must be compiled
// by clang, as libMLIR was; Entry.cpp checks it at load.
llvm::ArrayRef<TraitFlag> traitFlags() {
  static const TraitFlag flags[] = {
      {TypeID::get<OpTrait::IsTerminator>(), MLIRX_TERMINATOR},
      {TypeID::get<OpTrait::IsIsolatedFromAbove>(), MLIRX_ISOLATED_FROM_ABOVE},
      {TypeID::get<OpTrait::SymbolTable>(), MLIRX_SYMBOL_TABLE},
      {TypeID::get<OpTrait::NoTerminator>(), MLIRX_NO_TERMINATOR},
      {TypeID::get<OpTrait::SingleBlock>(), MLIRX_SINGLE_BLOCK},
      {TypeID::get<OpTrait::ConstantLike>(), MLIRX_CONSTANT_LIKE},
      {TypeID::get<OpTrait::ReturnLike>(), MLIRX_RETURN_LIKE},
      {TypeID::get<OpTrait::AffineScope>(), MLIRX_AFFINE_SCOPE},
      {TypeID::get<OpTrait::HasRecursiveMemoryEffects>(), MLIRX_RECURSIVE_EFFECTS},
      {TypeID::get<OpTrait::IsCommutative>(), MLIRX_COMMUTATIVE},
  };
  return flags;
}

// SingleBlock's own verifier is a template over the op class.
LogicalResult verifySingleBlock(Operation *op, bool noTerminator) {
  for (auto [i, region] : llvm::enumerate(op->getRegions())) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return op->emitOpError("expects region #") << i << " to have 0 or 1 blocks";
    if (!noTerminator && region.front().empty())
      return op->emitOpError("expects a non-empty block in region #") << i;
  }
  return success();
}

class TableOp final : public OperationName::Impl {
public:
  TableOp(Dialect *dialect, const MlirxOp *descriptor)
      : Impl(descriptor->name, dialect, onyx::idOf(descriptor), onyx::interfacesOf(descriptor)),
        descriptor(descriptor) {}

  LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands,
                         SmallVectorImpl<OpFoldResult> &results) override;
  void getCanonicalizationPatterns(RewritePatternSet &set, MLIRContext *context) override {
    if (descriptor->patterns)
      descriptor->patterns(wrap(&set), wrap(context));
  }
  bool hasTrait(TypeID id) override {
    for (const TraitFlag &trait : traitFlags())
      if (trait.id == id)
        return descriptor->traits & trait.flag;
    return false;
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() override;
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) override;
  LogicalResult verifyInvariants(Operation *op) override;
  LogicalResult verifyRegionInvariants(Operation *op) override;

  // Table ops have no properties: their attributes live in the discardable dictionary.
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) override {
    return op->getDiscardableAttr(name);
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) override {
    if (value)
      op->setDiscardableAttr(name, value);
    else
      op->removeDiscardableAttr(name);
  }
  void populateInherentAttrs(Operation *, NamedAttrList &) override {}
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) override {
    return success();
  }
  int getOpPropertyByteSize() override { return 0; }
  void initProperties(OperationName, OpaqueProperties, OpaqueProperties) override {}
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties, Attribute,
                                      function_ref<InFlightDiagnostic()> emitError) override {
    if (emitError)
      emitError() << "'" << name << "' has no properties; write its attributes as {...}";
    return failure();
  }
  Attribute getPropertiesAsAttr(Operation *) override { return {}; }
  void copyProperties(OpaqueProperties, OpaqueProperties) override {}
  bool compareProperties(OpaqueProperties, OpaqueProperties) override { return true; }
  llvm::hash_code hashProperties(OpaqueProperties) override { return {}; }

private:
  const MlirxOp *descriptor;
};

LogicalResult TableOp::foldHook(Operation *op, ArrayRef<Attribute> operands,
                                SmallVectorImpl<OpFoldResult> &results) {
  if (!descriptor->fold)
    return failure();
  SmallVector<MlirAttribute> constants;
  for (Attribute operand : operands)
    constants.push_back(wrap(operand));
  // One entry more, so that an op without results hands over no null array.
  SmallVector<MlirxFoldResult> folded(op->getNumResults() + 1, MlirxFoldResult{});
  if (failed(unwrap(descriptor->fold(wrap(op), operands.size(), constants.data(), folded.data()))))
    return failure();
  folded.pop_back();

  unsigned given = llvm::count_if(
      folded, [](const MlirxFoldResult &r) { return r.attribute.ptr || r.value.ptr; });
  if (given == 0)
    return success(); // changed in place
  if (given != folded.size())
    return failure(); // MLIR replaces all results of an op, or none
  for (const MlirxFoldResult &r : folded) {
    if (r.value.ptr)
      results.push_back(unwrap(r.value));
    else
      results.push_back(unwrap(r.attribute));
  }
  return success();
}

OperationName::ParseAssemblyFn TableOp::getParseAssemblyFn() {
  return [descriptor = descriptor](OpAsmParser &parser, OperationState &state) -> ParseResult {
    if (!descriptor->parse)
      return parser.emitError(parser.getNameLoc())
             << "'" << descriptor->name << "' has no custom assembly form";
    onyx::ParserState parserState{parser, &parser, &state};
    return unwrap(descriptor->parse(MlirxAsmParser{&parserState}));
  };
}

void TableOp::printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) {
  if (!descriptor->print)
    return printer.printGenericOp(op);
  StringRef name = op->getName().getStringRef();
  if (name.starts_with((defaultDialect + ".").str()) && name.count('.') == 1)
    name = name.drop_front(defaultDialect.size() + 1);
  printer.getStream() << name;
  onyx::PrinterState printerState{printer, &printer};
  descriptor->print(wrap(op), MlirxAsmPrinter{&printerState});
}

LogicalResult TableOp::verifyInvariants(Operation *op) {
  unsigned traits = descriptor->traits;
  if ((traits & MLIRX_TERMINATOR) && failed(OpTrait::impl::verifyIsTerminator(op)))
    return failure();
  if ((traits & MLIRX_SYMBOL) && failed(detail::verifySymbol(op)))
    return failure();
  if (descriptor->verify)
    return unwrap(descriptor->verify(wrap(op)));
  return success();
}

// Runs after the ops inside were verified. The single-block check comes first: the others may
// look at the first block only.
LogicalResult TableOp::verifyRegionInvariants(Operation *op) {
  unsigned traits = descriptor->traits;
  if ((traits & MLIRX_SINGLE_BLOCK) && failed(verifySingleBlock(op, traits & MLIRX_NO_TERMINATOR)))
    return failure();
  if ((traits & MLIRX_ISOLATED_FROM_ABOVE) && failed(OpTrait::impl::verifyIsIsolatedFromAbove(op)))
    return failure();
  if ((traits & MLIRX_SYMBOL_TABLE) && failed(detail::verifySymbolTable(op)))
    return failure();
  if (descriptor->verifyRegions && failed(unwrap(descriptor->verifyRegions(wrap(op)))))
    return failure();
  return onyx::verifyInterfaces(descriptor, op);
}

} // namespace

void onyx::registerOp(Dialect *dialect, const MlirxOp *descriptor) {
  SmallVector<StringRef> names;
  for (const char *const *name = descriptor->attrNames; name && *name; ++name)
    names.push_back(*name);
  RegisteredOperationName::insert(std::make_unique<TableOp>(dialect, descriptor), names);
}

const MlirxOp *mlirxOperationGetDescriptor(MlirOperation op) {
  OperationName name = unwrap(op)->getName();
  if (!name.isRegistered() || !name.hasInterface(onyx::TableOpMarker::getInterfaceID()))
    return nullptr;
  return onyx::descriptorOf(unwrap(op));
}
