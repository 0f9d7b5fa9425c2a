"""Networks that differ in settings only: decoders as embedders, rotary encoders, T5, and others."""

from fbg.networks.standard import decoders, encoders, t5

__all__ = ["FAMILIES"]

FAMILIES = (*decoders.FAMILIES, *encoders.FAMILIES, *t5.FAMILIES)
