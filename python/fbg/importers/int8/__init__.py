"""Networks from ONNX files in int8, by the values that their tensors hold for some feeds."""
