"""Recognises the speaker of an utterance, and says what that person may do.

A voice is not a password: a recording of it is recognised too. See docs/guide/people.md.
"""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Sequence
from contextlib import aclosing

import numpy as np
from numpy.typing import NDArray

from edgevox.config.sections import PeopleSettings
from edgevox.core.errors import EdgevoxError, StateError
from edgevox.core.turn import EVERYTHING, Caller, CancelFlag
from edgevox.core.types import GUEST, Audio, SpeakerService, Transcript, VoiceEmbedding
from edgevox.speakers.people import People, Person, SpeakerMatcher, is_same_voice
from edgevox.tools.policy import CONFIRM, ConfirmationPolicy, PendingConfirmation
from edgevox.tools.tool import Resolution

_log = logging.getLogger(__name__)

_MY_NEW_LIST = re.compile(
    r"^(?:please )?(?:create|make|start)(?: me)? (?:a|my)(?: new| own| personal)* list(?: for me| of my own)?[.!]?$",
    re.IGNORECASE,
)
_MY_LIST = re.compile(r"\bmy (?:own |personal )?(?:to-?do |to do )?list\b", re.IGNORECASE)


class SpeakerRecognizer:
    """Names the speaker of an utterance, once somebody is enrolled; `voices` embeds the audio."""

    def __init__(self, voices: SpeakerService, people: People, settings: PeopleSettings) -> None:
        self.people = people
        self._voices = voices
        self._settings = settings

    @property
    def is_active(self) -> bool:
        """Whether a person is enrolled, or may be: where the file cannot be read, everybody is a guest."""
        return self._enrolled() != ()

    async def embed(self, audio: Audio, cancel: CancelFlag) -> VoiceEmbedding | None:
        """The embedding of a voice; None if cancelled. Raises EngineFailed, ModelError and ModelMissing."""
        async with aclosing(self._voices.stream(audio, cancel)) as embeddings:
            async for embedding in embeddings:
                return embedding
        return None

    async def recognise(self, audio: Audio, cancel: CancelFlag) -> tuple[str, NDArray[np.float32] | None]:
        """The name of the speaker or GUEST, "" for too little speech, and the embedding; None if the engine failed."""
        try:
            embedding = await self.embed(audio, cancel)
        except EdgevoxError as error:
            _log.warning("the speaker cannot be recognised: %s", error.message)
            return "", None
        return (self.match(embedding.vector), embedding.vector) if embedding else ("", None)

    def match(self, embedding: NDArray[np.float32]) -> str:
        """The name of the person with this voice, GUEST for another voice, "" without an embedding."""
        return SpeakerMatcher(self._enrolled() or (), self._settings.threshold).match(embedding)

    def caller_for(self, speaker: str, base: Caller) -> Caller | None:
        """The caller with the scopes of the speaker, within those of `base`; None while nobody is enrolled.

        A voice that could not be told is a guest.
        """
        if not self.is_active:
            return None
        scopes = self._scopes_of(speaker)
        return dataclasses.replace(base.limited_to(Caller(base.name, scopes)), person=speaker or GUEST)

    def may_confirm(self, speaker: str, pending: PendingConfirmation) -> bool:
        """Whether a spoken yes of this voice counts."""
        if self._settings.confirm_by == "anyone" or not self.is_active:
            return True
        by = Caller(speaker or GUEST, self._scopes_of(speaker))
        tool, resolution = pending.resolved.tool, pending.resolved.resolution
        targets = resolution.targets if isinstance(resolution, Resolution) else None
        needed = ConfirmationPolicy().needed_scopes(tool, targets) if tool else ()
        return all(map(by.may, (CONFIRM, *needed)))

    def may_follow_up(self, now: Transcript, before: Transcript) -> bool:
        """Whether this voice may go on without the wake word after the utterance `before`.

        Guests are compared by their voices. Where a voice is not known, as that of a single short word, it may.
        """
        if self._settings.follow_ups == "anyone" or not (now.speaker and before.speaker):
            return True
        if now.voice is None or before.voice is None or now.speaker != GUEST or before.speaker != GUEST:
            return now.speaker == before.speaker
        return is_same_voice(now.voice, before.voice)

    def personal(self, text: str, speaker: str) -> str:
        """The text with "my list" as the list of the speaker, if that is an enrolled person."""
        if speaker in ("", GUEST):
            return text
        if _MY_NEW_LIST.match(text.strip()):
            return f"create a list called {speaker}'s list"
        return _MY_LIST.sub(f"{speaker}'s list", text)

    def _scopes_of(self, speaker: str) -> frozenset[str]:
        if speaker in ("", GUEST):
            return frozenset(self._settings.guest_scopes)
        by_name = {name.casefold(): scopes for name, scopes in self._settings.scopes.items()}
        return frozenset(by_name.get(speaker.casefold(), (EVERYTHING,)))

    def _enrolled(self) -> Sequence[Person] | None:
        """The people; None if they are unknown."""
        if not self._settings.enabled:
            return ()
        try:
            return self.people.all()
        except StateError as error:
            _log.warning("the enrolled people are unknown, and everybody is a guest: %s", error.message)
            return None
