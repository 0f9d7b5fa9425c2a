"""The graph of a network: named, typed ops that print like a program, and what is made of them."""
