"""Weights in fewer bits: precision by layer, smoothing, GPTQ rounding."""
