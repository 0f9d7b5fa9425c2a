"""Passes over products, of encoders and of networks from ONNX files: how they are quantized."""
