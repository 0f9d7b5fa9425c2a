"""Back ends compute ops. Each is asked op by op, and knows nothing of the network."""
