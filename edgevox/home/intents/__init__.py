"""Home intents: the catalogue of tools, their handlers, and the tools bound to a home."""
