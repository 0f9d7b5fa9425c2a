"""Files on disk: settings, safetensors and saved models."""
