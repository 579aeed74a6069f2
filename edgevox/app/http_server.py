"""Runs the HTTP server and, if enabled, the Wyoming server for a started assistant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from rich.console import Console

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import ServerSettings
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.listener import certificate_of, http_listener, is_exposed
from edgevox.server.http.tokens import Tokens, token_file


@asynccontextmanager
async def run_http_server(
    runtime: AssistantRuntime, console: Console, reload: Callable[[], None] | None = None
) -> AsyncIterator[str]:
    """Serve a started runtime during the block and yield the URL. Raises ConfigError.

    `reload` makes the assistant reload the settings file.
    """
    settings = runtime.settings.server
    tokens = Tokens.open(runtime.folders)
    assistant = runtime.assistant()
    queues = EngineQueues(assistant, settings)
    app = create_app(assistant, settings, tokens, queues, reload=reload)
    with runtime.bus.listening(queues.on_event):
        async with (
            http_listener(app, settings.host, settings.port, certificate_of(settings)) as url,
            _run_wyoming_server(settings, assistant, queues, console),
        ):
            console.print(f"serving {assistant.name} at {url}/v1", markup=False, soft_wrap=True)
            console.print(f"  page: {url}/ (edgevox open)", markup=False, soft_wrap=True)
            console.print(f"  tokens: {token_file(runtime.folders)}", markup=False, soft_wrap=True)
            if is_exposed(settings.host):
                console.print("  reachable from other machines: every request needs a token", style="yellow")
            yield url


@asynccontextmanager
async def _run_wyoming_server(
    settings: ServerSettings, assistant: Assistant, queues: EngineQueues, console: Console
) -> AsyncIterator[None]:
    """Serve STT, TTS and tools to Home Assistant, if enabled. Raises ConfigError."""
    if not settings.wyoming:
        yield
        return
    # Imported here because it is optional.
    from edgevox.server.wyoming import WyomingService, wyoming_listener

    offer = WyomingService(assistant, queues, settings)
    peers = settings.wyoming_peers
    async with wyoming_listener(offer, settings.wyoming_host, settings.wyoming_port, peers) as address:
        parts = {"STT": offer.info.asr, "TTS": offer.info.tts, "tools": offer.info.handle}
        offered = ", ".join(name for name, programs in parts.items() if programs) or "nothing"
        console.print(f"serving Wyoming at {address}: {offered}", markup=False, soft_wrap=True)
        if is_exposed(settings.wyoming_host):
            allowed = ", ".join(peers) or "none (set server.wyoming_peers)"
            console.print(f"  other machines that may connect without a token: {allowed}", style="yellow", markup=False)
        yield
