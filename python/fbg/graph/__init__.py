"""The graph of a network: named, typed ops that print like a program, with passes and lowering."""
