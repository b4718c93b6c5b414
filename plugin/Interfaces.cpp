//===- Interfaces.cpp - Op and dialect interfaces that call descriptors ------------===//
//
// A fallback model is default-constructed and finds its descriptor by the op's TypeID.
// Needless once mlir-c can attach interfaces (22 has only two that external models fill).
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using onyx::descriptorOf;

//===----------------------------------------------------------------------===//
// Memory effects and speculation
//===----------------------------------------------------------------------===//

using EffectList = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

namespace {
struct EffectState { // behind MlirxEffects
  Operation *op;
  EffectList &effects;
};

struct EffectsModel : MemoryEffectOpInterface::FallbackModel<EffectsModel> {
  void getEffects(Operation *op, EffectList &effects) const {
    EffectState state{op, effects};
    if (auto hook = descriptorOf(op)->effects)
      hook(wrap(op), MlirxEffects{&state});
  }
};

struct SpeculationModel : ConditionallySpeculatable::FallbackModel<SpeculationModel> {
  Speculation::Speculatability getSpeculatability(Operation *op) const {
    unsigned traits = descriptorOf(op)->traits;
    if (traits & MLIRX_NO_SPECULATION)
      return Speculation::NotSpeculatable;
    return traits & MLIRX_RECURSIVE_EFFECTS ? Speculation::RecursivelySpeculatable
                                            : Speculation::Speculatable;
  }
};
} // namespace

// An effect on a value that the op uses is told through the operand, since analyses ask by operand.
template <typename Effect> static void addEffect(MlirxEffects e, MlirValue on) {
  auto &state = *static_cast<EffectState *>(e.ptr);
  Value value = unwrap(on);
  if (!value)
    return (void)state.effects.emplace_back(Effect::get());
  for (OpOperand &operand : state.op->getOpOperands())
    if (operand.get() == value)
      return (void)state.effects.emplace_back(Effect::get(), &operand);
  if (auto result = dyn_cast<OpResult>(value))
    state.effects.emplace_back(Effect::get(), result);
  else
    state.effects.emplace_back(Effect::get(), cast<BlockArgument>(value));
}

void mlirxEffectsRead(MlirxEffects e, MlirValue on) {
  addEffect<MemoryEffects::Read>(e, on);
}
void mlirxEffectsWrite(MlirxEffects e, MlirValue on) {
  addEffect<MemoryEffects::Write>(e, on);
}
void mlirxEffectsFree(MlirxEffects e, MlirValue on) {
  addEffect<MemoryEffects::Free>(e, on);
}
void mlirxEffectsAllocate(MlirxEffects e, MlirValue on) {
  addEffect<MemoryEffects::Allocate>(e, on);
}

//===----------------------------------------------------------------------===//
// Control flow between regions
//===----------------------------------------------------------------------===//

namespace {
struct SuccessorState { // behind MlirxSuccessors
  Operation *op;
  SmallVectorImpl<RegionSuccessor> &successors;
};

intptr_t numberOf(Region *region) {
  return region ? static_cast<intptr_t>(region->getRegionNumber()) : -1;
}

struct RegionBranchModel : RegionBranchOpInterface::FallbackModel<RegionBranchModel> {
  OperandRange getEntrySuccessorOperands(Operation *op, RegionSuccessor successor) const {
    intptr_t first = 0, count = 0;
    if (auto hook = descriptorOf(op)->regionBranch->entryOperands)
      hook(wrap(op), numberOf(successor.getSuccessor()), &first, &count);
    return op->getOperands().slice(first, count);
  }
  void getEntrySuccessorRegions(Operation *op, ArrayRef<Attribute>,
                                SmallVectorImpl<RegionSuccessor> &successors) const {
    getSuccessorRegions(op, RegionBranchPoint::parent(), successors);
  }
  void getSuccessorRegions(Operation *op, RegionBranchPoint point,
                           SmallVectorImpl<RegionSuccessor> &successors) const {
    Operation *terminator = point.getTerminatorPredecessorOrNull();
    SuccessorState state{op, successors};
    descriptorOf(op)->regionBranch->successors(
        wrap(op), numberOf(terminator ? terminator->getParentRegion() : nullptr),
        MlirxSuccessors{&state});
  }
  void getSuccessorRegions_3(Operation *op, Region &region,
                             SmallVectorImpl<RegionSuccessor> &successors) const {
    for (Block &block : region)
      if (!block.empty())
        if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(block.back()))
          getSuccessorRegions(op, RegionBranchPoint(terminator), successors);
  }
  void getSuccessorRegions(Operation *op, Region &region,
                           SmallVectorImpl<RegionSuccessor> &successors) const {
    getSuccessorRegions_3(op, region, successors);
  }
  void getPredecessors(Operation *op, RegionSuccessor successor,
                       SmallVectorImpl<RegionBranchPoint> &predecessors) const {
    for (RegionBranchPoint point : cast<RegionBranchOpInterface>(op).getAllRegionBranchPoints()) {
      SmallVector<RegionSuccessor> successors;
      getSuccessorRegions(op, point, successors);
      if (llvm::any_of(successors, [&](const RegionSuccessor &s) {
            return s.getSuccessor() == successor.getSuccessor();
          }))
        predecessors.push_back(point);
    }
  }
  void getPredecessorValues(Operation *op, RegionSuccessor successor, int index,
                            SmallVectorImpl<Value> &values) const {
    SmallVector<RegionBranchPoint> predecessors;
    getPredecessors(op, successor, predecessors);
    for (RegionBranchPoint point : predecessors) {
      if (point.isParent()) {
        values.push_back(getEntrySuccessorOperands(op, successor)[index]);
        continue;
      }
      auto terminator =
          cast<RegionBranchTerminatorOpInterface>(point.getTerminatorPredecessorOrNull());
      values.push_back(terminator.getSuccessorOperands(successor)[index]);
    }
  }
  void getRegionInvocationBounds(Operation *op, ArrayRef<Attribute>,
                                 SmallVectorImpl<InvocationBounds> &bounds) const {
    bounds.append(op->getNumRegions(), InvocationBounds::getUnknown());
  }
  bool areTypesCompatible(Operation *, Type lhs, Type rhs) const { return lhs == rhs; }
};

struct RegionTerminatorModel
    : RegionBranchTerminatorOpInterface::FallbackModel<RegionTerminatorModel> {
  MutableOperandRange getMutableSuccessorOperands(Operation *op, RegionSuccessor) const {
    return MutableOperandRange(op);
  }
  void getSuccessorRegions(Operation *op, ArrayRef<Attribute>,
                           SmallVectorImpl<RegionSuccessor> &successors) const {
    if (auto parent = dyn_cast_or_null<RegionBranchOpInterface>(op->getParentOp()))
      parent.getSuccessorRegions(cast<RegionBranchTerminatorOpInterface>(op), successors);
  }
};
} // namespace

void mlirxSuccessorsAdd(MlirxSuccessors s, intptr_t region) {
  auto &state = *static_cast<SuccessorState *>(s.ptr);
  if (region < 0)
    return (void)state.successors.emplace_back(state.op, state.op->getResults());
  Region &to = state.op->getRegion(region);
  if (to.empty())
    return;
  intptr_t first = 0, count = to.getNumArguments();
  if (auto hook = descriptorOf(state.op)->regionBranch->regionInputs)
    hook(wrap(state.op), region, &first, &count);
  state.successors.emplace_back(&to, to.getArguments().slice(first, count));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
struct LoopLikeModel : LoopLikeOpInterface::FallbackModel<LoopLikeModel> {
  using Bounds = std::optional<SmallVector<OpFoldResult>>;
  bool isDefinedOutsideOfLoop(Operation *op, Value value) const {
    return !op->isAncestor(value.getParentRegion()->getParentOp());
  }
  SmallVector<Region *> getLoopRegions(Operation *op) const { return {&op->getRegion(0)}; }
  void moveOutOfLoop(Operation *op, Operation *inner) const { inner->moveBefore(op); }
  LogicalResult promoteIfSingleIteration(Operation *, RewriterBase &) const { return failure(); }
  std::optional<SmallVector<Value>> getLoopInductionVars(Operation *) const { return std::nullopt; }
  Bounds getLoopLowerBounds(Operation *) const { return std::nullopt; }
  Bounds getLoopSteps(Operation *) const { return std::nullopt; }
  Bounds getLoopUpperBounds(Operation *) const { return std::nullopt; }
  MutableArrayRef<OpOperand> getInitsMutable(Operation *) const { return {}; }
  Block::BlockArgListType getRegionIterArgs(Operation *) const { return {}; }
  std::optional<MutableArrayRef<OpOperand>> getYieldedValuesMutable(Operation *) const {
    return std::nullopt;
  }
  std::optional<ResultRange> getLoopResults(Operation *) const { return std::nullopt; }
  FailureOr<LoopLikeOpInterface> replaceWithAdditionalYields(Operation *, RewriterBase &,
                                                             ValueRange, bool,
                                                             const NewYieldValuesFn &) const {
    return failure();
  }
  std::optional<llvm::APInt> getStaticTripCount(Operation *) const { return std::nullopt; }
};

//===----------------------------------------------------------------------===//
// Result shapes as values
//===----------------------------------------------------------------------===//

struct ReifyModel : ReifyRankedShapedTypeOpInterface::FallbackModel<ReifyModel> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      auto shape = reifyShapeOfResult(op, builder, i);
      if (failed(shape))
        return failure();
      shapes.push_back(std::move(*shape));
    }
    return success();
  }
  FailureOr<SmallVector<OpFoldResult>> reifyShapeOfResult(Operation *op, OpBuilder &builder,
                                                          int result) const {
    auto type = dyn_cast<ShapedType>(op->getResult(result).getType());
    if (!type || !type.hasRank())
      return failure();
    // At a block's end there is no op to stand before; the sizes depend on operands only, so
    // before the op itself will do.
    bool atEnd = builder.getInsertionPoint() == builder.getInsertionBlock()->end();
    Operation *before = atEnd ? op : &*builder.getInsertionPoint();
    SmallVector<MlirxFoldResult> dims(type.getRank() + 1, MlirxFoldResult{});
    if (failed(unwrap(descriptorOf(op)->reify(wrap(op), wrap(before), result, dims.data()))))
      return failure();
    SmallVector<OpFoldResult> shape;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (dims[i].value.ptr)
        shape.push_back(unwrap(dims[i].value));
      else if (dims[i].attribute.ptr)
        shape.push_back(unwrap(dims[i].attribute));
      else
        return failure();
    }
    return shape;
  }
  FailureOr<OpFoldResult> reifyDimOfResult(Operation *op, OpBuilder &builder, int result,
                                           int dim) const {
    auto shape = reifyShapeOfResult(op, builder, result);
    if (failed(shape))
      return failure();
    return (*shape)[dim];
  }
};

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

struct SymbolModel : SymbolOpInterface::FallbackModel<SymbolModel> {
  using Visibility = SymbolTable::Visibility;
  StringAttr getNameAttr(Operation *op) const { return SymbolTable::getSymbolName(op); }
  void setName(Operation *op, StringAttr name) const { SymbolTable::setSymbolName(op, name); }
  Visibility getVisibility(Operation *op) const { return SymbolTable::getSymbolVisibility(op); }
  bool isNested(Operation *op) const { return getVisibility(op) == Visibility::Nested; }
  bool isPrivate(Operation *op) const { return getVisibility(op) == Visibility::Private; }
  bool isPublic(Operation *op) const { return getVisibility(op) == Visibility::Public; }
  void setVisibility(Operation *op, Visibility v) const { SymbolTable::setSymbolVisibility(op, v); }
  void setNested(Operation *op) const { setVisibility(op, Visibility::Nested); }
  void setPrivate(Operation *op) const { setVisibility(op, Visibility::Private); }
  void setPublic(Operation *op) const { setVisibility(op, Visibility::Public); }
  std::optional<SymbolTable::UseRange> getSymbolUses(Operation *op, Operation *from) const {
    return SymbolTable::getSymbolUses(op, from);
  }
  bool symbolKnownUseEmpty(Operation *op, Operation *from) const {
    return SymbolTable::symbolKnownUseEmpty(op, from);
  }
  LogicalResult replaceAllSymbolUses(Operation *op, StringAttr name, Operation *from) const {
    return SymbolTable::replaceAllSymbolUses(op, name, from);
  }
  bool isOptionalSymbol(Operation *) const { return false; }
  bool canDiscardOnUseEmpty(Operation *op) const { return !isPublic(op); }
  bool isDeclaration(Operation *) const { return false; }
};

//===----------------------------------------------------------------------===//
// Dialect interfaces
//===----------------------------------------------------------------------===//

struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  // Only the terminator of a function's body gets here: its operands are the call's results.
  void handleTerminator(Operation *op, ValueRange results) const override {
    for (auto [result, operand] : llvm::zip(results, op->getOperands()))
      result.replaceAllUsesWith(operand);
  }
  // The inliner loads cf for bodies of several blocks.
  void handleTerminator(Operation *op, Block *next) const override {
    OpBuilder builder(op);
    OperationState branch(op->getLoc(), "cf.br", op->getOperands(), {}, {}, next);
    builder.create(branch);
    op->erase();
  }
};

struct Folder : DialectFoldInterface {
  Folder(Dialect *dialect, const MlirxDialect *descriptor)
      : DialectFoldInterface(dialect), descriptor(descriptor) {}
  bool shouldMaterializeInto(Region *region) const override {
    return descriptor->materializeInto(wrap(region->getParentOp()), region->getRegionNumber());
  }
  const MlirxDialect *descriptor;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which of them an op or a dialect has
//===----------------------------------------------------------------------===//

detail::InterfaceMap onyx::interfacesOf(const MlirxOp *op) {
  detail::InterfaceMap map;
  map.insertModels<TableOpMarker::Model>();
  if (op->effects || (op->traits & MLIRX_PURE))
    map.insertModels<EffectsModel>();
  if (op->traits & (MLIRX_PURE | MLIRX_RECURSIVE_EFFECTS))
    map.insertModels<SpeculationModel>();
  if (op->traits & MLIRX_SYMBOL)
    map.insertModels<SymbolModel>();
  if (op->regionBranch)
    map.insertModels<RegionBranchModel>();
  if (op->regionTerminator)
    map.insertModels<RegionTerminatorModel>();
  if (op->loopLike)
    map.insertModels<LoopLikeModel>();
  if (op->reify)
    map.insertModels<ReifyModel>();
  return map;
}

LogicalResult onyx::verifyInterfaces(const MlirxOp *descriptor, Operation *op) {
  if (descriptor->regionBranch && failed(detail::verifyRegionBranchOpInterface(op)))
    return failure();
  if (descriptor->loopLike && failed(detail::verifyLoopLikeOpInterface(op)))
    return failure();
  return success();
}

void onyx::addDialectInterfaces(Dialect *dialect, const MlirxDialect *descriptor) {
  if (descriptor->inlinable)
    dialect->addInterface(std::make_unique<Inliner>(dialect));
  if (descriptor->materializeInto)
    dialect->addInterface(std::make_unique<Folder>(dialect, descriptor));
}
