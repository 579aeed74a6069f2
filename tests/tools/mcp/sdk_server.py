"""A server as the SDK's examples write one: `sdk_server.py stdio`, or `sdk_server.py http PORT`."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("Demo")
BEFORE = ["Hello"]


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def greet(name: str) -> dict[str, str]:
    """Greet somebody"""
    return {"greeting": f"{BEFORE[0]}, {name}!"}


@server.tool()
async def learn(ctx: Context) -> str:
    """Learn a new trick"""
    server.add_tool(lambda: "sat", name="sit", description="Sit down")
    await ctx.notify_tools_changed()
    return "learnt"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def divide(a: int, b: int) -> float:
    """Divide two numbers"""
    return a / b


if __name__ == "__main__":
    if sys.argv[1] == "http":
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
