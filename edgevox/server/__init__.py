"""The HTTP, WebSocket, Wyoming and MCP servers.

Nothing is imported here: commands that start without a server must stay fast.
"""
