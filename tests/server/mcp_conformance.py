"""Runs the public MCP conformance suite against the server's /mcp: `python -m tests.server.mcp_conformance [COMMAND]`.

COMMAND starts the suite, by default in the version that the lists below were made with, by npx (Node 22 or newer). Its
client sends no token, so each request gets one on the way. The tools that the suite calls by name are served beside
those of the demo home.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import tempfile
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from benchmarks.hardware import describe
from edgevox import tool
from edgevox.agents.model_profile import ModelProfile
from edgevox.app.toolbox import Toolbox
from edgevox.config import ServerSettings, Settings
from edgevox.core.errors import ToolError
from edgevox.core.files import Folders
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant, DashboardData
from edgevox.server.http.listener import http_listener
from edgevox.testing import ScriptedModel
from edgevox.tools import Tool
from tests.server.harness import OWNER, TOKENS

SUITE = "@modelcontextprotocol/conformance@0.1.16"
APPLIES = (
    "server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress",
    "resources-list", "prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection",
)  # fmt: skip
DOES_NOT_APPLY = {
    "no sampling, logging, completion or subscriptions are offered": (
        "tools-call-sampling", "logging-set-level", "completion-complete", "tools-call-with-logging",
        "resources-subscribe", "resources-unsubscribe",
    ),
    "tools return text and values, no images, sounds or resources": (
        "tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content",
    ),
    "the suite's own forms; ours has one field, a yes, and tests/server/test_mcp_route.py has it": (
        "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums",
    ),
    "a stream that breaks is not resumed": ("server-sse-polling",),
    "reads resources and prompts of the suite's own example server by name; tests/server/test_mcp_route.py has ours": (
        "resources-read-text", "resources-read-binary", "resources-templates-read", "prompts-get-simple",
        "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
    ),
    "a schema with references of its own; those of our tools have none": ("json-schema-2020-12",),
}  # fmt: skip
_BOUND_S = 60.0


def suite_tools() -> tuple[Tool, ...]:
    @tool
    def test_simple_text() -> str:
        """Return a text."""
        return "This is a simple text response for testing."

    @tool
    def test_error_handling() -> str:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")

    @tool
    async def test_tool_with_progress() -> str:
        """Take longer than the time after which progress is reported again."""
        await asyncio.sleep(1.5)
        return "done"

    return test_simple_text, test_error_handling, test_tool_with_progress


def with_token(app: ASGIApp) -> ASGIApp:
    async def authorized(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {OWNER}".encode())]
        await app(scope, receive, send)

    return authorized


async def run(command: str, folder: Path) -> list[str]:
    """Return the scenarios that failed."""
    folders = Folders(folder / "config", folder / "state", folder / "models")
    settings = Settings()
    toolbox = await asyncio.to_thread(Toolbox, settings, folders)
    await toolbox.start()
    for one in suite_tools():
        toolbox.registry.add(one)
    dashboard = DashboardData(settings, folders, toolbox, engines=dict, turns=lambda _from_s, _until_s: [])
    assistant = Assistant("scripted", ModelProfile(ScriptedModel([])), executor=toolbox.executor, dashboard=dashboard)
    failed = []
    try:
        async with http_listener(
            with_token(create_app(assistant, ServerSettings(mcp=True), TOKENS)), "127.0.0.1", 0
        ) as url:
            for scenario in APPLIES:
                words = (*shlex.split(command), "server", "--url", f"{url}/mcp", "--scenario", scenario)
                process = await asyncio.create_subprocess_exec(*words, cwd=folder)
                async with asyncio.timeout(_BOUND_S):
                    if await process.wait():
                        failed.append(scenario)
    finally:
        await toolbox.stop()
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", nargs="?", default=f"npx --yes {SUITE}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        failed = asyncio.run(run(args.command, Path(scratch)))
    for reason, scenarios in DOES_NOT_APPLY.items():
        print(f"does not apply ({reason}): {', '.join(scenarios)}")
    print(f"{len(APPLIES) - len(failed)} of {len(APPLIES)} that apply pass; failed: {', '.join(failed) or 'none'}")
    if args.json:
        passed = [scenario for scenario in APPLIES if scenario not in failed]
        result = {
            "hardware": describe(),
            "suite": SUITE,
            "passed": passed,
            "failed": failed,
            "does_not_apply": DOES_NOT_APPLY,
        }
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
