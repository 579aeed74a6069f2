"""Downloads in the background of a server, each in a thread, and how far they are."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from edgevox.core.errors import EdgevoxError
from edgevox.models.download import BytesReceived, PullEvent
from edgevox.models.store import ModelStore


class DownloadStopped(Exception):
    """The program ends; the next download goes on from here."""


@dataclass(slots=True)
class Download:
    """One download; `received` counts the bytes by file, in the thread that receives them."""

    received: dict[str, int] = field(default_factory=dict)
    error: str = ""
    is_running: bool = True
    is_stopped: bool = False

    def note(self, event: PullEvent) -> None:
        """Raises DownloadStopped once it is stopped."""
        if self.is_stopped:
            raise DownloadStopped
        if isinstance(event, BytesReceived):
            self.received[event.item] = event.bytes_done


class ModelDownloads:
    """The downloads since the server started, by the id of the model."""

    def __init__(self) -> None:
        self._downloads: dict[str, Download] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def get(self, model_id: str) -> Download:
        """The last download of the model; one that never began is not running."""
        return self._downloads.get(model_id) or Download(is_running=False)

    def start(self, store: ModelStore, model_id: str) -> None:
        """Begin to download a model of the manifest, unless that is under way."""
        if not self.get(model_id).is_running:
            self._downloads[model_id] = Download()
            task = asyncio.create_task(self._pull(store, model_id, self._downloads[model_id]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pull(self, store: ModelStore, model_id: str, download: Download) -> None:
        try:
            await asyncio.to_thread(store.pull, model_id, download.note)
        except EdgevoxError as error:
            download.error = ". ".join(filter(None, (error.message, error.hint)))
        except asyncio.CancelledError:
            download.is_stopped = True  # the end of the program waits for the thread
            raise
        finally:
            download.is_running = False
