"""Networks that differ in settings only: decoders, rotary encoders, DeBERTa, T5, and others."""

from fbg.networks.standard import deberta, decoders, encoders, jina, t5

__all__ = ["FAMILIES"]

FAMILIES = (*decoders.FAMILIES, *encoders.FAMILIES, *jina.FAMILIES, *deberta.FAMILIES, *t5.FAMILIES)
