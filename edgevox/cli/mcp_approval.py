"""Asking a person about MCP servers: may this command be run, and is this tool still what it was?"""

from __future__ import annotations

import sys

from rich.text import Text

from edgevox.cli.context import Context
from edgevox.tools.mcp.approvals import FILE_NAME, Approvals, Change
from edgevox.tools.mcp.config import ServerSpec, StdioServer, configured_servers
from edgevox.tools.mcp.definition import Definition
from edgevox.tools.neutral import neutral_text

_MAX_SHOWN_CHARS = 600


def approvals_of(context: Context) -> Approvals:
    return Approvals(context.folders.state / FILE_NAME)


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
            if _was_typed(spec, context):
                approvals.approve(spec)  # whoever typed the command has seen it
            else:
                approve_server(spec, approvals, context)
        approve_changes(spec, approvals, context)


def approve_server(
    spec: ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool = False
) -> bool:
    """Show the exact command, and ask; whether it is approved then."""
    what = "be run, with your rights" if isinstance(spec, StdioServer) else "be told what you ask it"
    _say(context, f"The MCP server {spec.id} would {what}:", f"  {_safe(spec.shown)}")
    if is_agreed or _agrees(context, "Approve it?"):
        approvals.approve(spec)
        return True
    _say(context, f"  it is not started; edgevox mcp approve {spec.id} asks again")
    return False


def approve_changes(
    spec: ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool = False
) -> bool:
    """Show what became of a server's tools since they were approved, and ask; whether nothing waits then."""
    changes = approvals.changes(spec)
    if not changes:
        return True
    _say(context, f"The MCP server {spec.id} has changed since you approved it:")
    for change in changes:
        _say(context, *_described(change))
    if is_agreed or _agrees(context, "Approve the changes?"):
        approvals.accept(spec)
        return True
    _say(context, f"  these tools are not offered; edgevox mcp approve {spec.id} asks again")
    return False


def described(definition: Definition) -> tuple[str, ...]:
    """A tool as a person is to judge it: all of what a model would read, and what is asked before it runs."""
    asks = {"never": "only reads", "voice": "asks before it runs", "screen": "asks on the screen"}
    words = _safe(" ".join(definition.description.split()))
    slots = ", ".join(map(_safe, definition.input_schema.get("properties", {})))
    return f"{_safe(definition.name)}({slots}), {asks[definition.confirm]}", f"    {words}"


def _described(change: Change) -> tuple[str, ...]:
    now = described(change.now)
    if change.before is None:
        return f"  new: {now[0]}", *now[1:]
    before = described(change.before)
    return f"  was: {before[0]}", *before[1:], f"  is:  {now[0]}", *now[1:]


def _was_typed(spec: ServerSpec, context: Context) -> bool:
    """True for the server that the command line itself names."""
    settings = context.settings
    source = settings.sources.get("mcp.command")
    return (
        isinstance(spec, StdioServer)
        and (spec.command, spec.args) == (settings.mcp.command, settings.mcp.args)
        and source is not None
        and source.layer == "flag"
    )


def _agrees(context: Context, question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    try:
        answer = context.err.input(Text(f"{question} [y/N] "))
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _safe(text: str) -> str:
    """A stranger's words on a terminal: no escape sequence, nothing that cannot be seen."""
    text = neutral_text(text)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"


def _say(context: Context, *lines: str) -> None:
    for line in lines:
        context.err.print(Text(line), soft_wrap=True)
