//===- plugin.h - The entry points of an mlir-opt plugin, in C -----------------------------===//
//
// A plugin of one's own defines one or both of mlirGetDialectPluginInfo and mlirGetPassPluginInfo,
// links libonyx-core.so, and registers descriptors in the callback:
//
//   static void add(MlirDialectRegistry registry) { mlirxRegisterDialect(registry, &my_dialect); }
//   MlirxPluginInfo mlirGetDialectPluginInfo(void) {
//     return (MlirxPluginInfo){MLIRX_PLUGIN_API_VERSION, "my", "1.0", {.dialects = add}};
//   }
//
//===----------------------------------------------------------------------===//
#ifndef MLIRX_PLUGIN_H
#define MLIRX_PLUGIN_H

#include "mlirx/mlirx.h"

#include <stdint.h>

#define MLIRX_PLUGIN_API_VERSION 1 // of MLIR 22

// Laid out as mlir::DialectPluginLibraryInfo and mlir::PassPluginLibraryInfo are.
typedef struct MlirxPluginInfo {
  uint32_t apiVersion;
  const char *name;
  const char *version;
  union {
    void (*dialects)(MlirDialectRegistry registry);
    void (*passes)(void);
  } callback;
} MlirxPluginInfo;

MLIRX_EXPORT MlirxPluginInfo mlirGetDialectPluginInfo(void);
MLIRX_EXPORT MlirxPluginInfo mlirGetPassPluginInfo(void);

#endif // MLIRX_PLUGIN_H
