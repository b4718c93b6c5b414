// Ops whose newest form needs opset 18 or 20 and that opset 16 can say in other words.
func.func @main_graph(%x: tensor<1x5x4x6xf32> {onnx.name = "x"}, %g: tensor<1x3x3x2xf32> {onnx.name = "g"}) -> (tensor<1x2x4x6xf32> {onnx.name = "a"}, tensor<1x2x4x6xf32> {onnx.name = "b"}, tensor<1x1x4x6xf32> {onnx.name = "c"}, tensor<1x5x7x6xf32> {onnx.name = "pad"}, tensor<1x5x8x6xf32> {onnx.name = "scaled"}, tensor<1x5x4x3xf32> {onnx.name = "sized"}, tensor<1x5x3x3xf32> {onnx.name = "sampled"}, tensor<1x5x3x3xf32> {onnx.name = "cubic"}) {
  %none = "onnx.NoValue"() {value} : () -> none
  // ceil(5 / 3) = 2 channels a part, 1 left for the last
  %s:3 = "onnx.Split"(%x) {axis = -3 : si64, num_outputs = 3 : si64} : (tensor<1x5x4x6xf32>) -> (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>, tensor<1x1x4x6xf32>)
  %pads = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %value = onnx.Constant dense<0.5> : tensor<f32>
  %axis = onnx.Constant dense<-2> : tensor<1xi64>
  %p = "onnx.Pad"(%x, %pads, %value, %axis) : (tensor<1x5x4x6xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<1x5x7x6xf32>
  %scale = onnx.Constant dense<2.0> : tensor<1xf32>
  %r = "onnx.Resize"(%x, %none, %scale, %none) {axes = [2], mode = "linear", antialias = 0 : si64} : (tensor<1x5x4x6xf32>, none, tensor<1xf32>, none) -> tensor<1x5x8x6xf32>
  %size = onnx.Constant dense<3> : tensor<1xi64>
  %t = "onnx.Resize"(%x, %none, %none, %size) {axes = [-1]} : (tensor<1x5x4x6xf32>, none, none, tensor<1xi64>) -> tensor<1x5x4x3xf32>
  %m = "onnx.GridSample"(%x, %g) {padding_mode = "border"} : (tensor<1x5x4x6xf32>, tensor<1x3x3x2xf32>) -> tensor<1x5x3x3xf32>
  %n = "onnx.GridSample"(%x, %g) {mode = "cubic"} : (tensor<1x5x4x6xf32>, tensor<1x3x3x2xf32>) -> tensor<1x5x3x3xf32>
  onnx.Return %s#0, %s#1, %s#2, %p, %r, %t, %m, %n : tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>, tensor<1x1x4x6xf32>, tensor<1x5x7x6xf32>, tensor<1x5x8x6xf32>, tensor<1x5x4x3xf32>, tensor<1x5x3x3xf32>, tensor<1x5x3x3xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
