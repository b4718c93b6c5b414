// A wavefront over the nest "sum".
func.func private @sum(%i: !krnl.loop, %j: !krnl.loop) {
  %a, %b = krnl.skew %i, %j 1 : (!krnl.loop, !krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%a, %b) [1, 0] : !krnl.loop, !krnl.loop
  return
}
