"""`edgevox plugins` and `mcp`: manage the plugins and MCP servers that provide tools."""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path

from rich.table import Table
from rich.text import Text

from edgevox.app.toolbox import Toolbox
from edgevox.cli.command import Command
from edgevox.cli.context import Context, add_model_options, run_until_done
from edgevox.cli.ui.mcp_approval import approvals_of, approve_changes, approve_server, describe_tool
from edgevox.core.errors import ConfigError
from edgevox.tools.mcp.approvals import Approvals
from edgevox.tools.mcp.config import (
    HttpServer,
    ServerSpec,
    StdioServer,
    add_server,
    config_file,
    configured_servers,
    remove_server,
)
from edgevox.tools.mcp.servers import McpServers, ServerReport
from edgevox.tools.plugins.manager import PluginReport
from edgevox.tools.plugins.scaffold import write_file_plugin, write_package_plugin
from edgevox.tools.plugins.sources import load_file, plugins_folder
from edgevox.tools.registry import ToolRegistry


def add_plugins_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|new")
    listing = actions.add_parser("list", help="list plugins, and why one is disabled")
    listing.add_argument("--json", action="store_true", help="print a JSON array")
    new = actions.add_parser("new", help="create a working plugin with a test")
    new.add_argument("name", help="name of the plugin, such as weather")
    new.add_argument(
        "--package",
        action="store_true",
        help="create an installable package in the current folder, not a file in the plugins folder",
    )


def plugins_command(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "list":
            reports = Toolbox(context.settings, context.folders).plugins.reports()
            if args.json:
                context.write(json.dumps([dataclasses.asdict(report) for report in reports], indent=2))
            else:
                _print_plugins(reports, context)
        case "new" if args.package:
            folder, test = write_package_plugin(args.name, Path.cwd())
            _say(context, f"wrote {folder}", f"test it: cd {folder} && python -m pytest")
            _say(context, f"install it into the environment of EdgeVox: python -m pip install {folder}")
        case "new":
            path, test = write_file_plugin(args.name, plugins_folder(context.folders))
            load_file(path)  # fails if other users can write to its folder
            _say(context, f"wrote {path}", f"test it: python -m pytest {test}")
        case other:
            raise AssertionError(other)
    return 0


def _print_plugins(reports: tuple[PluginReport, ...], context: Context) -> None:
    if not reports:
        context.out.print("No plugins. Create one with: edgevox plugins new NAME")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("plugin", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("provides", overflow="fold")
    table.add_column("from", overflow="fold", style="dim")
    for report in reports:
        provides = ", ".join((*report.tools, *(f"{hook} (hook)" for hook in report.hooks)))
        table.add_row(Text(report.name), report.status, Text(provides), Text(report.place))
    if reports:
        context.out.print(table)
    for report in reports:
        if report.reason:
            _say(context, f"\n{report.name}: {report.reason}", f"  → {report.fix}")
        if report.trouble:
            _say(context, f"\n{report.name} was disabled during its last run: {report.trouble}", f"  → {report.fix}")


def _say(context: Context, *lines: str) -> None:
    for line in lines:
        context.out.print(Text(line), soft_wrap=True)


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|add|remove|test|approve|serve")
    listing = actions.add_parser("list", help="list servers, their tools and pending approvals")
    listing.add_argument("--json", action="store_true", help="print a JSON array")
    add = actions.add_parser("add", help="add a server: edgevox mcp add time -- mcp-server-time --utc")
    add.add_argument("name", help="name of the server; prefix of its tools where names clash")
    add.add_argument("--url", help="URL of a remote server")
    add.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="environment variable, such as KEY=${KEY}"
    )
    add.add_argument(
        "--header", action="append", default=[], metavar="NAME=VALUE", help="HTTP header for a remote server"
    )
    add.add_argument("command", nargs=argparse.REMAINDER, help="after --: the program and its arguments")
    remove = actions.add_parser("remove", help="remove a server and its approval")
    remove.add_argument("name")
    test = actions.add_parser("test", help="start servers, list their tools and report problems")
    test.add_argument("name", nargs="?", help="test only this server")
    approve = actions.add_parser("approve", help="show a server's exact command or its changes, and ask for approval")
    approve.add_argument("name")
    for one in (add, approve, test):
        one.add_argument("--yes", action="store_true", help="approve without asking, for scripts")
    for one in (listing, add, remove, test, approve):
        one.add_argument("--mcp-config", dest="mcp.config", metavar="FILE", help="use this file instead of mcp.json")
    serve = actions.add_parser("serve", help="run as an MCP server: say, listen, ask, transcribe and home tools")
    add_model_options(serve)
    # Tools of configured MCP servers are not re-exported, and one of those servers might be EdgeVox itself.
    serve.set_defaults(**{"mcp.enabled": False})
    serve.add_argument("--no-audio", action="store_true", help="without say, listen and transcribe")


def mcp_command(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "list":
            reports = _servers(context, approvals_of(context)).reports()
            if args.json:
                context.write(json.dumps([dataclasses.asdict(report) for report in reports], indent=2))
            else:
                _print_servers(reports, context)
        case "add":
            return _add(args, context)
        case "remove":
            remove_server(config_file(context.settings.mcp, context.folders), args.name)
            approvals_of(context).withdraw(args.name)
            context.out.print(Text(f"removed {args.name}"))
        case "test":
            names = [args.name] if args.name else None
            return _test(context, names, is_agreed=args.yes)
        case "approve":
            spec, approvals = _named(context, args.name), approvals_of(context)
            is_known = approvals.is_approved(spec)
            if not is_known and not approve_server(spec, approvals, context, is_agreed=args.yes):
                return 1
            return 0 if approve_changes(spec, approvals, context, is_agreed=args.yes) else 1
        case "serve":
            # Imported here: the other actions do not need the engines.
            from edgevox.cli.commands.serve import serve_mcp

            return serve_mcp(args, context)
        case other:
            raise AssertionError(other)
    return 0


def _named(context: Context, name: str) -> ServerSpec:
    for spec in configured_servers(context.settings.mcp, context.folders):
        if spec.id == name:
            return spec
    raise ConfigError(f"unknown MCP server {name}", hint="edgevox mcp list shows the servers")


def _servers(context: Context, approvals: Approvals) -> McpServers:
    settings = context.settings.mcp
    return McpServers(configured_servers(settings, context.folders), approvals, ToolRegistry(), settings)


def _add(args: argparse.Namespace, context: Context) -> int:
    spec: ServerSpec
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if command and command[0].startswith("-"):
        raise ConfigError(f"{command[0]} comes after the name", hint="options go before the name")
    if args.url and not command:
        spec = HttpServer(args.name, args.url, _pairs(args.header))
    elif command and not args.url:
        program, *rest = command
        spec = StdioServer(args.name, program, tuple(rest), _pairs(args.env))
    else:
        raise ConfigError("give either a program after --, or --url", hint="edgevox mcp add time -- mcp-server-time")
    path = config_file(context.settings.mcp, context.folders)
    add_server(path, spec)
    context.out.print(Text(f"added {spec.id} to {path}"), soft_wrap=True)
    if not approve_server(spec, approvals_of(context), context, is_agreed=args.yes):
        return 0
    return _test(context, [spec.id], is_agreed=args.yes)


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = dict[str, str]()
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"invalid NAME=VALUE: {text}", hint="such as TOKEN=${MY_TOKEN}")
        pairs[name.strip()] = value.strip()
    return pairs


def _test(context: Context, names: list[str] | None, *, is_agreed: bool) -> int:
    approvals = approvals_of(context)
    specs = configured_servers(context.settings.mcp, context.folders)
    chosen = [spec for spec in specs if names is None or spec.id in names]
    if names is not None and not chosen:
        _named(context, names[0])
    failed = 0
    for spec in chosen:
        if approvals.is_approved(spec) or approve_server(spec, approvals, context, is_agreed=is_agreed):
            failed += not run_until_done(_test_server(spec, approvals, context))
            failed += not approve_changes(spec, approvals, context, is_agreed=is_agreed)
        else:
            failed += 1
    return 1 if failed else 0


async def _test_server(spec: ServerSpec, approvals: Approvals, context: Context) -> bool:
    """Start one server, print its tools and stop it."""
    registry = ToolRegistry()
    servers = McpServers((spec,), approvals, registry, context.settings.mcp)
    began_s = time.monotonic()
    servers.start()
    try:
        with context.err.status(f"starting {spec.id} …"):
            await servers.answered(context.settings.mcp.start_timeout_s)
        [report] = servers.reports()
    finally:
        await servers.stop()
    if report.status != "ready":
        context.err.print(Text(f"✗ {spec.id}: {report.reason or 'no answer'}"), soft_wrap=True)
        return False
    known = approvals.tools(spec) or {}
    context.out.print(Text(f"✓ {spec.id}: {len(report.tools)} tools, {time.monotonic() - began_s:.1f} s"))
    for name, definition in known.items():
        if name not in report.waiting and name not in report.left_out:
            for line in describe_tool(definition):
                context.out.print(Text(f"  {line}"), soft_wrap=True)
    for name, why in report.left_out.items():
        context.out.print(Text(f"  left out: {name}: {why}"), soft_wrap=True)
    return True


def _print_servers(reports: tuple[ServerReport, ...], context: Context) -> None:
    if not reports:
        context.out.print("No MCP servers. Add one with: edgevox mcp add")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("server", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("tools", overflow="fold")
    table.add_column("command", overflow="fold", style="dim")
    for report in reports:
        status = "approved" if report.status == "stopped" else report.status
        tools = ", ".join(report.tools) or ("?" if status == "approved" else "")
        table.add_row(Text(report.id), status, Text(tools), Text(report.shown))
    context.out.print(table)
    for report in reports:
        if report.status == "unapproved":
            _hint(context, report.id, "is not approved, so it is not started")
        if report.waiting:
            _hint(context, report.id, f"changed since approval: {', '.join(report.waiting)}")
        for name, why in report.left_out.items():
            context.out.print(Text(f"{report.id}: {name} is left out: {why}"), soft_wrap=True)


def _hint(context: Context, name: str, what: str) -> None:
    context.out.print(Text(f"\n{name} {what}\n  → edgevox mcp approve {name}"), soft_wrap=True)


COMMANDS = (
    Command("plugins", "List plugins, or create one", plugins_command, add_plugins_arguments),
    Command("mcp", "Manage MCP servers, or run as one", mcp_command, add_mcp_arguments),
)
