"""`edgevox mcp serve`: the assistant as an MCP server for other programs."""

from __future__ import annotations

import argparse

from edgevox.cli.context import Context


def serve(_args: argparse.Namespace, _context: Context) -> int:
    raise NotImplementedError
