"""What lies on disk: settings, safetensors and saved models."""
