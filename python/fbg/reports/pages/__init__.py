"""The page of `fbg report`: one HTML file about a model or a network on this machine."""
