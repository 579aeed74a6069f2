"""Tools of MCP servers: which servers there are, what of them was approved, and their life.

Nothing here imports the SDK: it takes a second, and only `link.py` and `serving` need it.
"""
