"""The queues of one server: one for each engine."""

from __future__ import annotations

from edgevox.events import Event
from edgevox.server.assistant import Assistant
from edgevox.server.model_queue import ModelQueue
from edgevox.server.work_queue import WorkQueue
from edgevox.settings import ServerSettings


class Queues:
    """Everything that programs wait for. `hear` is to be told what happens in the room."""

    def __init__(self, assistant: Assistant, settings: ServerSettings) -> None:
        self.model = ModelQueue(
            assistant.asked.model, max_waiting=settings.max_waiting, resumes=assistant.resumes
        )
        self.hearing = WorkQueue(max_waiting=settings.max_audio_waiting)
        self.speaking = WorkQueue(max_waiting=settings.max_waiting)

    def hear(self, event: Event) -> None:
        for queue in (self.model, self.hearing, self.speaking):
            queue.hear(event)
