"""A daemon's server: its address and its token file are told, and the person in the room goes first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from edgevox.cli.context import Context
from edgevox.daemon import Daemon
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.certificate import certificate_of
from edgevox.server.queues import Queues
from edgevox.server.serving import is_open_to_others, serving
from edgevox.server.tokens import Tokens, token_file
from edgevox.settings import ServerSettings


@asynccontextmanager
async def served(
    daemon: Daemon, context: Context, reload: Callable[[], None] | None = None
) -> AsyncIterator[str]:
    """Serve a daemon that has started, inside the block. Raises ConfigError.

    `reload` lets the assistant live by the settings as they are in the file.
    """
    settings = daemon.settings.server
    tokens = Tokens.open(context.folders)
    assistant = daemon.assistant()
    queues = Queues(assistant, settings)
    app = create_app(assistant, settings, tokens, queues, reload=reload)
    with daemon.bus.listening(queues.hear):
        async with (
            serving(app, settings.host, settings.port, certificate_of(settings)) as url,
            _wyoming(settings, assistant, queues, context),
        ):
            context.err.print(f"serving {assistant.name} at {url}/v1", markup=False, soft_wrap=True)
            context.err.print(f"  page: {url}/ (edgevox open)", markup=False, soft_wrap=True)
            context.err.print(f"  tokens: {token_file(context.folders)}", markup=False, soft_wrap=True)
            if is_open_to_others(settings.host):
                context.err.print(
                    "  other machines can reach it: every request needs a token", style="yellow"
                )
            yield url


@asynccontextmanager
async def _wyoming(
    settings: ServerSettings, assistant: Assistant, queues: Queues, context: Context
) -> AsyncIterator[None]:
    """Ear and voice for Home Assistant as well, where the settings want it. Raises ConfigError."""
    if not settings.wyoming:
        yield
        return
    # Not at the top: who does not want it need not wait for what it imports.
    from edgevox.server.wyoming.offer import Offer
    from edgevox.server.wyoming.serving import serving_wyoming

    offer = Offer(assistant, queues, settings)
    peers = settings.wyoming_peers
    async with serving_wyoming(offer, settings.wyoming_host, settings.wyoming_port, peers) as address:
        parts = {"ear": offer.info.asr, "voice": offer.info.tts, "tools": offer.info.handle}
        offered = ", ".join(name for name, programs in parts.items() if programs) or "nothing"
        context.err.print(f"serving Wyoming at {address}: {offered}", markup=False, soft_wrap=True)
        if is_open_to_others(settings.wyoming_host):
            who = ", ".join(peers) or "nobody: set server.wyoming_peers"
            context.err.print(
                f"  other machines that may use it, without a token: {who}", style="yellow", markup=False
            )
        yield
