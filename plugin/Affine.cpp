//===- Affine.cpp - What mlir-c 22 lacks of the affine dialect -----------------------------===//
//
// Each function here forwards to one of affine's analyses; a C API for them would replace it.
//
//===----------------------------------------------------------------------===//

#include "Seam.h"

#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

#include <limits>

using namespace mlir;

bool mlirxAffineIsDim(MlirValue value, MlirOperation at) {
  return affine::isValidDim(unwrap(value), affine::getAffineScope(unwrap(at)));
}

bool mlirxAffineIsSymbol(MlirValue value, MlirOperation at) {
  return affine::isValidSymbol(unwrap(value), affine::getAffineScope(unwrap(at)));
}

unsigned mlirxAffineCommonLoops(MlirOperation a, MlirOperation b) {
  return affine::getNumCommonSurroundingLoops(*unwrap(a), *unwrap(b));
}

MlirxDependence mlirxAffineDependence(MlirOperation from, MlirOperation to, unsigned depth,
                                      int64_t *lower, int64_t *upper) {
  affine::MemRefAccess source(unwrap(from)), target(unwrap(to));
  SmallVector<affine::DependenceComponent, 2> components;
  affine::DependenceResult result =
      affine::checkMemrefAccessDependence(source, target, depth, nullptr, &components);
  if (result.value == affine::DependenceResult::NoDependence)
    return MLIRX_NO_DEPENDENCE;
  if (result.value == affine::DependenceResult::Failure)
    return MLIRX_UNKNOWN_DEPENDENCE;
  unsigned n = mlirxAffineCommonLoops(from, to);
  for (unsigned i = 0; i < n; ++i) {
    bool known = i < components.size();
    lower[i] = known && components[i].lb ? *components[i].lb : std::numeric_limits<int64_t>::min();
    upper[i] = known && components[i].ub ? *components[i].ub : std::numeric_limits<int64_t>::max();
  }
  return MLIRX_DEPENDENCE;
}
