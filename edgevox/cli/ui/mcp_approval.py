"""Asks the user to approve MCP servers and changed MCP tools."""

from __future__ import annotations

from edgevox.cli.context import Context
from edgevox.tools.mcp.approvals import APPROVALS_FILE, Approvals, Change
from edgevox.tools.mcp.config import ServerSpec, StdioServer, configured_servers
from edgevox.tools.mcp.tools import Definition
from edgevox.tools.sanitize import sanitize_tool_output

_MAX_SHOWN_CHARS = 600


def approvals_of(context: Context) -> Approvals:
    return Approvals(context.folders.state / APPROVALS_FILE)


def approve_servers(context: Context) -> None:
    """Ask for pending approvals, or print them if there is no terminal. Raises ConfigError.

    Servers that are not approved are not started, and tools that are not approved are not offered.
    """
    servers = configured_servers(context.settings.mcp, context.folders)
    if not servers:
        return
    approvals = approvals_of(context)
    for spec in servers:
        if not approvals.is_approved(spec):
            if _is_from_command_line(spec, context):
                approvals.approve(spec)  # the user typed the command
            else:
                approve_server(spec, approvals, context)
        approve_changes(spec, approvals, context)


def approve_server(spec: ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool = False) -> bool:
    """Show the exact command and ask for approval; returns the answer."""
    effect = "would run with your rights" if isinstance(spec, StdioServer) else "would receive what you ask it"
    context.note(f"The MCP server {spec.id} {effect}:", f"  {_sanitize(spec.shown)}")
    if is_agreed or context.confirm("Approve it?"):
        approvals.approve(spec)
        return True
    context.note(f"  not started; to approve it: edgevox mcp approve {spec.id}")
    return False


def approve_changes(spec: ServerSpec, approvals: Approvals, context: Context, *, is_agreed: bool = False) -> bool:
    """Show the tools that changed since approval and ask; returns whether no approval is pending."""
    changes = approvals.changes(spec)
    if not changes:
        return True
    context.note(f"The MCP server {spec.id} has changed since you approved it:")
    for change in changes:
        context.note(*_describe_change(change))
    if is_agreed or context.confirm("Approve the changes?"):
        approvals.accept(spec)
        return True
    context.note(f"  these tools are not offered; to approve them: edgevox mcp approve {spec.id}")
    return False


def describe_tool(definition: Definition) -> tuple[str, ...]:
    """Describe a tool for approval: the text that a model reads, and its confirmation rule."""
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
    """Return whether the server was given on the command line."""
    settings = context.settings
    source = settings.sources.get("mcp.command")
    return (
        isinstance(spec, StdioServer)
        and (spec.command, spec.args) == (settings.mcp.command, settings.mcp.args)
        and source is not None
        and source.layer == "flag"
    )


def _sanitize(text: str) -> str:
    """Make untrusted text safe for the terminal: no escape sequences or invisible characters."""
    text = sanitize_tool_output(text)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
