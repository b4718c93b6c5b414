// onyx-run: runs a compiled model on files, text or random inputs, compares, times, saves.
#include "runtime/run/compare.h"
#include "runtime/run/files.h"
#include "runtime/run/random.h"
#include "runtime/value.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { OK = 0, WRONG = 1, USAGE = 2 };

static const char help[] =
    "usage: onyx-run MODEL.so [options]\n"
    "\n"
    "Runs a model compiled by onyx-compile. Prints the outputs unless they are compared, saved or "
    "timed.\n"
    "\n"
    "  --input V             next input: x.pb (TensorProto, SequenceProto, OptionalProto), x.npy,\n"
    "                        or text: '2x3xf32=1 2 3 4 5 6', 'i64=7', '2xstr=a \"b c\"', 'none'\n"
    "  --expected-output V   next expected output; a mismatch shows the worst element and exits 1\n"
    "  --rtol R, --atol A    allowed: |got - expected| <= A + R * |expected| (1e-3, 1e-5); "
    "integers exactly\n"
    "  --dim NAME=N          size of a symbolic dimension of random inputs (default 1)\n"
    "  --shape I=2x3         shape of random input I (number or name)\n"
    "  --seed S              of random inputs (default 0)\n"
    "  --runs N              run N times and print the times; --warmup N: runs before those "
    "(default 1)\n"
    "  --threads N           threads of one run\n"
    "  --save DIR            write output_I.npy (.pb for what NumPy lacks)\n"
    "  --limit N             elements of an output to print (default 64)\n"
    "  --weights DIR         where the model's weights files are\n"
    "  --copy-weights        read them instead of mapping them; --no-verify: do not check their "
    "fingerprint\n"
    "  --describe            print inputs and outputs, and stop\n"
    "  --help, --version\n"
    "\n"
    "Without --input the inputs are random, the same on every machine (floats in [0, 1), integers "
    "below 10).\n"
    "Exit code: 0, 1 for a mismatch or an error of the model or a file, 2 for wrong usage.\n";

//===-- Arguments ---------------------------------------------------------------------------===//

typedef struct list {
  int count;
  const char **items;
} list;

typedef struct arguments {
  const char *model;
  list inputs, expected, dims, shapes;
  tolerance tol;
  uint64_t seed;
  long runs, warmup, limit;
  const char *save;
  bool describe;
  onyx_options options;
} arguments;

static int usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int usage(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("onyx-run: ", stderr);
  vfprintf(stderr, format, args);
  fputs("\nonyx-run --help tells the options\n", stderr);
  va_end(args);
  return USAGE;
}

static int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("onyx-run: error: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return WRONG;
}

enum option_code {
  INPUT = 256,
  EXPECTED,
  RTOL,
  ATOL,
  DIM,
  SHAPE,
  SEED,
  RUNS,
  WARMUP,
  THREADS,
  SAVE,
  LIMIT,
  WEIGHTS,
  COPY,
  NO_VERIFY,
  DESCRIBE,
  HELP,
  VERSION
};

static const struct option option_table[] = {{"input", required_argument, NULL, INPUT},
                                             {"expected-output", required_argument, NULL, EXPECTED},
                                             {"rtol", required_argument, NULL, RTOL},
                                             {"atol", required_argument, NULL, ATOL},
                                             {"dim", required_argument, NULL, DIM},
                                             {"shape", required_argument, NULL, SHAPE},
                                             {"seed", required_argument, NULL, SEED},
                                             {"runs", required_argument, NULL, RUNS},
                                             {"warmup", required_argument, NULL, WARMUP},
                                             {"threads", required_argument, NULL, THREADS},
                                             {"save", required_argument, NULL, SAVE},
                                             {"limit", required_argument, NULL, LIMIT},
                                             {"weights", required_argument, NULL, WEIGHTS},
                                             {"copy-weights", no_argument, NULL, COPY},
                                             {"no-verify", no_argument, NULL, NO_VERIFY},
                                             {"describe", no_argument, NULL, DESCRIBE},
                                             {"help", no_argument, NULL, HELP},
                                             {"version", no_argument, NULL, VERSION},
                                             {NULL, 0, NULL, 0}};

static bool read_count(const char *text, long min, long max, long *value) {
  char *end;
  errno = 0;
  *value = strtol(text, &end, 10);
  return end != text && !*end && !errno && *value >= min && *value <= max;
}

static bool read_tolerance(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && !*end && *value >= 0;
}

static bool append(list *l, const char *item) {
  const char **more = realloc(l->items, (size_t)(l->count + 1) * sizeof *more);
  if (!more)
    return false;
  l->items = more;
  l->items[l->count++] = item;
  return true;
}

// -1 to go on, else the exit code.
static int take_option(arguments *a, int option, const char *text) {
  long number = 0;
  bool ok = true;
  switch (option) {
  case INPUT:
    ok = append(&a->inputs, text);
    break;
  case EXPECTED:
    ok = append(&a->expected, text);
    break;
  case DIM:
    ok = append(&a->dims, text) && strchr(text, '=');
    break;
  case SHAPE:
    ok = append(&a->shapes, text) && strchr(text, '=');
    break;
  case RTOL:
    ok = read_tolerance(text, &a->tol.rtol);
    break;
  case ATOL:
    ok = read_tolerance(text, &a->tol.atol);
    break;
  case SEED:
    ok = read_count(text, 0, LONG_MAX, &number);
    a->seed = (uint64_t)number;
    break;
  case RUNS:
    ok = read_count(text, 1, 1000000000, &a->runs);
    break;
  case WARMUP:
    ok = read_count(text, 0, 1000000000, &a->warmup);
    break;
  case LIMIT:
    ok = read_count(text, 0, LONG_MAX, &a->limit);
    break;
  case THREADS:
    ok = read_count(text, 1, 4096, &number);
    a->options.num_threads = (int32_t)number;
    break;
  case SAVE:
    a->save = text;
    break;
  case WEIGHTS:
    a->options.weights_dir = text;
    break;
  case COPY:
    a->options.flags |= ONYX_COPY_WEIGHTS;
    break;
  case NO_VERIFY:
    a->options.flags |= ONYX_SKIP_VERIFY;
    break;
  case DESCRIBE:
    a->describe = true;
    break;
  case HELP:
    fputs(help, stdout);
    return OK;
  case VERSION:
    puts("onyx-run " ONYX_VERSION);
    return OK;
  default:
    return usage("unknown option or missing value");
  }
  return ok ? -1 : usage("bad value \"%s\"", text);
}

static int read_arguments(int argc, char **argv, arguments *a) {
  opterr = 0;
  for (int option, index = 0;
       (option = getopt_long(argc, argv, "h", option_table, &index)) != -1;) {
    if (option == '?' || option == ':')
      return usage("unknown option or missing value: %s", argv[optind - 1]);
    int code = take_option(a, option == 'h' ? HELP : option, optarg);
    if (code >= 0)
      return code;
  }
  if (optind + 1 != argc)
    return usage(optind < argc ? "more than one model" : "no model");
  a->model = argv[optind];
  return -1;
}

//===-- The model ---------------------------------------------------------------------------===//

typedef struct model {
  void *library;
  onyx_model *handle;
  const onyx_signature *signature;
  onyx_model_create_fn *create;
  onyx_model_run_fn *run;
  onyx_model_signature_fn *get_signature;
  onyx_model_destroy_fn *destroy;
} model;

static int open_model(const arguments *a, model *m) {
  // A bare name would be looked for among the system's libraries.
  char path[4096];
  int n = snprintf(path, sizeof path, "%s%s", strchr(a->model, '/') ? "" : "./", a->model);
  if (n < 0 || n >= (int)sizeof path)
    return fail("path too long");
  m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!m->library)
    return fail("%s", dlerror());
  *(void **)&m->create = dlsym(m->library, "onyx_model_create");
  *(void **)&m->run = dlsym(m->library, "onyx_model_run");
  *(void **)&m->get_signature = dlsym(m->library, "onyx_model_signature");
  *(void **)&m->destroy = dlsym(m->library, "onyx_model_destroy");
  if (!m->create || !m->run || !m->get_signature || !m->destroy)
    return fail("%s is no compiled model", a->model);
  onyx_error error;
  m->handle = m->create(&a->options, &error);
  if (!m->handle)
    return fail("%s: %s", a->model, error.message);
  m->signature = m->get_signature(m->handle);
  return OK;
}

static void close_model(model *m) {
  if (m->handle)
    m->destroy(m->handle);
  if (m->library)
    dlclose(m->library);
}

static void describe_list(const char *what, const onyx_parameter *params, size_t count) {
  for (size_t i = 0; i < count; i++) {
    printf("%s %zu \"%s\": %s", what, i, params[i].name, params[i].text);
    const onyx_type *type = &params[i].type;
    bool first = true;
    for (int d = 0; type->dims && d < type->rank; d++)
      if (type->dims[d].name) {
        printf("%s%d = %s", first ? "  (" : ", ", d, type->dims[d].name);
        first = false;
      }
    puts(first ? "" : ")");
  }
}

static void describe(const model *m) {
  printf("entry %s, made by %s\n", m->signature->entry, m->signature->producer);
  describe_list("input", m->signature->inputs, m->signature->num_inputs);
  describe_list("output", m->signature->outputs, m->signature->num_outputs);
}

//===-- Inputs ------------------------------------------------------------------------------===//

static int read_values(const list *arguments, const onyx_parameter *params, onyx_value *values) {
  for (int i = 0; i < arguments->count; i++) {
    read_error error;
    if (!value_read(arguments->items[i], &params[i].type, &values[i], &error))
      return fail("%.200s: %s", arguments->items[i], error.text);
  }
  return OK;
}

// "2x3" into `rank` sizes.
static bool read_shape(const char *text, int rank, int64_t *shape) {
  for (int i = 0; i < rank; i++) {
    char *end;
    errno = 0;
    shape[i] = strtoll(text, &end, 10);
    if (end == text || errno || shape[i] < 0 || *end != (i + 1 < rank ? 'x' : 0))
      return false;
    text = end + (*end == 'x');
  }
  return !*text;
}

static bool names_input(const char *key, size_t length, size_t index, const char *name) {
  char number[24];
  snprintf(number, sizeof number, "%zu", index);
  return (strlen(number) == length && !memcmp(number, key, length)) ||
         (strlen(name) == length && !memcmp(name, key, length));
}

static bool dim_size(const arguments *a, const char *name, int64_t *size) {
  *size = 1;
  for (int i = 0; name && i < a->dims.count; i++) {
    const char *text = a->dims.items[i], *equals = strchr(text, '=');
    long number;
    if (strlen(name) != (size_t)(equals - text) || memcmp(name, text, strlen(name)))
      continue;
    if (!read_count(equals + 1, 0, LONG_MAX, &number))
      return false;
    *size = number;
  }
  return true;
}

static int random_shape(const arguments *a, const onyx_parameter *param, size_t index,
                        int64_t *shape) {
  for (int d = 0; param->type.dims && d < param->type.rank; d++) {
    shape[d] = param->type.dims[d].size;
    if (shape[d] < 0 && !dim_size(a, param->type.dims[d].name, &shape[d]))
      return usage("bad size for --dim %s", param->type.dims[d].name);
  }
  for (int i = 0; i < a->shapes.count; i++) {
    const char *text = a->shapes.items[i], *equals = strrchr(text, '=');
    if (names_input(text, (size_t)(equals - text), index, param->name) &&
        !read_shape(equals + 1, param->type.rank, shape))
      return usage("--shape %s does not fit %s", text, param->text);
  }
  return OK;
}

static int random_values(const arguments *a, const onyx_signature *sig, onyx_value *values) {
  for (size_t i = 0; i < sig->num_inputs; i++) {
    const onyx_parameter *param = &sig->inputs[i];
    int64_t *shape =
        calloc((size_t)(param->type.rank > 0 ? param->type.rank : 0) + 1, sizeof *shape);
    int code = shape ? random_shape(a, param, i, shape) : fail("no memory");
    if (code == OK && !random_value(&param->type, shape, a->seed, i, &values[i]))
      code =
          fail("cannot make a random value for input %zu \"%s\": %s", i, param->name, param->text);
    free(shape);
    if (code != OK)
      return code;
  }
  return OK;
}

static int make_inputs(const arguments *a, const onyx_signature *sig, onyx_value *values) {
  if (a->inputs.count == 0)
    return random_values(a, sig, values);
  if ((size_t)a->inputs.count != sig->num_inputs)
    return usage("the model has %zu inputs, %d are given", sig->num_inputs, a->inputs.count);
  return read_values(&a->inputs, sig->inputs, values);
}

//===-- Runs --------------------------------------------------------------------------------===//

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void release_all(onyx_value *values, size_t count) {
  for (size_t i = 0; values && i < count; i++)
    onyx_value_release(&values[i]);
}

static int run_once(const model *m, const onyx_value *in, onyx_value *out, double *ms) {
  onyx_error error;
  release_all(out, m->signature->num_outputs);
  double start = now();
  int code = m->run(m->handle, in, out, &error);
  *ms = now() - start;
  return code ? fail("%s", error.message) : OK;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_times(double *ms, long runs) {
  double sum = 0;
  for (long i = 0; i < runs; i++)
    sum += ms[i];
  qsort(ms, (size_t)runs, sizeof *ms, by_value);
  double median = runs % 2 ? ms[runs / 2] : (ms[runs / 2 - 1] + ms[runs / 2]) / 2;
  printf("%ld run%s: min %.3f ms, median %.3f ms, mean %.3f ms\n", runs, runs == 1 ? "" : "s",
         ms[0], median, sum / (double)runs);
}

// Leaves the outputs of the last run.
static int run_all(const arguments *a, const model *m, const onyx_value *in, onyx_value *out) {
  long runs = a->runs ? a->runs : 1, warmup = a->runs ? a->warmup : 0;
  double *ms = calloc((size_t)runs, sizeof *ms), ignored;
  if (!ms)
    return fail("no memory");
  int code = OK;
  for (long i = 0; code == OK && i < warmup; i++)
    code = run_once(m, in, out, &ignored);
  for (long i = 0; code == OK && i < runs; i++)
    code = run_once(m, in, out, &ms[i]);
  if (code == OK && a->runs)
    print_times(ms, runs);
  free(ms);
  return code;
}

//===-- Outputs -----------------------------------------------------------------------------===//

// Every output is compared, also after one that is wrong.
static int compare_all(const arguments *a, const onyx_signature *sig, const onyx_value *out,
                       onyx_value *expected) {
  int code = read_values(&a->expected, sig->outputs, expected);
  bool read = code == OK;
  for (int i = 0; read && i < a->expected.count; i++) {
    char what[160];
    snprintf(what, sizeof what, "output %d \"%.120s\"", i, sig->outputs[i].name);
    if (value_compare(what, &out[i], &expected[i], a->tol, stderr))
      printf("%s: ok\n", what);
    else
      code = WRONG;
  }
  return code;
}

static int save_one(const char *dir, size_t index, const onyx_value *value) {
  char path[4096];
  bool npy = npy_can_write(value);
  int n = snprintf(path, sizeof path, "%s/output_%zu.%s", dir, index, npy ? "npy" : "pb");
  if (n < 0 || n >= (int)sizeof path)
    return fail("path too long");
  FILE *file = fopen(path, "wb");
  if (!file)
    return fail("%s: %s", path, strerror(errno));
  bool ok = npy ? npy_write(file, value) : pb_write(file, value);
  ok &= !ferror(file);
  if (fclose(file) || !ok)
    return fail("%s: cannot be written", path);
  return OK;
}

static int save_all(const char *dir, const onyx_signature *sig, const onyx_value *out) {
  if (mkdir(dir, 0777) && errno != EEXIST)
    return fail("%s: %s", dir, strerror(errno));
  for (size_t i = 0; i < sig->num_outputs; i++)
    if (save_one(dir, i, &out[i]))
      return WRONG;
  return OK;
}

static void print_all(const arguments *a, const onyx_signature *sig, const onyx_value *out) {
  for (size_t i = 0; i < sig->num_outputs; i++) {
    printf("%s: ", sig->outputs[i].name);
    text_write(stdout, &out[i], a->limit);
    putchar('\n');
  }
}

static int use_outputs(const arguments *a, const onyx_signature *sig, const onyx_value *out,
                       onyx_value *expected) {
  int code = a->save ? save_all(a->save, sig, out) : OK;
  if (a->expected.count)
    return code | compare_all(a, sig, out, expected);
  if (!a->save && !a->runs)
    print_all(a, sig, out);
  return code;
}

static int run(const arguments *a, const model *m) {
  const onyx_signature *sig = m->signature;
  if ((size_t)a->expected.count > sig->num_outputs)
    return usage("the model has %zu outputs, %d are expected", sig->num_outputs, a->expected.count);
  onyx_value *in = calloc(sig->num_inputs + 1, sizeof *in),
             *out = calloc(sig->num_outputs + 1, sizeof *out),
             *expected = calloc(sig->num_outputs + 1, sizeof *expected);
  int code = in && out && expected ? make_inputs(a, sig, in) : fail("no memory");
  if (code == OK)
    code = run_all(a, m, in, out);
  if (code == OK)
    code = use_outputs(a, sig, out, expected);
  release_all(in, sig->num_inputs);
  release_all(out, sig->num_outputs);
  release_all(expected, sig->num_outputs);
  free(in);
  free(out);
  free(expected);
  return code;
}

int main(int argc, char **argv) {
  arguments a = {
      .tol = {1e-3, 1e-5}, .warmup = 1, .limit = 64, .options = {.size = sizeof a.options}};
  model m = {0};
  int code = read_arguments(argc, argv, &a);
  if (code < 0) {
    code = open_model(&a, &m);
    if (code == OK && a.describe)
      describe(&m);
    else if (code == OK)
      code = run(&a, &m);
    close_model(&m);
  }
  free(a.inputs.items);
  free(a.expected.items);
  free(a.dims.items);
  free(a.shapes.items);
  if (fflush(stdout) || ferror(stdout))
    code = code ? code : fail("standard output: %s", strerror(errno));
  return code;
}
