"""What a model is asked for: embeddings, labels, entities, answers."""
