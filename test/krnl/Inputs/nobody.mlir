func.func private @nobody(%i: !krnl.loop) {
  krnl.unroll %i : !krnl.loop
  return
}
