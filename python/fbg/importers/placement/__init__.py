"""Which back end computes each op of a network: by support, by cost, as measured."""
