"""The families of networks, as tables: how each reads its settings, and names its tensors.

A file is a kind of network; a family is an entry in its FAMILIES.
"""

from fbg.networks.families import bert, deberta, decoders, jina, modernbert, rotary, t5, vision

FAMILIES = tuple(
    family
    for kind in (bert, modernbert, decoders, rotary, jina, deberta, t5, vision)
    for family in kind.FAMILIES
)
