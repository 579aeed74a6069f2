"""The assistant as an MCP server: its tools, the protocol, and confirmations by the user of a client."""

from edgevox.server.mcp.server import McpRoute, create_mcp_server
from edgevox.server.mcp.tools import PROGRAM, ServedTools, ask_tool, file_tool, room_tools

__all__ = ["PROGRAM", "McpRoute", "ServedTools", "ask_tool", "create_mcp_server", "file_tool", "room_tools"]
