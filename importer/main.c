// onyx-import: an ONNX model to MLIR text.
#include "importer/import.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: onyx-import MODEL.onnx [-o OUT.mlir] [options]\n"
    "  MODEL.onnx            the model, - for standard input\n"
    "  -o FILE               where the text goes (default: standard output)\n"
    "  --inline-elements N   constants up to N elements stand in the text (default 64)\n"
    "  --weights FORM        of larger ones: file (default), inline, resource\n"
    "  --dim NAME=N          size of a symbolic dimension (repeatable)\n"
    "  --shape INPUT=1,?,3   dimensions of an input (repeatable)\n"
    "  --batch N             first dimension of every input\n"
    "  --inputs A,B          import a part: these values become its inputs\n"
    "  --outputs A,B         and these its outputs\n"
    "  --use-value-info      take shapes of intermediate values from the model\n"
    "  --keep-functions      local functions stay functions where their types can be said\n"
    "  --entry NAME          name of the function (default main_graph)\n"
    "  --docs                keep documentation strings\n"
    "  --stats               print a short account instead of the text\n"
    "  -q, --quiet           no notes\n"
    "  -h, --help            this text\n"
    "  --version             the version\n"
    "exit codes: 0 done, 1 the model cannot be imported, 2 wrong usage\n";

enum {
  INLINE_ELEMENTS = 256,
  WEIGHTS,
  USE_VALUE_INFO,
  ENTRY,
  DOCS,
  STATS,
  VERSION,
  DIM,
  SHAPE,
  BATCH,
  INPUTS,
  OUTPUTS,
  KEEP_FUNCTIONS
};

static const struct option long_options[] = {
    {"inline-elements", required_argument, NULL, INLINE_ELEMENTS},
    {"weights", required_argument, NULL, WEIGHTS},
    {"use-value-info", no_argument, NULL, USE_VALUE_INFO},
    {"keep-functions", no_argument, NULL, KEEP_FUNCTIONS},
    {"entry", required_argument, NULL, ENTRY},
    {"dim", required_argument, NULL, DIM},
    {"shape", required_argument, NULL, SHAPE},
    {"batch", required_argument, NULL, BATCH},
    {"inputs", required_argument, NULL, INPUTS},
    {"outputs", required_argument, NULL, OUTPUTS},
    {"docs", no_argument, NULL, DOCS},
    {"stats", no_argument, NULL, STATS},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static _Noreturn void wrong(const char *what, const char *value) {
  fprintf(stderr, "onyx-import: %s '%s'; see onyx-import --help\n", what, value);
  exit(2);
}

static int64_t number(const char *text, const char *option) {
  char *end;
  errno = 0;
  long long v = strtoll(text, &end, 10);
  if (errno || *end || end == text || v < 0)
    wrong(option, text);
  return v;
}

static void take_option(import_options *o, int option) {
  switch (option) {
  case 'o':
    o->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
    return;
  case 'q':
    o->quiet = true;
    return;
  case INLINE_ELEMENTS:
    o->inline_elements = number(optarg, "--inline-elements takes a number, not");
    return;
  case WEIGHTS:
    if (strcmp(optarg, "file") == 0)
      o->weights = WEIGHTS_FILE;
    else if (strcmp(optarg, "inline") == 0)
      o->weights = WEIGHTS_INLINE;
    else if (strcmp(optarg, "resource") == 0)
      o->weights = WEIGHTS_RESOURCE;
    else
      wrong("--weights takes file, inline or resource, not", optarg);
    return;
  case USE_VALUE_INFO:
    o->use_value_info = true;
    return;
  case ENTRY:
    if (!*optarg)
      wrong("--entry takes a name, not", optarg);
    o->entry = optarg;
    return;
  case DIM:
    o->dims[o->num_dims++] = optarg;
    return;
  case SHAPE:
    o->shapes[o->num_shapes++] = optarg;
    return;
  case BATCH:
    o->batch = number(optarg, "--batch takes a number, not");
    return;
  case INPUTS:
    o->inputs = optarg;
    return;
  case OUTPUTS:
    o->outputs = optarg;
    return;
  case KEEP_FUNCTIONS:
    o->keep_functions = true;
    return;
  case DOCS:
    o->docs = true;
    return;
  case STATS:
    o->stats = true;
    return;
  case 'h':
    fputs(usage, stdout);
    exit(0);
  case VERSION:
    puts("onyx-import " ONYX_VERSION);
    exit(0);
  default:
    exit(2);
  }
}

int main(int argc, char **argv) {
  import_options o = {.inline_elements = 64, .entry = "main_graph", .batch = -1};
  int option;
  // An argument is at most one of each.
  o.dims = calloc((size_t)argc, sizeof *o.dims);
  o.shapes = calloc((size_t)argc, sizeof *o.shapes);
  if (!o.dims || !o.shapes) {
    fputs("onyx-import: out of memory\n", stderr);
    return 1;
  }
  argv[0] = (char *)"onyx-import"; // getopt's messages begin with it
  while ((option = getopt_long(argc, argv, "o:qh", long_options, NULL)) != -1)
    take_option(&o, option);
  if (optind == argc) {
    fputs("onyx-import: no model; see onyx-import --help\n", stderr);
    return 2;
  }
  if (optind + 1 < argc)
    wrong("more than one model:", argv[optind + 1]);
  o.input = argv[optind];
  char message[MESSAGE_MAX];
  int failed = onyx_import_run(&o, message);
  if (failed)
    fprintf(stderr, "onyx-import: %s: %s\n", o.input, message);
  free(o.dims);
  free(o.shapes);
  return failed;
}
