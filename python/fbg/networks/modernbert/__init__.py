"""ModernBERT: a network with rotary positions, windows of attention and gated layers."""

from fbg.networks.modernbert.network import FAMILIES

__all__ = ["FAMILIES"]
