"""A recogniser for tests of what happens during speech."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import TranscribeRequest, Transcript


@dataclass
class FakeStt:
    """Answers what its script says, when it says so: a line, an error, or only once it is allowed to."""

    script: list[str | EdgevoxError | asyncio.Event]
    requests: list[TranscribeRequest] = field(default_factory=list)
    flags: list[CancelFlag] = field(default_factory=list)
    working: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    language: str = "en"

    async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        answer = self.script[len(self.requests)]
        self.requests.append(request)
        self.flags.append(cancel)
        self.working += 1
        self.begun.set()
        try:
            if isinstance(answer, EdgevoxError):
                raise answer
            if isinstance(answer, asyncio.Event):
                await answer.wait()
                answer = "late"
        finally:
            self.working -= 1
        if not cancel.is_set():
            yield Transcript(answer, self.language, request.audio.duration_s, dropped=None if answer else "no speech")
