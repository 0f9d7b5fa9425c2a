"""What a model costs and loses on this machine: compare, profile, bench, sensitivity."""
