"""Requests that others have published for the filesystem MCP server: `python -m benchmarks.published_mcp_queries FILE`.

FILE is `data/file_system/filesystem_0723_single.json` of MCPToolBench++ (github.com/mcp-tool-bench/MCPToolBenchPP),
which is not kept here: 241 requests, each with the definitions of the tools and the call that its authors want. The
reader of requests is asked alone, without a server. Rows with an even number were looked at while it was written.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.hardware import describe
from edgevox.tools.mcp.filling import Request
from edgevox.tools.mcp.requests import ServerTools
from edgevox.tools.mcp.tools import Definition, as_tool

BAR = 0.9


async def _call(_name: str, _arguments: Mapping[str, Any]) -> object:
    raise AssertionError("nothing is called")


def read_tools(definitions: list[dict[str, Any]]) -> ServerTools:
    """The tools of a row, as if a server had listed them."""
    return ServerTools(
        [
            (
                as_tool(
                    Definition(
                        name=each["name"],
                        description=each.get("description", ""),
                        input_schema=each.get("input_schema") or each.get("inputSchema") or {},
                    ),
                    each["name"],
                    _call,
                    server_id="files",
                ),
                "files",
            )
            for each in definitions
        ]
    )


def has_wanted(request: Request, wanted: Mapping[str, Any]) -> bool:
    """Whether every wanted argument is there; "./a" and "a" are the same path, and a sentence's full stop is none's."""
    return all(_plain(request.arguments.get(name)) == _plain(value) for name, value in wanted.items())


def _plain(value: object) -> object:
    match value:
        case str():
            return value.removeprefix("./").rstrip("/.")
        case list():
            return [_plain(member) for member in value]
        case Mapping():
            return {name: _plain(member) for name, member in value.items()}
    return value


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there")
    arguments = parser.parse_args()
    rows = json.loads(arguments.file.read_text(encoding="utf-8"))
    tools = read_tools(rows[0]["tools"])
    counts = {split: {"requests": 0, "right_tool": 0, "arguments": 0} for split in ("looked_at", "held_out")}
    for at, row in enumerate(rows):
        (label,) = row["function_call_label"]
        request, count = tools.meant(row["query"]), counts["held_out" if at % 2 else "looked_at"]
        is_right = request is not None and request.tool == label["name"]
        count["requests"] += 1
        count["right_tool"] += is_right
        count["arguments"] += is_right and request is not None and has_wanted(request, label["input"])
    text = json.dumps({"machine": describe(), **counts}, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 0 if all(count["right_tool"] >= BAR * count["requests"] for count in counts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
