"""What the talking commands share: missing models pulled, a daemon, an honest exit code."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from pathlib import Path

from edgevox.cli.context import Context
from edgevox.cli.pull_display import pull_display
from edgevox.daemon import Daemon
from edgevox.errors import ConfigError, ModelError
from edgevox.events import EngineName
from edgevox.modelstore import open_store


def open_daemon(context: Context, engines: Collection[EngineName], *, adapter: Path | None = None) -> Daemon:
    """A daemon that is not started yet, with its models in the store. Raises ConfigError and ModelError.

    `adapter` is a file that goes before the preset's own.
    """
    if adapter is not None and not adapter.is_file():
        raise ConfigError(f"there is no file {adapter}", hint="--adapter takes a GGUF file")
    store = open_store(context.folders)
    daemon = Daemon(context.settings, context.folders, store, engines, adapter_path=adapter)
    with pull_display(context.err) as progress:
        store.ensure(daemon.models.needed(), progress)
    try:
        daemon.models.prepare(lambda text: context.err.print(text, markup=False, soft_wrap=True))
    except ModelError as error:
        context.complain(error)
        context.err.print("  the model works as it was downloaded, only slower", markup=False)
    return daemon


def report_unrecorded(context: Context, daemon: Daemon) -> int:
    """Say that a turn could not be recorded; the exit code that follows from it."""
    problem = daemon.record_problem
    if problem is None:
        return 0
    context.complain(problem)
    return problem.exit_code


async def serve_too(
    daemon: Daemon, context: Context, running: AsyncExitStack, reload: Callable[[], None] | None = None
) -> None:
    """Serve other programs as well, where the settings want it; `reload` reads the settings again."""
    if daemon.settings.server.enabled:
        # Not at the top: who talks without a server does not wait for what it imports.
        from edgevox.cli.served import served

        await running.enter_async_context(served(daemon, context, reload))
