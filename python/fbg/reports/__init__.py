"""Reports of cost and accuracy of a model on this machine: compare, profile, bench, sensitivity."""
