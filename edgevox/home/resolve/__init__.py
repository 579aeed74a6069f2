"""Resolves spoken names, places and kinds to entities."""
