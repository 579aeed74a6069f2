"""The assistant as a library, for Python programs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from anyio.from_thread import start_blocking_portal

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.errors import ModelError
from edgevox.core.files import user_folders
from edgevox.core.turn import Turn
from edgevox.models import open_store

_log = logging.getLogger(__name__)


@contextmanager
def open_assistant(settings: Mapping[str, object] | None = None) -> Iterator[Callable[[str], str]]:
    """Start the assistant and yield a function that answers one text at a time, in one conversation.

    `settings` go before the user's own: {"preset": "qwen3"}. Missing models are downloaded. A tool call that
    needs confirmation is denied, since nobody can be asked. Entering raises ConfigError, ModelError and
    EngineFailed; the function raises EdgevoxError.
    """
    folders = user_folders()
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, flags=settings), folders, store, ["llm"])
    store.ensure(runtime.models.needed(), lambda _progress: None)
    try:
        runtime.models.prepare(_log.info)
    except ModelError as error:  # continue with the downloaded model, which is slower
        _log.warning("%s", error.message)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(runtime):
        pipeline = portal.call(runtime.pipeline)
        yield lambda text: portal.call(pipeline.answer, text, Turn()).reply
