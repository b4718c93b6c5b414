// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-print-stats)' %s -o %t.mlir 2>&1 | FileCheck --check-prefix=TEXT %s
// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-print-stats{format=csv output=%t.csv})' %s -o %t.mlir
// RUN: FileCheck --check-prefix=CSV %s < %t.csv
// RUN: %onyx-opt --pass-pipeline='builtin.module(onnx-print-stats{format=json output=%t.json})' %s -o %t.mlir
// RUN: FileCheck --check-prefix=JSON %s < %t.json
// RUN: %python -c 'import json, sys; print([f["total"]["flops"] for f in json.load(open(sys.argv[1]))["functions"]])' %t.json | FileCheck --check-prefix=PARSED %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-print-stats{format=xml})' %s -o %t.mlir 2>&1 | FileCheck --check-prefix=FORMAT %s
// RUN: not %onyx-opt --pass-pipeline='builtin.module(onnx-print-stats{output=%t.none/x})' %s -o %t.mlir 2>&1 | FileCheck --check-prefix=WRITE %s

// FORMAT: onnx-print-stats: format: expected text, csv or json, found 'xml'
// WRITE: onnx-print-stats: cannot write '{{.*}}.none/x': No such file or directory

// Conv: weights 2*1*3*3 = 18 and bias 2 make 20 parameters. The result is 1*2*4*4 = 32 floats, 128
// bytes. Each of them takes 3*3*1 products and as many sums (18) and the bias's sum: 32 * 19 = 608.
// Relu: 32 maxima, 128 bytes.
// Gemm: [1,32] x [32,3] + [3]: 96 + 3 = 99 parameters; 3 results of 4 bytes; each 32 products and
// 32 sums, and the sum with C: 3 * 65 = 195.
// Flatten moves nothing that would compute: 0, 128 bytes.
// All: 20 + 99 = 119; 608 + 32 + 195 = 835; 128 + 128 + 128 + 12 = 396.

// TEXT: @net
// TEXT-NEXT: op {{ *}}node {{ *}}parameters {{ *}}flops {{ *}}bytes
// TEXT-NEXT: Conv {{ *}}c,1 {{ *}}20 {{ *}}608 {{ *}}128{{$}}
// TEXT-NEXT: Relu {{ *}}r {{ *}}0 {{ *}}32 {{ *}}128{{$}}
// TEXT-NEXT: Flatten {{ *}}f {{ *}}0 {{ *}}0 {{ *}}128{{$}}
// TEXT-NEXT: Gemm {{ *}}g {{ *}}99 {{ *}}195 {{ *}}12{{$}}
// TEXT-NEXT: total {{ *}}119 {{ *}}835 {{ *}}396{{$}}

// CSV: function,op,node,parameters,flops,bytes
// CSV-NEXT: "net","Conv","c,1",20,608,128
// CSV-NEXT: "net","Relu","r",0,32,128
// CSV-NEXT: "net","Flatten","f",0,0,128
// CSV-NEXT: "net","Gemm","g",99,195,12
// CSV-NEXT: "net","total","",119,835,396

// JSON: {"functions": [
// JSON-NEXT: {"function": "net", "nodes": [
// JSON-NEXT: {"op": "Conv", "node": "c,1", "parameters": 20, "flops": 608, "bytes": 128},
// JSON: "total": {"op": "total", "node": "", "parameters": 119, "flops": 835, "bytes": 396}}

func.func @net(%x: tensor<1x1x4x4xf32>) -> tensor<1x3xf32> {
  %w = onnx.Constant dense<1.0> : tensor<2x1x3x3xf32>
  %b = onnx.Constant dense<0.5> : tensor<2xf32>
  %0 = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "c,1", pads = [1, 1, 1, 1]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = "onnx.Relu"(%0) {onnx_node_name = "r"} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = "onnx.Flatten"(%1) {onnx_node_name = "f"} : (tensor<1x2x4x4xf32>) -> tensor<1x32xf32>
  %gw = onnx.Constant dense<1.0> : tensor<32x3xf32>
  %gb = onnx.Constant dense<0.0> : tensor<3xf32>
  %3 = "onnx.Gemm"(%2, %gw, %gb) {onnx_node_name = "g"} : (tensor<1x32xf32>, tensor<32x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  onnx.Return %3 : tensor<1x3xf32>
}

// One constant of 4 elements, used twice, is 4 in each and 4 in all. Sizes: N rows of 4 floats, 16
// bytes each, 4 sums each. What an operator outside of the standard does is not known.

// TEXT: @open
// TEXT-NEXT: op
// TEXT-NEXT: Add {{ *}}a {{ *}}4 {{ *}}[[N:[^ ]+]] * 4 {{ *}}[[N]] * 16{{$}}
// TEXT-NEXT: Add {{ *}}b {{ *}}4 {{ *}}[[N]] * 4 {{ *}}[[N]] * 16{{$}}
// TEXT-NEXT: Mine {{ *}}0 {{ *}}? {{ *}}?{{$}}
// TEXT-NEXT: total {{ *}}4 {{ *}}[[N]] * 8 + ? {{ *}}[[N]] * 32 + ?{{$}}
// JSON: "total": {"op": "total", "node": "", "parameters": 4, "flops": "{{.*}} * 8 + ?", "bytes": "{{.*}} * 32 + ?"}}
// PARSED: [835, '{{.*}} * 8 + ?']

func.func @open(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %c = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.Add"(%x, %c) {onnx_node_name = "a"} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %1 = "onnx.Add"(%0, %c) {onnx_node_name = "b"} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = "onnx.Custom"(%1) {function_name = "Mine", domain_name = "local"} : (tensor<?x4xf32>) -> tensor<*xf32>
  onnx.Return %2 : tensor<*xf32>
}
