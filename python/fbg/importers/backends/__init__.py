"""Back ends: what computes ops. Each is asked op by op, and knows nothing of the network."""
