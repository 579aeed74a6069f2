"""`edgevox plugins` and `mcp`: manage the plugins and MCP servers that provide tools."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from rich.text import Text

from edgevox.app.toolbox import Toolbox
from edgevox.cli.command import JSON, MODEL_OPTIONS, Command, argument, setting
from edgevox.cli.context import Context, folded, left, plain_table, run_until_done
from edgevox.cli.ui.mcp_approval import approvals_of, approve_changes, approve_server, describe_tool
from edgevox.core.errors import ConfigError
from edgevox.tools.mcp import config
from edgevox.tools.mcp.approvals import Approvals
from edgevox.tools.mcp.servers import McpServers
from edgevox.tools.plugins.scaffold import write_file_plugin, write_package_plugin
from edgevox.tools.plugins.sources import load_file, plugins_folder
from edgevox.tools.registry import ToolRegistry

PLUGINS = Command("plugins", "List plugins, or create one")
MCP = Command("mcp", "Manage MCP servers, or run as one")

_CONFIG = setting("--mcp-config", "mcp.config", "FILE", "use this file instead of mcp.json")
_APPROVE = argument("--yes", action="store_true", help="approve without asking, for scripts")
_NAME = argument("name", help="name of the server")


@PLUGINS.action("list", "list plugins, and why one is disabled", JSON)
def _list_plugins(args: argparse.Namespace, context: Context) -> None:
    reports = Toolbox(context.settings, context.folders).plugins.reports()
    if args.json:
        context.write_json([dataclasses.asdict(report) for report in reports])
        return
    if not reports:
        context.print("No plugins. Create one with: edgevox plugins new NAME")
        return
    table = plain_table(left("plugin"), left("status"), folded("provides"), folded("from", style="dim"))
    for report in reports:
        provides = ", ".join((*report.tools, *(f"{hook} (hook)" for hook in report.hooks)))
        table.add_row(Text(report.name), report.status, Text(provides), Text(report.place))
    context.out.print(table)
    for report in reports:
        if report.reason:
            context.print(f"\n{report.name}: {report.reason}", f"  → {report.fix}")
        if report.trouble:
            context.print(f"\n{report.name} was disabled during its last run: {report.trouble}", f"  → {report.fix}")


@PLUGINS.action(
    "new",
    "create a working plugin with a test",
    argument("name", help="name of the plugin, such as weather"),
    argument(
        "--package",
        action="store_true",
        help="create an installable package in the current folder, not a file in the plugins folder",
    ),
)
def _new_plugin(args: argparse.Namespace, context: Context) -> None:
    if args.package:
        folder, test = write_package_plugin(args.name, Path.cwd())
        context.print(f"wrote {folder}")
        context.print(f"install it into the environment of EdgeVox: {sys.executable} -m pip install {folder}")
    else:
        path, test = write_file_plugin(args.name, plugins_folder(context.folders))
        load_file(path)  # fails if other users can write to its folder
        context.print(f"wrote {path}")
    tool = f"{args.name.replace('-', '_')}_greet"
    context.print(
        f"""try it: edgevox tools call {tool} '{{"who": "Mara"}}'""",
        f"its test: {sys.executable} -m pytest {test}" if find_spec("pytest") else f"its test, for pytest: {test}",
        "its tool is an example: change it, or it answers requests to greet somebody",
    )


@MCP.action("list", "list servers, their tools and pending approvals", JSON, _CONFIG)
def _list_servers(args: argparse.Namespace, context: Context) -> None:
    config.configured_servers(context.settings.mcp, context.folders)  # raises for a file that cannot be read
    # Among the other tools, because a name that is taken gets the server's name as a prefix.
    reports = Toolbox(context.settings, context.folders).mcp.reports()
    if args.json:
        context.write_json([dataclasses.asdict(report) for report in reports])
        return
    if not reports:
        context.print("No MCP servers. Add one with: edgevox mcp add")
        return
    table = plain_table(left("server"), left("status"), folded("tools"), folded("command", style="dim"))
    for report in reports:
        status = "approved" if report.status == "stopped" else report.status
        tools = ", ".join(report.tools) or ("?" if status == "approved" else "")
        table.add_row(Text(report.id), status, Text(tools), Text(report.shown))
    context.out.print(table)
    for report in reports:
        fix = f"  → edgevox mcp approve {report.id}"
        if report.status == "unapproved":
            context.print(f"\n{report.id} is not approved, so it is not started", fix)
        if report.waiting:
            context.print(f"\n{report.id} changed since approval: {', '.join(report.waiting)}", fix)
        context.print(*(f"{report.id}: {name} is left out: {why}" for name, why in report.left_out.items()))


_ADD_OPTIONS = (
    argument("--url", help="URL of a remote server"),
    argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="environment variable, such as KEY=${KEY}"
    ),
    argument("--header", action="append", default=[], metavar="NAME=VALUE", help="HTTP header for a remote server"),
    _APPROVE,
)


def _take_options(args: argparse.Namespace) -> list[str]:
    """Read the options between the name and --, and return the program with its arguments. Raises ConfigError."""
    rest: list[str] = args.command
    if not rest or not rest[0].startswith("-") or rest[0] == "--":
        return rest[1:] if rest[:1] == ["--"] else rest
    end = rest.index("--") if "--" in rest else len(rest)
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for add in _ADD_OPTIONS:
        add(parser)
    try:
        _, unknown = parser.parse_known_args(rest[:end], args)
    except argparse.ArgumentError as error:
        raise ConfigError(str(error), hint="edgevox mcp add --help lists the options") from None
    if unknown:
        raise ConfigError(f"{unknown[0]} comes after the name", hint="a program goes after --")
    return rest[end + 1 :]


@MCP.action(
    "add",
    "add a server: edgevox mcp add time -- mcp-server-time --utc",
    argument("name", help="name of the server; prefix of its tools where names clash"),
    *_ADD_OPTIONS,
    argument("command", nargs=argparse.REMAINDER, help="after --: the program and its arguments"),
    _CONFIG,
)
def _add(args: argparse.Namespace, context: Context) -> int:
    spec: config.ServerSpec
    command = _take_options(args)
    if args.url and not command:
        spec = config.HttpServer(args.name, args.url, _pairs(args.header))
    elif command and not args.url:
        program, *rest = command
        spec = config.StdioServer(args.name, program, tuple(rest), _pairs(args.env))
    else:
        raise ConfigError("give either a program after --, or --url", hint="edgevox mcp add time -- mcp-server-time")
    path = config.config_file(context.settings.mcp, context.folders)
    config.add_server(path, spec)
    context.print(f"added {spec.id} to {path}")
    approvals = approvals_of(context)
    if not approve_server(spec, approvals, context, is_agreed=args.yes):
        return 0
    return 0 if _test_server(spec, approvals, context, is_agreed=args.yes) else 1


@MCP.action("remove", "remove a server and its approval", _NAME, _CONFIG)
def _remove(args: argparse.Namespace, context: Context) -> None:
    config.remove_server(config.config_file(context.settings.mcp, context.folders), args.name)
    approvals_of(context).withdraw(args.name)
    context.print(f"removed {args.name}")


@MCP.action(
    "test",
    "start servers, list their tools and report problems",
    argument("name", nargs="?", help="test only this server"),
    _APPROVE,
    _CONFIG,
)
def _test(args: argparse.Namespace, context: Context) -> int:
    approvals = approvals_of(context)
    specs = (
        [_named(context, args.name)] if args.name else config.configured_servers(context.settings.mcp, context.folders)
    )
    results = [_test_server(spec, approvals, context, is_agreed=args.yes) for spec in specs]
    return 0 if all(results) else 1


@MCP.action("approve", "show a server's exact command or its changes, and ask for approval", _NAME, _APPROVE, _CONFIG)
def _approve(args: argparse.Namespace, context: Context) -> int:
    spec, approvals = _named(context, args.name), approvals_of(context)
    is_approved = approvals.is_approved(spec) or approve_server(spec, approvals, context, is_agreed=args.yes)
    return 0 if is_approved and approve_changes(spec, approvals, context, is_agreed=args.yes) else 1


@MCP.action(
    "serve",
    "run as an MCP server: say, listen, ask, transcribe and home tools",
    *MODEL_OPTIONS,
    argument("--no-audio", action="store_true", help="without say, listen and transcribe"),
)
def _serve(args: argparse.Namespace, context: Context) -> int:
    # Imported here: the other actions do not need the engines.
    from edgevox.cli.commands.serve import serve_mcp

    # Tools of configured MCP servers are not re-exported, and one of those servers might be EdgeVox itself.
    return serve_mcp(context.with_flags({"mcp.enabled": False}), has_audio=not args.no_audio)


def _named(context: Context, name: str) -> config.ServerSpec:
    for spec in config.configured_servers(context.settings.mcp, context.folders):
        if spec.id == name:
            return spec
    raise ConfigError(f"unknown MCP server {name}", hint="edgevox mcp list shows the servers")


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = dict[str, str]()
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"invalid NAME=VALUE: {text}", hint="such as TOKEN=${MY_TOKEN}")
        pairs[name.strip()] = value.strip()
    return pairs


def _test_server(spec: config.ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool) -> bool:
    """Start one server if it is approved; return whether it works and no approval is pending."""
    if not approvals.is_approved(spec) and not approve_server(spec, approvals, context, is_agreed=is_agreed):
        return False
    works = run_until_done(_list_tools(spec, approvals, context))
    return approve_changes(spec, approvals, context, is_agreed=is_agreed) and works


async def _list_tools(spec: config.ServerSpec, approvals: Approvals, context: Context) -> bool:
    """Start one server, print its tools and stop it."""
    servers = McpServers((spec,), approvals, ToolRegistry(), context.settings.mcp)
    began_s = time.monotonic()
    servers.start()
    try:
        with context.err.status(f"starting {spec.id} …"):
            await servers.answered(context.settings.mcp.start_timeout_s)
        [report] = servers.reports()
    finally:
        await servers.stop()
    if report.status != "ready":
        context.note(f"✗ {spec.id}: {report.reason or 'no answer'}")
        return False
    context.print(f"✓ {spec.id}: {len(report.tools)} tools, {time.monotonic() - began_s:.1f} s")
    for name, definition in (approvals.tools(spec) or {}).items():
        if name not in report.waiting and name not in report.left_out:
            context.print(*(f"  {line}" for line in describe_tool(definition)))
    context.print(*(f"  left out: {name}: {why}" for name, why in report.left_out.items()))
    return True
