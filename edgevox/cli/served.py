"""A daemon's server: its address and its token file are told, and the person in the room goes first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from edgevox.cli.context import Context
from edgevox.daemon import Daemon
from edgevox.server.app import create_app
from edgevox.server.queues import Queues
from edgevox.server.serving import is_open_to_others, serving
from edgevox.server.tokens import Tokens, token_file


@asynccontextmanager
async def served(daemon: Daemon, context: Context) -> AsyncIterator[str]:
    """Serve a daemon that has started, inside the block. Raises ConfigError."""
    settings = daemon.settings.server
    tokens = Tokens.open(context.folders)
    assistant = daemon.assistant()
    queues = Queues(assistant, settings)
    app = create_app(assistant, settings, tokens, queues)
    with daemon.bus.listening(queues.hear):
        async with serving(app, settings.host, settings.port) as url:
            context.err.print(f"serving {assistant.name} at {url}/v1", markup=False, soft_wrap=True)
            context.err.print(f"  tokens: {token_file(context.folders)}", markup=False, soft_wrap=True)
            if is_open_to_others(settings.host):
                context.err.print(
                    "  other machines can reach it: every request needs a token", style="yellow"
                )
            yield url
