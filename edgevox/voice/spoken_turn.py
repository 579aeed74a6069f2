"""What is said aloud in one turn: text in as it is written, sentence after sentence out of the mouth."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from edgevox.events import AudioReady, Event, PlaybackFinished, PlaybackStarted, SynthesisStarted
from edgevox.languages import ENGLISH
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import Turn
from edgevox.types import Audio
from edgevox.voice.foreseen import ForeseenSentence
from edgevox.voice.heard_words import SpokenSentence, heard_words
from edgevox.voice.mouth import Mouth

Publish: TypeAlias = Callable[[Event], None]

# One piece plays, one waits, one is being made: more would be wasted when the person interrupts.
_PIECES_AHEAD = 1
# -50 dBFS, and what is kept before it, so that no consonant is cut.
_AUDIBLE = 0.003
_BEFORE_S = 0.01
_LOOKS_WHOLE = re.compile(r"(?<!\d)[.!?…][\"'”’)]*\s*$")


@dataclass(frozen=True, slots=True)
class _PassageEnd:
    """Here the mouth falls silent for a while."""

    is_reached: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the sound of one sentence."""

    sentence: SpokenSentence
    sound: Audio


class SpokenTurn:
    """Sentences are synthesized while those before them are played. `start` it, write, `finish`.

    Before the turn's gate is open the first sound may be made, and none is played. `language` is that of
    the reply; what else is said is in English, where nothing else is said of it.
    """

    def __init__(self, mouth: Mouth, turn: Turn, publish: Publish, *, language: str = ENGLISH) -> None:
        self._mouth = mouth
        self._turn = turn
        self._publish = publish
        self.is_finished = False
        """Whether everything was written; it may still be spoken."""
        self.written = ""
        """The reply, as far as it was written."""
        self._language = language
        self._splitter = SentenceSplitter(language)
        self._foreseen: ForeseenSentence | None = None
        self._reply: list[SpokenSentence] = []
        """The sentences of the reply: not what was interjected or asked."""
        self._sentences: asyncio.Queue[SpokenSentence | _PassageEnd | None] = asyncio.Queue()
        self._sounds: asyncio.Queue[_Piece | _PassageEnd | None] = asyncio.Queue(_PIECES_AHEAD)
        self._may_begin = asyncio.Event()
        self._unmade = 0
        """Sentences whose sound has still to be made."""
        self._has_begun = False
        self._has_sound = False

    @property
    def is_to_be_heard(self) -> bool:
        """Whether something of it is being said, or about to be."""
        return self._unmade > 0 or not self._sounds.empty() or (self._has_begun and self._mouth.is_sounding)

    def heard_text(self) -> str:
        """What was heard of the reply, up to the last whole word, once it is over."""
        return heard_words(self.written, self._reply)

    def write(self, piece: str) -> None:
        """The next piece of the reply: a sentence is spoken as soon as it is whole."""
        self.written += piece
        self._put_reply(self._splitter.feed(piece))

    def foresee(self, text: str) -> None:
        """The reply will probably begin with this: its first sentence is made, and not yet played."""
        if self._foreseen is not None or self._reply or self._turn.cancel.is_set():
            return
        splitter = SentenceSplitter(self._language)
        first = splitter.feed(text) or (splitter.finish() if _LOOKS_WHOLE.search(text) else ())
        if first:
            voice = self._mouth.voice
            self._foreseen = ForeseenSentence(voice, first[0], self._turn.cancel, self._language)

    def interject(self, sentence: str, language: str = ENGLISH) -> None:
        """Say this behind what is whole by now, before the rest of the reply."""
        self._put(SpokenSentence(sentence, language=language))

    async def say(self, text: str) -> None:
        """Say this behind all that was written; returns when its last sample was played, or on a cancel."""
        self._flush()
        self._put(SpokenSentence(text))
        end = _PassageEnd()
        self._sentences.put_nowait(end)
        await end.is_reached.wait()

    def finish(self) -> None:
        """Nothing more will be written."""
        self.is_finished = True
        self._flush()
        self._sentences.put_nowait(None)

    def start(self, group: asyncio.TaskGroup) -> None:
        """Speak until `finish`, in tasks of `group`, which raise EngineFailed and DeviceUnavailable."""
        self._turn.gate.when_waited_at(self._flush_sentence)
        group.create_task(self._synthesize())
        group.create_task(self._play())

    def _flush_sentence(self) -> None:
        """A sentence that looks whole is: what would show it comes only when the gate is open."""
        if _LOOKS_WHOLE.search(self.written):
            self._flush()

    def _flush(self) -> None:
        self._put_reply(self._splitter.finish())

    def _put_reply(self, sentences: Sequence[str]) -> None:
        for text in sentences:
            sentence = SpokenSentence(text, language=self._language)
            self._reply.append(sentence)
            self._put(sentence)

    def _put(self, sentence: SpokenSentence) -> None:
        self._unmade += 1
        self._sentences.put_nowait(sentence)

    async def _synthesize(self) -> None:
        turn = self._turn
        await self._mouth.voice.prepare(self._language)  # while the reply is still being written
        try:
            while (item := await self._sentences.get()) is not None:
                if isinstance(item, _PassageEnd):
                    await self._pass_on(item)
                elif not turn.cancel.is_set():
                    await self._make(item)
                    self._unmade -= 1
        finally:
            await self._drop_foreseen()
        await self._pass_on(None)

    async def _make(self, sentence: SpokenSentence) -> None:
        turn = self._turn
        self._tell(SynthesisStarted(turn_id=turn.id, text=sentence.text))
        async with aclosing(await self._sound_of(sentence)) as pieces:
            async for sound in pieces:
                if not self._has_sound:
                    sound = _from_its_beginning(sound)
                self._has_sound = True
                self._tell(AudioReady(turn_id=turn.id, audio_s=sound.duration_s))
                sentence.add(sound)
                await self._pass_on(_Piece(sentence, sound))
        sentence.is_made = not turn.cancel.is_set()

    async def _sound_of(self, sentence: SpokenSentence) -> AsyncGenerator[Audio, None]:
        foreseen = self._foreseen
        if foreseen and (foreseen.text, self._language) == (sentence.text, sentence.language):
            self._foreseen = None
            return foreseen.pieces()
        await self._drop_foreseen()
        return self._mouth.voice.speak(sentence.text, self._turn.cancel, sentence.language)

    async def _drop_foreseen(self) -> None:
        if self._foreseen is not None:
            foreseen, self._foreseen = self._foreseen, None
            await foreseen.close()

    async def _pass_on(self, item: _Piece | _PassageEnd | None) -> None:
        self._may_begin.set()
        await self._sounds.put(item)

    def _tell(self, event: Event) -> None:
        self._turn.gate.when_open(lambda: self._publish(event))

    async def _play(self) -> None:
        while (end := await self._play_passage()) is not None:
            end.is_reached.set()

    async def _is_certain(self) -> bool:
        """Wait until all was said that this answers; False when it was not."""
        if not self._turn.gate.is_open:
            # Whoever waits at the gate has something to say: until then nobody needs to be certain.
            self._turn.gate.when_open(self._may_begin.set)
            await self._may_begin.wait()
        return await self._turn.gate.passed(self._turn.cancel)

    async def _play_passage(self) -> _PassageEnd | None:
        """Play up to the next end; None at the end of the turn."""
        ends: list[_PassageEnd | None] = []
        pieces: list[_Piece] = []

        async def upcoming() -> AsyncIterator[Audio]:
            if not await self._is_certain():  # in here: the loudspeaker wakes up meanwhile
                return
            while isinstance(item := await self._sounds.get(), _Piece):
                pieces.append(item)
                yield item.sound
            ends.append(item)

        def started() -> None:
            self._has_begun = True
            self._publish(PlaybackStarted(turn_id=self._turn.id))

        if not self._turn.cancel.is_set():
            _share(await self._mouth.play(upcoming(), self._turn.cancel, started), pieces)
            self._tell(PlaybackFinished(turn_id=self._turn.id))
        # Whoever waits for room in the queue, after a cancel, must not wait for ever.
        while not ends:
            if not isinstance(item := await self._sounds.get(), _Piece):
                ends.append(item)
        return ends[0]


def _share(heard_s: float, pieces: Sequence[_Piece]) -> None:
    """Note for each sentence how much of it was heard, of pieces that were played one behind the other."""
    for piece in pieces:
        part_s = min(heard_s, piece.sound.duration_s)
        piece.sentence.heard_s += part_s
        heard_s -= part_s


def _from_its_beginning(sound: Audio) -> Audio:
    """Without the silence that voices begin with: somebody waits for this one."""
    (audible,) = np.nonzero(np.abs(sound.samples) > _AUDIBLE)
    if not len(audible):
        return sound
    return Audio(sound.samples[max(0, audible[0] - round(_BEFORE_S * sound.rate_hz)) :], sound.rate_hz)
