"""The settings for MCP servers: programs that bring tools."""

from __future__ import annotations

from pydantic import Field

from edgevox.settings.section import Seconds, Section, Text, UserPath


class McpSettings(Section):
    """MCP servers: other programs whose tools the assistant may use."""

    enabled: bool = Field(default=True, description="false: no MCP server is started")
    config: UserPath | None = Field(
        default=None,
        description="the file that names the servers; without it, mcp.json beside this file",
        examples=["~/mcp.json"],
    )
    command: Text | None = Field(
        default=None,
        description="one server's program, instead of a file of servers",
        examples=["mcp-server-time"],
    )
    args: tuple[str, ...] = Field(default=(), description="what that program is started with")
    tool_refresh_s: Seconds = Field(
        default=30.0, description="how often servers are asked for their tools, and whether they live"
    )
    start_timeout_s: Seconds = Field(default=30.0, description="a server that takes longer is begun anew")
    max_offered: int = Field(
        default=12,
        ge=1,
        le=128,
        description="a model is told of this many tools of servers at most: those that fit the sentence",
    )
