"""The families of networks, as tables: how each reads its settings, and names its tensors.

A file is a kind of network; a family is an entry in its FAMILIES.
"""

from fbg.networks.families import bert, deberta, decoders, encoders, jina, modernbert, t5

FAMILIES = tuple(
    family
    for kind in (bert, modernbert, decoders, encoders, jina, deberta, t5)
    for family in kind.FAMILIES
)
