//===- shim.c - What mlir-opt loads ----------------------------------------------------------===//
//
// mlir-opt drops a plugin that it cannot load with "Request ignored." and exit 0, and a plugin
// built for another LLVM crashes it. So this library has no symbol of MLIR: it compares versions,
// says what is wrong in one line, and opens the core library beside it.
//
//===----------------------------------------------------------------------===//

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions called by address return C++ structs of the same layout, which -fsanitize=function
// takes for other types.
#ifdef __clang__
#define EXPORT __attribute__((visibility("default"), no_sanitize("function")))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

// mlir::DialectPluginLibraryInfo and mlir::PassPluginLibraryInfo, which are laid out alike.
typedef struct plugin_info {
  uint32_t api_version;
  const char *name;
  const char *version;
  void (*register_callback)(void *registry);
} plugin_info;

EXPORT plugin_info mlirGetDialectPluginInfo(void);
EXPORT plugin_info mlirGetPassPluginInfo(void);
EXPORT const void *onyx_op_lookup(const char *name);

static _Noreturn void die(const char *what, const char *detail) {
  fprintf(stderr, "onyx: %s%s\n", what, detail);
  exit(1);
}

// Major and minor must agree: libMLIR's name carries both, its C++ interface changes with them.
static void check_version(void) {
  void (*get_version)(unsigned *, unsigned *, unsigned *);
  *(void **)&get_version = dlsym(RTLD_DEFAULT, "LLVMGetVersion");
  if (!get_version)
    die("this process has no shared LLVM; the plugin needs an mlir-opt linked to libLLVM.so." //
        ONYX_LLVM_VERSION,
        "");
  unsigned major = 0, minor = 0, patch = 0;
  get_version(&major, &minor, &patch);
  char version[64];
  snprintf(version, sizeof version, "%u.%u", major, minor);
  if (strcmp(version, ONYX_LLVM_VERSION) == 0)
    return;
  snprintf(version, sizeof version, "%u.%u.%u", major, minor, patch);
  die("this plugin is built for LLVM " ONYX_LLVM_VERSION ", the tool that loads it runs LLVM ",
      version);
}

// The core library stands in the folder of this one.
static void *open_core(void) {
  check_version();
  Dl_info self;
  if (!dladdr((void *)(uintptr_t)open_core, &self) || !self.dli_fname)
    die("cannot find the plugin's own folder", "");
  const char *slash = strrchr(self.dli_fname, '/');
  int length = slash ? (int)(slash - self.dli_fname) : 1;
  char path[4096];
  int n = snprintf(path, sizeof path, "%.*s/libonyx-core.so", length, slash ? self.dli_fname : ".");
  if (n < 0 || (size_t)n >= sizeof path)
    die("the plugin's path is too long: ", self.dli_fname);
  void *core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!core)
    die("cannot load the plugin: ", dlerror());
  return core;
}

static void *core_symbol(const char *name) {
  static void *core; // set once: plugins load one after the other, and dlopen gives one handle
  if (!core)
    core = open_core();
  void *symbol = dlsym(core, name);
  if (!symbol)
    die("cannot load the plugin: ", dlerror());
  return symbol;
}

plugin_info mlirGetDialectPluginInfo(void) {
  plugin_info (*get)(void);
  *(void **)&get = core_symbol("mlirGetDialectPluginInfo");
  return get();
}

plugin_info mlirGetPassPluginInfo(void) {
  plugin_info (*get)(void);
  *(void **)&get = core_symbol("mlirGetPassPluginInfo");
  return get();
}

const void *onyx_op_lookup(const char *name) {
  const void *(*lookup)(const char *);
  *(void **)&lookup = core_symbol("onyx_op_lookup");
  return lookup(name);
}
