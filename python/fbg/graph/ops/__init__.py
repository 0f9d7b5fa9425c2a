"""The ops of graphs: those of rows, which are tokens or sequences, and those of tensors."""
