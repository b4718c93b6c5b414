//===- lower_krnl_region.c - lower-krnl-region
//--------------------------------------------------------===//
//
// Puts the body of each krnl.region in its place. Runs after the affine ops in it are lowered: what
// is a symbol inside need not be one outside.
//
//===----------------------------------------------------------------------===//
#include "dialects/krnl/krnl.h"
#include "passes/ir_build.h"

#include <stdlib.h>

struct regions {
  MlirOperation *ops;
  size_t n, room;
};

static MlirWalkResult gather(MlirOperation op, void *user) {
  struct regions *r = user;
  if (!mlirxIsA(op, &krnl_region))
    return MlirWalkResultAdvance;
  if (r->n == r->room) {
    r->room = r->room ? 2 * r->room : 16;
    r->ops = realloc(r->ops, sizeof(*r->ops) * r->room);
  }
  r->ops[r->n++] = op;
  return MlirWalkResultAdvance;
}

static void inline_region(MlirOperation op) {
  struct ir ir = ir_before(op);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation inner;
  while (!mlirBlockIsNull(body) && !mlirOperationIsNull(inner = mlirBlockGetFirstOperation(body))) {
    mlirOperationRemoveFromParent(inner);
    ir_insert(&ir, inner);
  }
  mlirOperationDestroy(op);
}

static MlirLogicalResult run(MlirxPass pass, MlirOperation op, void *state) {
  (void)pass;
  (void)state;
  struct regions r = {0};
  mlirOperationWalk(op, gather, &r, MlirWalkPostOrder);
  for (size_t i = 0; i < r.n; ++i)
    inline_region(r.ops[i]);
  free(r.ops);
  return mlirLogicalResultSuccess();
}

const MlirxPassDescriptor lower_krnl_region = {
    .argument = "lower-krnl-region",
    .description = "Put the bodies of krnl.region in their place",
    .run = run,
};
