"""Commands to a home, one module for each family of tools or of phrasings."""
