"""Text embeddings: one vector for each text, whose angles say how near texts are in meaning."""
