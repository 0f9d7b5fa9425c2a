"""ONNX files: reading, checking, inference of shapes. Needs the package onnx (``fbg[onnx]``)."""
