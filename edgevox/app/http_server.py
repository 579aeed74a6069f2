"""Runs the HTTP server and, if enabled, the Wyoming server for a started assistant."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from rich.console import Console

from edgevox.app.runtime import AssistantRuntime
from edgevox.core import events
from edgevox.core.turn import background_task
from edgevox.satellites.connector import SatelliteConnector
from edgevox.satellites.store import DeviceFile
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.listener import certificate_of, http_listener, is_exposed
from edgevox.server.http.tokens import Tokens, token_file

log = logging.getLogger(__name__)


@asynccontextmanager
async def run_server_only(runtime: AssistantRuntime, console: Console) -> AsyncIterator[str]:
    """Serve a started runtime that has no microphone, and yield the URL. Raises ConfigError.

    Clients are notified of its alarms, and its delayed commands run as turns of the local room, whose questions are
    answered over HTTP.
    """
    pipeline = runtime.pipeline(conversation=runtime.conversation())
    async with AsyncExitStack() as running:
        url = await running.enter_async_context(run_http_server(runtime, console, rings_here=False))
        if runtime.home_context.toolbox is not None:
            # Evaluates the long system prompt and stores it on disk before the first request.
            pipeline.start_idle_work()
        if alarm_player := runtime.alarm_player(pipeline):
            running.enter_context(runtime.bus.listening(partial(_report_alarm, console)))
            await running.enter_async_context(alarm_player.running(runtime.satellites.is_spoken_to))
        yield url


def _report_alarm(console: Console, event: events.Event) -> None:
    """Print what rings and what delayed commands answer; the log has no words of it."""
    match event:
        case events.RingStarted(kind=kind, text=text, late_s=late_s):
            log.info("a %s is due, %.0f s late", kind, late_s)
            console.print(text, markup=False, soft_wrap=True)
        case events.RingEnded(kind=kind, how=how):
            log.info("the %s ended: %s", kind, how)
        case events.RingTrouble(error=error, hint=hint):
            log.error("%s (%s)", error, hint)
        case events.ConfirmationDecided(granted=False, why=why):
            log.warning("a delayed command was not run: %s", why)
        case events.TurnEnded(turn_id=turn_id, outcome=outcome, reply=reply):
            log.info("turn %s of a delayed command was %s", turn_id, outcome)
            console.print(reply, markup=False, soft_wrap=True)
        case _:
            pass


@asynccontextmanager
async def run_http_server(
    runtime: AssistantRuntime, console: Console, reload: Callable[[], None] | None = None, *, rings_here: bool = True
) -> AsyncIterator[str]:
    """Serve a started runtime during the block and yield the URL. Raises ConfigError.

    `reload` makes the assistant reload the settings file. `rings_here` says that this machine has a loudspeaker on
    which timers ring.
    """
    settings = runtime.settings.server
    tokens = Tokens.open(runtime.folders)
    assistant = runtime.assistant()
    queues = EngineQueues(assistant, settings)
    app = create_app(assistant, settings, tokens, queues, reload=reload)
    with runtime.bus.listening(queues.on_event):
        async with (
            http_listener(app, settings.host, settings.port, certificate_of(settings)) as url,
            _run_wyoming_server(runtime, assistant, queues, console, rings_here=rings_here),
            _connect_satellites(runtime, assistant, queues),
        ):
            console.print(f"serving {assistant.name} at {url}/v1", markup=False, soft_wrap=True)
            console.print(f"  page: {url}/ (edgevox open)", markup=False, soft_wrap=True)
            console.print(f"  tokens: {token_file(runtime.folders)}", markup=False, soft_wrap=True)
            if is_exposed(settings.host):
                console.print("  reachable from other machines: every request needs a token", style="yellow")
            yield url


@asynccontextmanager
async def _connect_satellites(
    runtime: AssistantRuntime, assistant: Assistant, queues: EngineQueues
) -> AsyncIterator[None]:
    """Connect to the devices of satellites.toml; without STT and TTS they would have nothing to say."""
    factory = assistant.session_factory
    if factory is None or not (factory.listens and factory.speaks):
        yield
        return
    connector = SatelliteConnector(DeviceFile(runtime.folders), assistant, queues, runtime.settings.wake)
    async with background_task(connector.run()):
        yield


@asynccontextmanager
async def _run_wyoming_server(
    runtime: AssistantRuntime, assistant: Assistant, queues: EngineQueues, console: Console, *, rings_here: bool
) -> AsyncIterator[None]:
    """Serve STT, TTS, wake words and tools to Home Assistant, if enabled. Raises ConfigError."""
    server = runtime.settings.server
    if not server.wyoming:
        yield
        return
    # Imported here because it is optional.
    from edgevox.server.wyoming import WyomingService, wyoming_listener
    from edgevox.server.wyoming_announcement import announced

    offer = WyomingService(assistant, queues, server, runtime.settings.wake, rings_here=rings_here)
    peers, host = server.wyoming_peers, server.wyoming_host
    async with AsyncExitStack() as running:
        if offer.rings is not None:
            running.push_async_callback(offer.rings.close)
            running.enter_context(runtime.bus.listening(offer.rings.on_event))
        address = await running.enter_async_context(wyoming_listener(offer, host, server.wyoming_port, peers))
        if server.wyoming_announce:
            await running.enter_async_context(announced("EdgeVox", host, int(address.rpartition(":")[2])))
        info = offer.info
        parts = {"STT": info.asr, "TTS": info.tts, "wake words": info.wake, "tools": info.handle}
        offered = ", ".join(name for name, programs in parts.items() if programs) or "nothing"
        console.print(f"serving Wyoming at {address}: {offered}", markup=False, soft_wrap=True)
        if is_exposed(host):
            allowed = ", ".join(peers) or "none (set server.wyoming_peers)"
            console.print(f"  other machines that may connect without a token: {allowed}", style="yellow", markup=False)
        yield
