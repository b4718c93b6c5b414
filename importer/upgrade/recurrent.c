// RNN, GRU, LSTM.
#include "importer/upgrade/upgrade.h"

// output_sequence = 0 said that Y is not wanted, which its absence says.
static void no_sequence_flag(upgrader *u, node *n) {
  (void)u;
  attr_remove(n, "output_sequence");
}

// The first GRU's default direction has a slip of the pen, and files quote it.
static void gru_first(upgrader *u, node *n) {
  if (str_is(attr_str(n, "direction", "foward"), "foward"))
    attr_set_str(u->im, n, "direction", "forward");
  no_sequence_flag(u, n);
}

static void rnn_first(upgrader *u, node *n) {
  if (str_is(attr_str(n, "direction", "forward"), "foward"))
    attr_set_str(u->im, n, "direction", "forward");
  no_sequence_flag(u, n);
}

// Steps of one operator stand together, oldest first.
static const upgrade_step steps[] = {
    {"GRU", 1, gru_first},
    {"GRU", 3, no_sequence_flag},
    {"LSTM", 1, rnn_first},
    {"RNN", 1, rnn_first},
};
const upgrade_family upgrade_recurrent = {steps, sizeof steps / sizeof *steps};
