"""Tools of MCP servers: which servers there are, what of them was approved, and their life.

The SDK takes a second to import: only `life`, `link` and `stdio` do, and those are for a server that starts.
"""
