"""What is served: a model and how it is asked; and where there are any, its own tools, an ear and a voice."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from edgevox.agents import LLMAgent
from edgevox.agents.acting import Publish
from edgevox.agents.asked_model import AskedModel
from edgevox.agents.confirm import Confirm
from edgevox.agents.conversation import Conversation
from edgevox.languages import ENGLISH
from edgevox.metrics import TurnRecord
from edgevox.server.surroundings import Surroundings
from edgevox.server.voice.line import Switchboard
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.scopes import Caller
from edgevox.types import ChatModel, Sampling
from edgevox.voice.asking import Asking
from edgevox.voice.hearing import Hearing
from edgevox.voice.voice import Voice


class MakeAgent(Protocol):
    """Makes an agent that acts with the assistant's own tools, for one request.

    `instructions` are the program's own and follow those of the assistant; `client` names its place in the
    model's memory.
    """

    def __call__(
        self,
        *,
        model: ChatModel,
        instructions: str,
        sampling: Sampling,
        stop: tuple[str, ...],
        conversation: Conversation,
        caller: Caller,
        confirm: Confirm,
        publish: Publish,
        client: str,
    ) -> LLMAgent: ...


@dataclass(frozen=True, slots=True)
class Assistant:
    """The parts of a daemon that other programs may use. `name` is that of the model.

    Without `make_agent` and `executor` it has no tools of its own. `hearing` is asked for by language: None
    is for finding out. A model that `resumes` can go on with a reply that was interrupted. `states` tells how
    its engines are. `record` is told what happens in turns in which the assistant acts for a program, `keep`
    has the records of those of others, and `asking` are those who ask a person. Through the `switchboard`
    people speak with it from elsewhere, and the `surroundings` are what they see besides.
    """

    name: str
    asked: AskedModel
    make_agent: MakeAgent | None = None
    executor: ToolExecutor | None = None
    hearing: Callable[[str | None], Hearing] | None = None
    hearing_name: str = ""
    voice: Callable[[float], Voice] | None = None
    voice_name: str = ""
    voice_language: str = ENGLISH
    resumes: bool = True
    states: Callable[[], Mapping[str, str]] = dict
    record: Publish = lambda _event: None
    keep: Callable[[TurnRecord], None] = lambda _record: None
    asking: Callable[[], Sequence[Asking]] = tuple
    switchboard: Switchboard | None = None
    surroundings: Surroundings | None = None
    started_s: float = field(default_factory=time.time)

    @property
    def model_names(self) -> tuple[str, ...]:
        ears = (self.hearing_name,) if self.hearing else ()
        voices = (self.voice_name,) if self.voice else ()
        return (self.name, *ears, *voices)
