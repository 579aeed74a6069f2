"""What `edgevox doctor` says of engines on other machines: whether they are there, and what they can do."""

from __future__ import annotations

import ipaddress
import time
from contextlib import aclosing
from urllib.parse import urlsplit

from edgevox.cli.finding import Finding
from edgevox.daemon import Daemon
from edgevox.errors import EdgevoxError
from edgevox.llm.tool_choice import RESPOND
from edgevox.turn import CancelFlag
from edgevox.types import ChatDone, ChatRequest, Message

_GUIDE = "docs/guide/remote.md says which servers can"


async def remote_findings(daemon: Daemon) -> list[Finding]:
    """Each server asked once who it is."""
    findings = []
    for engine, address in daemon.engines.remote_addresses().items():
        part = f"remote {engine}"
        started_s = time.monotonic()
        try:
            await daemon.engines.probe(engine)
        except EdgevoxError as error:
            findings.append(Finding.problem(part, error))
            continue
        took_ms = (time.monotonic() - started_s) * 1000
        findings.append(Finding("ok", part, f"{address} answered in {took_ms:.0f} ms"))
        if is_readable_on_the_way(address):
            detail = f"what is said goes to {urlsplit(address).hostname} in the clear, and so does a key"
            findings.append(Finding("note", part, detail, "https, where the network is not yours alone"))
    return findings


async def forcing(daemon: Daemon) -> Finding:
    """Whether the server holds the model to a call where one is required."""
    request = ChatRequest(
        (Message("user", "Say hello."),),
        tools=(RESPOND,),
        tool_choice="required",
        wire_format=daemon.preset.tool_call_parsers[0],
        sampling=daemon.settings.llm.sampling,
    )
    warnings: tuple[str, ...] = ()
    async with aclosing(daemon.engines.llama.stream(request, CancelFlag())) as replies:
        async for reply in replies:
            if isinstance(reply, ChatDone):
                warnings = reply.warnings
    if warnings:
        return Finding("note", "remote llama", "; ".join(warnings), _GUIDE)
    return Finding("ok", "remote llama", "calls a tool where one is required")


def is_readable_on_the_way(address: str) -> bool:
    """Whether others on the network could read along."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return False
    host = parts.hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"
