// Operators over views made of text (harness.h): inferred results, messages, and values against
// numbers worked out by hand. And: every operator of the standard has one definition with a shape
// function.
#include "harness.h"

#include <stdio.h>
#include <string.h>

static int passed, failed;

static void check(const char *op, const char *what, const char *want, const char *got) {
  if (strcmp(want, got) == 0) {
    passed++;
    return;
  }
  failed++;
  printf("%s %s\n  expected %s\n  found    %s\n", op, what, want, got);
}

typedef struct shape_case {
  const char *op, *operands, *attrs, *results; // one result for each word
} shape_case;

// Verifies and infers; the results as text, or the error.
static const char *infer(fixture *f, shape_result *results) {
  if (f->view.def && f->view.def->verify && !f->view.def->verify(&f->view))
    return f->view.error;
  if (!op_infer(&f->view, results))
    return f->view.error;
  return results_text(f, results);
}

#include "ops_shapes.inc"
#include "ops_values.inc"

static int results_of(const shape_case *c) {
  int n = 1, depth = 0;
  for (const char *p = c->results; *p; p++) {
    depth += *p == '[' || *p == '{' || *p == '(';
    depth -= *p == ']' || *p == '}' || *p == ')';
    n += *p == ' ' && depth == 0;
  }
  return n;
}

static void run_shapes(void) {
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    fixture f;
    shape_result results[16];
    fixture_make(&f, shapes[k].op, shapes[k].operands, shapes[k].attrs, results_of(&shapes[k]));
    check(shapes[k].op, shapes[k].operands, shapes[k].results, infer(&f, results));
    fixture_free(&f);
  }
}

static void run_errors(void) {
  for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
    fixture f;
    shape_result results[16];
    const onyx_schema *row = onyx_schema_by_name(errors[k].op);
    fixture_make(&f, errors[k].op, errors[k].operands, errors[k].attrs,
                 row->min_outputs > 0 ? row->min_outputs : 1);
    check(errors[k].op, errors[k].operands, errors[k].results, infer(&f, results));
    fixture_free(&f);
  }
}

static void run_values(void) {
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    fixture f;
    shape_result results[16];
    void *data[16] = {NULL};
    fixture_make(&f, values[k].op, values[k].operands, values[k].attrs, results_of(&values[k]));
    const char *got = infer(&f, results);
    comprehension c;
    if (!f.view.error) {
      comp_init(&c, &f.view, results);
      if (f.view.def->comprehend(&f.view, results, &c) && comp_evaluate(&c, f.arena, 1 << 20, data))
        got = data_text(&f, results, data);
      else
        got = f.view.error;
    }
    check(values[k].op, values[k].operands, values[k].results, got);
    fixture_free(&f);
  }
}

// Costs and the text of comprehensions.
static void run_text(void) {
  static const struct {
    const char *op, *operands, *attrs, *flops;
  } costs[] = {
      {"MatMul", "f32[2,3] f32[3,4]", "", "48"}, // a product and a sum for each of 2 * 4 * 3
      {"MatMul", "f32[N,3] f32[3,4]", "", "N * 24"},
      {"Add", "f32[5,7] f32[7]", "", "35"},
      {"Transpose", "f32[5,7]", "", "0"},
      {"Sigmoid", "f32[N]", "", "N * 4"}, // negation, exponential, sum, quotient
  };
  for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
    fixture f;
    shape_result results[4];
    comprehension c;
    fixture_make(&f, costs[k].op, costs[k].operands, costs[k].attrs, 1);
    infer(&f, results);
    comp_init(&c, &f.view, results);
    bool ok = f.view.def->comprehend(&f.view, results, &c);
    check(costs[k].op, "flops", costs[k].flops, ok ? dim_name(&f, comp_flops(&c)) : f.view.error);
    fixture_free(&f);
  }
  fixture f;
  shape_result results[4];
  comprehension c;
  fixture_make(&f, "Add", "f32[2,1] f32[3]", "", 1);
  infer(&f, results);
  comp_init(&c, &f.view, results);
  f.view.def->comprehend(&f.view, results, &c);
  check("Add", "text",
        "b0 : 2 x 1 x f32\nb1 : 3 x f32\nb2 : 2 x 3 x f32 (result)\n"
        "for i0 parallel 0..2, i1 parallel 0..3:\n  b2[i0, i1] = add(b0[i0, 0], b1[i1])\n",
        comp_text(f.arena, &c));
  fixture_free(&f);
}

// Every operator has a definition and no two share a name.
static void run_table(void) {
  for (int k = 0; k < onyx_num_operators; k++) {
    const char *name = onyx_schema_newest_rows[k]->name;
    const op_def *def = op_def_find(name);
    check(name, "has a shape function", "yes", def && def->shape ? "yes" : "no");
  }
  for (int k = 0; op_def_at(k); k++) {
    const op_def *def = op_def_at(k), *next = op_def_at(k + 1);
    check(def->name, "is defined once", "yes",
          next && strcmp(next->name, def->name) == 0 ? "no" : "yes");
    check(def->name, "is an operator of the standard", "yes",
          onyx_schema_by_name(def->name) ? "yes" : "no");
  }
}

int main(int argc, char **argv) {
  run_table();
  run_shapes();
  run_errors();
  run_values();
  run_text();
  printf("%d passed, %d failed\n", passed, failed);
  FILE *out = argc > 2 && strcmp(argv[1], "--counts") == 0 ? fopen(argv[2], "w") : NULL;
  if (out) {
    fprintf(out, "%d %d 0\n", passed, failed);
    fclose(out);
  }
  return failed > 0;
}
