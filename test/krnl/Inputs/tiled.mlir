// Tiles of 4 x 8 for the nest "sum".
func.func private @sum(%i: !krnl.loop, %j: !krnl.loop) {
  %ib, %il = krnl.block %i 4 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  %jb, %jl = krnl.block %j 8 : (!krnl.loop) -> (!krnl.loop, !krnl.loop)
  krnl.permute(%ib, %il, %jb, %jl) [0, 2, 1, 3] : !krnl.loop, !krnl.loop, !krnl.loop, !krnl.loop
  krnl.parallel(%ib) : !krnl.loop
  return
}
