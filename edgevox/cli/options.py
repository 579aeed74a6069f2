"""Options that several commands have; each names the setting that it overrides."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", help="the model to use (edgevox presets list)")
    parser.add_argument("--model", dest="llm.model", type=Path, metavar="FILE", help="a GGUF file")
    parser.add_argument(
        "--remote",
        dest="llm.remote_url",
        metavar="URL",
        help="a server that has the model, such as …:8080/v1",
    )
    parser.add_argument("--remote-model", dest="llm.remote_model", metavar="NAME", help="its name there")
    parser.add_argument("--threads", dest="llm.threads", type=int, metavar="N", help="processor threads")
    parser.add_argument("--max-tokens", dest="llm.max_tokens", type=int, metavar="N", help="longest reply")
    parser.add_argument("--seed", dest="llm.seed", type=int, metavar="N", help="the same replies every time")


def add_mcp_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mcp-config", dest="mcp.config", type=Path, metavar="FILE", help="MCP servers: a file like mcp.json"
    )
    parser.add_argument(
        "--mcp-command", dest="mcp.command", metavar="PROGRAM", help="one MCP server: its program"
    )
    parser.add_argument(
        "--mcp-args",
        dest="mcp.args",
        type=lambda text: tuple(text.split(",")),
        metavar="A,B",
        help="what that program is started with",
    )
    parser.add_argument(
        "--mcp-tool-refresh-seconds",
        dest="mcp.tool_refresh_s",
        type=float,
        metavar="S",
        help="how often MCP servers are asked for their tools",
    )
