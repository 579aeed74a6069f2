"""Asks the user to approve MCP servers, and tools of theirs that changed."""

from __future__ import annotations

import sys

from rich.text import Text

from edgevox.cli.context import Context
from edgevox.tools.mcp.approvals import APPROVALS_FILE, Approvals, Change
from edgevox.tools.mcp.config import ServerSpec, StdioServer, configured_servers
from edgevox.tools.mcp.tools import Definition
from edgevox.tools.sanitize import sanitize_tool_output

_MAX_SHOWN_CHARS = 600


def approvals_of(context: Context) -> Approvals:
    return Approvals(context.folders.state / APPROVALS_FILE)


def approve_servers(context: Context) -> None:
    """Ask about servers and tools that wait for it; where nobody can be asked, say so. Raises ConfigError.

    What is not approved is not started, and not offered.
    """
    servers = configured_servers(context.settings.mcp, context.folders)
    if not servers:
        return
    approvals = approvals_of(context)
    for spec in servers:
        if not approvals.is_approved(spec):
            if _is_from_command_line(spec, context):
                approvals.approve(spec)  # whoever typed the command has seen it
            else:
                approve_server(spec, approvals, context)
        approve_changes(spec, approvals, context)


def approve_server(spec: ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool = False) -> bool:
    """Show the exact command, and ask; whether it is approved then."""
    what = "be run, with your rights" if isinstance(spec, StdioServer) else "be told what you ask it"
    _print(context, f"The MCP server {spec.id} would {what}:", f"  {_sanitize(spec.shown)}")
    if is_agreed or _confirm(context, "Approve it?"):
        approvals.approve(spec)
        return True
    _print(context, f"  it is not started; edgevox mcp approve {spec.id} asks again")
    return False


def approve_changes(spec: ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool = False) -> bool:
    """Show what became of a server's tools since they were approved, and ask; whether nothing waits then."""
    changes = approvals.changes(spec)
    if not changes:
        return True
    _print(context, f"The MCP server {spec.id} has changed since you approved it:")
    for change in changes:
        _print(context, *_describe_change(change))
    if is_agreed or _confirm(context, "Approve the changes?"):
        approvals.accept(spec)
        return True
    _print(context, f"  these tools are not offered; edgevox mcp approve {spec.id} asks again")
    return False


def describe_tool(definition: Definition) -> tuple[str, ...]:
    """A tool as a person is to judge it: all of what a model would read, and what is asked before it runs."""
    asks = {"never": "only reads", "voice": "asks before it runs", "screen": "asks on the screen"}
    words = _sanitize(" ".join(definition.description.split()))
    slots = ", ".join(map(_sanitize, definition.input_schema.get("properties", {})))
    return f"{_sanitize(definition.name)}({slots}), {asks[definition.confirm]}", f"    {words}"


def _describe_change(change: Change) -> tuple[str, ...]:
    now = describe_tool(change.now)
    if change.before is None:
        return f"  new: {now[0]}", *now[1:]
    before = describe_tool(change.before)
    return f"  was: {before[0]}", *before[1:], f"  is:  {now[0]}", *now[1:]


def _is_from_command_line(spec: ServerSpec, context: Context) -> bool:
    """True for the server that the command line itself names."""
    settings = context.settings
    source = settings.sources.get("mcp.command")
    return (
        isinstance(spec, StdioServer)
        and (spec.command, spec.args) == (settings.mcp.command, settings.mcp.args)
        and source is not None
        and source.layer == "flag"
    )


def _confirm(context: Context, question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    try:
        answer = context.err.input(Text(f"{question} [y/N] "))
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _sanitize(text: str) -> str:
    """A stranger's words on a terminal: no escape sequence, nothing that cannot be seen."""
    text = sanitize_tool_output(text)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"


def _print(context: Context, *lines: str) -> None:
    for line in lines:
        context.err.print(Text(line), soft_wrap=True)
