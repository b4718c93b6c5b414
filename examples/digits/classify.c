// Classifies an 8x8 image with the compiled digit model, through its C interface:
//
//   onyx-compile digits.onnx -o digits.so
//   clang-22 classify.c -I<prefix>/include ./digits.so -o classify
//   LD_LIBRARY_PATH=. ./classify images/3.npy
#include <onyx/model.h>
#include <stdio.h>

// Reads the 64 floats behind the header of a version 1 .npy file (its length stands at byte 8).
static int read_image(const char *path, float image[64]) {
  unsigned char head[10];
  FILE *file = fopen(path, "rb");
  int ok = file && fread(head, 1, 10, file) == 10 &&
           fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) == 0 &&
           fread(image, 4, 64, file) == 64;
  if (file)
    fclose(file);
  return ok;
}

int main(int argc, char **argv) {
  float image[64];
  if (argc != 2 || !read_image(argv[1], image)) {
    fprintf(stderr, "usage: classify IMAGE.npy (1x1x8x8, f32)\n");
    return 2;
  }

  onyx_error error;
  onyx_model *model = onyx_model_create(NULL, &error);
  if (!model) {
    fprintf(stderr, "classify: %s\n", error.message);
    return 1;
  }

  int64_t shape[4] = {1, 1, 8, 8};
  DLTensor tensor = {
      .data = image, .device = {kDLCPU, 0}, .ndim = 4, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  onyx_value in = {.kind = ONYX_VALUE_TENSOR, .tensor = &tensor}, out;
  if (onyx_model_run(model, &in, &out, &error)) {
    fprintf(stderr, "classify: %s\n", error.message);
    onyx_model_destroy(model);
    return 1;
  }

  const float *probability =
      (const float *)((const char *)out.tensor->data + out.tensor->byte_offset);
  int best = 0;
  for (int digit = 1; digit < 10; digit++)
    if (probability[digit] > probability[best])
      best = digit;
  printf("%d\n", best);
  onyx_value_release(&out);
  onyx_model_destroy(model);
  return 0;
}
