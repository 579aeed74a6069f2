"""What all Wyoming clients of one server share: the assistant, its queues, and what they may do."""

from __future__ import annotations

from functools import cached_property

from wyoming.info import Info

from edgevox.agents.confirm import nobody_to_ask
from edgevox.server.answering import Answering
from edgevox.server.assistant import Assistant
from edgevox.server.queues import Queues
from edgevox.server.wyoming.description import describe
from edgevox.settings import ServerSettings
from edgevox.tools.scopes import Caller


class Offer:
    """Wyoming knows no tokens: whoever may connect is one and the same caller."""

    def __init__(self, assistant: Assistant, queues: Queues, settings: ServerSettings) -> None:
        self.assistant = assistant
        self.queues = queues
        # Nor has it a way to ask back: what needs a yes is refused, with a sentence that says so.
        self.answering = Answering(assistant, queues.model, nobody_to_ask)
        self.caller = Caller("wyoming", frozenset(settings.wyoming_scopes))
        self.max_audio_s = settings.max_audio_s
        self._scopes = settings.wyoming_scopes

    @cached_property
    def info(self) -> Info:
        return describe(self.assistant, self._scopes)
