// The generated table against counts and rows read off the standard.
#include "dialects/onnx/schema/fingerprint.h"
#include "dialects/onnx/schema/schema.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void check(bool ok, const char *what, int line) {
  if (!ok) {
    fprintf(stderr, "schema_test.c:%d: %s\n", line, what);
    failures++;
  }
}
#define CHECK(x) check((x), #x, __LINE__)

static bool accepts(const onyx_schema *row, const onyx_schema_param *param, const char *type) {
  for (int i = 0; i < onyx_schema_num_types; i++)
    if (strcmp(onyx_schema_types[i].text, type) == 0)
      return onyx_type_set_has(&row->constraints[param->constraint].types, i);
  return false;
}

static void test_table(void) {
  CHECK(onyx_num_schemas == 642);
  CHECK(onyx_num_operators == 227);
  CHECK(onyx_schema_newest_opset == 28);
  for (int i = 0; i < onyx_num_schemas; i++) {
    const onyx_schema *row = &onyx_schemas[i];
    CHECK(onyx_schema_at(row->domain, row->name, row->since) == row);
    CHECK(row->max_inputs == ONYX_UNBOUNDED || row->min_inputs <= row->max_inputs);
    for (int k = 0; k < row->num_attrs; k++)
      CHECK(onyx_schema_attr_find(row, row->attrs[k].name) == &row->attrs[k]);
    for (int k = 0; k < row->num_inputs; k++)
      CHECK(row->inputs[k].constraint < row->num_constraints);
  }
  for (int i = 0; i < onyx_num_operators; i++)
    CHECK(onyx_schema_by_name(onyx_schema_newest_rows[i]->name) == onyx_schema_newest_rows[i]);
  for (int i = 0; i < onyx_schema_num_types; i++)
    CHECK((onyx_schema_types[i].of >= 0) == (onyx_schema_types[i].kind == ONYX_TYPE_SEQ ||
                                             onyx_schema_types[i].kind == ONYX_TYPE_OPT));
}

static void test_conv(void) {
  const onyx_schema *conv = onyx_schema_newest("", "Conv");
  CHECK(conv && conv->since == 22 && conv->num_inputs == 3 && conv->num_attrs == 6);
  CHECK(conv->min_inputs == 2 && conv->max_inputs == 3 && conv->inputs[2].optional);
  CHECK(strcmp(conv->attrs[0].name, "auto_pad") == 0);
  CHECK(strcmp(conv->attrs[0].default_string, "NOTSET") == 0);
  const onyx_schema_attr *group = onyx_schema_attr_find(conv, "group");
  CHECK(group && group->kind == ONYX_ATTR_INT && group->has_default && group->default_int == 1);
  CHECK(accepts(conv, onyx_schema_input(conv, 0), "tensor(bfloat16)"));
  CHECK(!accepts(conv, onyx_schema_input(conv, 0), "tensor(int32)"));
  CHECK(onyx_schema_input(conv, 3) == NULL);
  CHECK(onyx_schema_at("ai.onnx", "Conv", 12)->since == 11);
}

static void test_others(void) {
  const onyx_schema *concat = onyx_schema_newest("", "Concat");
  CHECK(concat->max_inputs == ONYX_UNBOUNDED && onyx_schema_input(concat, 7) == concat->inputs);
  CHECK(onyx_schema_at("", "Gelu", 19) == NULL && onyx_schema_at("", "Gelu", 20) != NULL);
  CHECK(onyx_schema_newest("", "Scaler") == NULL && onyx_schema_newest("ai.onnx.ml", "Scaler"));
  CHECK(onyx_schema_newest("com.microsoft", "Add") == NULL);
  CHECK(onyx_schema_by_name("NoSuchOp") == NULL);
  // A parameter with a plain type has a constraint of that name.
  const onyx_schema *gather = onyx_schema_newest("", "Reshape");
  CHECK(strcmp(gather->constraints[gather->inputs[1].constraint].name, "tensor(int64)") == 0);
  // Clip-6 bounds are the largest floats although the facts round them.
  const onyx_schema_attr *max = onyx_schema_attr_find(onyx_schema_at("", "Clip", 6), "max");
  CHECK((float)max->default_float == 3.4028234663852886e38f);
  // The standard's alpha of Selu-6 is 1.67326319217681884765625; the facts give six digits.
  const onyx_schema_attr *alpha = onyx_schema_attr_find(onyx_schema_newest("", "Selu"), "alpha");
  CHECK((float)alpha->default_float == 1.67326319217681884765625f);
  const onyx_schema_attr *acts =
      onyx_schema_attr_find(onyx_schema_newest("", "RNN"), "activations");
  CHECK(acts->num_defaults == 2 && strcmp(acts->default_strings[1], "Tanh") == 0);
}

static void test_elements(void) {
  CHECK(onyx_elem_bits(ONYX_I4) == 4 && onyx_elem_bits(ONYX_BOOL) == 8);
  CHECK(strcmp(onyx_elem_mlir_name(ONYX_U16), "ui16") == 0);
  CHECK(onyx_elem_is_float(ONYX_F4E2M1) && !onyx_elem_is_float(ONYX_C64));
  CHECK(onyx_elem_is_int(ONYX_U2) && !onyx_elem_is_int(ONYX_BOOL));
  CHECK(onyx_elem_onnx_name((onyx_elem)99) == NULL);
  for (int e = 1; e < ONYX_ELEM_COUNT; e++)
    CHECK(onyx_schema_tensor_type((onyx_elem)e) >= 0);
}

static void test_fingerprint(void) {
  // FNV-1a-64 of eight zero bytes: offset basis times prime^8, as the xor with 0 changes nothing.
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; i++)
    hash *= 0x100000001b3u;
  CHECK(onyx_fingerprint_bytes("", 0) == hash);
  static char bytes[4096 * 70];
  uint64_t before = onyx_fingerprint_bytes(bytes, sizeof bytes);
  bytes[sizeof bytes - 1] = 1; // in the last block, which is always sampled
  CHECK(onyx_fingerprint_bytes(bytes, sizeof bytes) != before);
  FILE *file = tmpfile();
  bool ok = false;
  CHECK(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fflush(file) == 0);
  CHECK(onyx_fingerprint_fd(fileno(file), sizeof bytes, &ok) ==
        onyx_fingerprint_bytes(bytes, sizeof bytes));
  CHECK(ok);
  onyx_fingerprint_fd(fileno(file), sizeof bytes + 1, &ok);
  CHECK(!ok);
  fclose(file);
}

int main(void) {
  test_table();
  test_conv();
  test_others();
  test_elements();
  test_fingerprint();
  return failures != 0;
}
