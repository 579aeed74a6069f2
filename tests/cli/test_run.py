"""`edgevox run` at a microphone, with scripted engines and devices."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from rich.console import Console

from edgevox.app.local_sessions import SessionView
from edgevox.app.service import ServiceSession
from edgevox.cli import assistant
from edgevox.cli.context import Context
from edgevox.core.files import Folders
from tests.app.harness import Model, ScriptedSessionFactory
from tests.server.websocket.harness import until

_CURSOR_BACK = "\x1b[?25h"  # ends a line that is redrawn


class _SlowModel(Model):
    """Starts once something has come: a thread draws the terminal."""

    def __init__(self, has_come: Callable[[], bool]) -> None:
        super().__init__([])
        self._has_come = has_come

    async def start(self) -> None:
        await until(self._has_come)


class _Sessions(ScriptedSessionFactory):
    """Sessions with the view of the terminal. The first one is ended by SIGTERM once it listens."""

    reload: Callable[[], None] | None = None

    def __init__(self, folders: Folders, view: SessionView, on_ready: Callable[[], None]) -> None:
        super().__init__(folders)
        self._view, self._on_ready = view, on_ready

    @asynccontextmanager
    async def session_context(self, session: ServiceSession) -> AsyncIterator[None]:
        async with self._view(session):
            self._on_ready()
            os.kill(os.getpid(), signal.SIGTERM)
            yield


def test_run_shows_that_it_loads_until_the_engines_are_ready(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    context = Context(out=console, err=console, flags={"tools.enabled": False})
    runtime = ScriptedSessionFactory(folders).runtime(context.settings)
    loading = f"loading {context.settings.preset} …"
    seen: list[str] = []
    vars(runtime.engines).update(llm=_SlowModel(lambda: loading in terminal.getvalue().rpartition(_CURSOR_BACK)[2]))
    monkeypatch.setattr(assistant, "open_runtime", lambda *_: runtime)
    monkeypatch.setattr(
        assistant,
        "LocalSessionFactory",
        lambda *rest: _Sessions(folders, rest[-1], lambda: seen.append(terminal.getvalue())),
    )
    with pytest.raises(KeyboardInterrupt):
        assistant.run_service(context, assistant.terminal_view(context, plain=False))
    assert _CURSOR_BACK in seen[0].rpartition(loading)[2]
