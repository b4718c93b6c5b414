// share_test MODEL.so BYTES SUM: processes that run one model at once share its weights.
//
// Each child opens the model and runs it, so that every page of the weights was read, and waits.
// Then the proportional set sizes (PSS, a page divided by who maps it) of all children must add up
// to the size of the weights once, not once a child, and their private memory must stay small.
#include "onyx/model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 2 };

static int run_model(const char *path, int64_t expected) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fprintf(stderr, "%s\n", dlerror()), 1;
  onyx_model_create_fn *create = (onyx_model_create_fn *)dlsym(library, "onyx_model_create");
  onyx_model_run_fn *run = (onyx_model_run_fn *)dlsym(library, "onyx_model_run");
  onyx_error error;
  onyx_value out;
  onyx_model *model = create(NULL, &error);
  if (!model || run(model, NULL, &out, &error))
    return fprintf(stderr, "%s\n", error.message), 1;
  return *(int64_t *)out.tensor->data != expected;
}

// Sum of a field of /proc/PID/smaps_rollup, in bytes.
static long long memory_of(pid_t pid, const char *field) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
  FILE *file = fopen(path, "r");
  long long kb = -1;
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field)))
      kb = atoll(line + strlen(field));
  if (file)
    fclose(file);
  return kb * 1024;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  long long bytes = atoll(argv[2]);
  int ready[2], go[2];
  pid_t children[CHILDREN];
  if (pipe(ready) || pipe(go))
    return 3;
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i])
      continue;
    close(go[1]);
    char answer = (char)run_model(argv[1], atoll(argv[3])), wait;
    if (write(ready[1], &answer, 1) != 1 || read(go[0], &wait, 1) != 0)
      _exit(4);
    _exit(0);
  }
  int wrong = 0;
  for (int i = 0; i < CHILDREN; i++) {
    char answer;
    wrong += read(ready[0], &answer, 1) != 1 || answer;
  }
  long long pss = 0, anonymous = 0;
  for (int i = 0; i < CHILDREN; i++) {
    pss += memory_of(children[i], "Pss:");
    anonymous += memory_of(children[i], "Anonymous:");
  }
  close(go[1]); // the children end
  for (int i = 0; i < CHILDREN; i++)
    waitpid(children[i], NULL, 0);
  printf("%d processes, weights of %lld MB: PSS %lld MB in all, anonymous %lld MB; %d wrong\n",
         CHILDREN, bytes >> 20, pss >> 20, anonymous >> 20, wrong);
  const long long slack = 16 << 20; // code, libc and stacks of all processes
  return wrong || pss < bytes || pss > bytes + slack || anonymous > slack;
}
