"""BERT and its relatives: one network, which families name and vary."""

from fbg.networks.bert.families import FAMILIES

__all__ = ["FAMILIES"]
