"""The tasks of a model: embeddings, labels, entities, answers."""
