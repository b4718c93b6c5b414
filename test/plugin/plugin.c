// Entry points of the test plugin.
#include "seam.h"

#include "mlirx/plugin.h"

#include <stddef.h>

static void add_passes(void) {
  for (const MlirxPassDescriptor *const *pass = seam_passes; *pass; ++pass)
    mlirxRegisterPass(*pass);
  for (const MlirxPipeline *const *pipeline = seam_pipelines; *pipeline; ++pipeline)
    mlirxRegisterPipeline(*pipeline);
}

static void add_dialect(MlirDialectRegistry registry) {
  mlirxRegisterDialect(registry, &seam_dialect);
  add_passes();
}

MlirxPluginInfo mlirGetDialectPluginInfo(void) {
  return (MlirxPluginInfo){MLIRX_PLUGIN_API_VERSION, "seam-test", "1", {.dialects = add_dialect}};
}

MlirxPluginInfo mlirGetPassPluginInfo(void) {
  return (MlirxPluginInfo){MLIRX_PLUGIN_API_VERSION, "seam-test", "1", {.passes = add_passes}};
}
