"""Generates a reply, speaks it sentence by sentence, and records how much was heard."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from edgevox.agents import AgentResult, LLMAgent
from edgevox.core.events import (
    AudioReady,
    Event,
    PlaybackFinished,
    PlaybackStarted,
    ReplyDelta,
    SynthesisStarted,
    TurnSource,
)
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import Turn
from edgevox.core.types import Audio
from edgevox.dialogue.barge_in import SpokenSentence, spoken_prefix
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.dialogue.speculative import SpeculativeSpeech
from edgevox.dialogue.speech_output import SpeechOutput
from edgevox.tts.sentences import SentenceSplitter


class ReplyLanguages:
    """`model` are the languages that the model speaks, None for all; `voices` those of the voices.

    The first voice is the default. Without voices the reply is only read, and can be in any language.
    `expected` is the language that is always spoken, where the settings say so.
    """

    def __init__(
        self,
        *,
        model: Collection[str] | None = None,
        voices: Sequence[str] = (ENGLISH,),
        expected: str | None = None,
    ) -> None:
        self._model = model
        self._voices = voices
        self._expected = expected

    def reply_to(self, spoken: str) -> str:
        """The language of a reply; `spoken` is "" where that is not known, as in what was typed."""
        spoken = spoken or self._expected or ""
        if spoken and self._is_known(spoken) and (not self._voices or spoken in self._voices):
            return spoken
        return next((language for language in self._voices if self._is_known(language)), ENGLISH)

    def to_be_told(self, spoken: str) -> str | None:
        """The language that the model has to be told to answer in; None where it will do so by itself."""
        reply = self.reply_to(spoken)
        if not spoken or (reply == ENGLISH and (spoken == ENGLISH or not self._is_known(spoken))):
            return None
        return reply

    def _is_known(self, language: str) -> bool:
        return self._model is None or language in self._model


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


class SpokenReply:
    """Sentences are synthesized while those before them are played. `start` it, write, `finish`.

    Before the turn's gate is open the first sound may be made, and none is played. `language` is that of
    the reply; what else is said is in English, where nothing else is said of it.
    """

    def __init__(self, speech_output: SpeechOutput, turn: Turn, publish: Publish, *, language: str = ENGLISH) -> None:
        self._speech_output = speech_output
        self._turn = turn
        self._publish = publish
        self.is_finished = False
        """Whether everything was written; it may still be spoken."""
        self.written = ""
        """The reply, as far as it was written."""
        self._language = language
        self._splitter = SentenceSplitter(language)
        self._foreseen: SpeculativeSpeech | None = None
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
        return self._unmade > 0 or not self._sounds.empty() or (self._has_begun and self._speech_output.is_sounding)

    def heard_text(self) -> str:
        """What was heard of the reply, up to the last whole word, once it is over."""
        return spoken_prefix(self.written, self._reply)

    def write(self, piece: str) -> None:
        """The next piece of the reply: a sentence is spoken as soon as it is whole."""
        self.written += piece
        self._put_reply(self._splitter.feed(piece))

    def preview(self, text: str) -> None:
        """The reply will probably begin with this: its first sentence is made, and not yet played."""
        if self._foreseen is not None or self._reply or self._turn.cancel.is_set():
            return
        splitter = SentenceSplitter(self._language)
        first = splitter.feed(text) or (splitter.finish() if _LOOKS_WHOLE.search(text) else ())
        if first:
            voice = self._speech_output.voice
            self._foreseen = SpeculativeSpeech(voice, first[0], self._turn.cancel, self._language)

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
        await self._speech_output.voice.prepare(self._language)  # while the reply is still being written
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
        return self._speech_output.voice.speak(sentence.text, self._turn.cancel, sentence.language)

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
            _share(await self._speech_output.play(upcoming(), self._turn.cancel, started), pieces)
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


T = TypeVar("T")
Write: TypeAlias = Callable[[str], None]


class ReplyRunner:
    """One at a time. Without a mouth a reply is text in the event stream only."""

    def __init__(
        self,
        agent: LLMAgent,
        speech_output: SpeechOutput | None,
        confirmation: ConfirmationDialog,
        languages: ReplyLanguages,
        publish: Publish,
    ) -> None:
        self._agent = agent
        self._speech_output = speech_output
        self._confirmation = confirmation
        self._languages = languages
        self._publish = publish
        self._speech: SpokenReply | None = None
        self._interrupted: Turn | None = None

    @property
    def speech_to_come(self) -> SpokenReply | None:
        """Where something can still be said in this turn."""
        return self._speech if self._speech and not self._speech.is_finished else None

    def interrupt(self, turn: Turn) -> bool:
        """End the turn under way, if it is speaking or about to; whether it was."""
        if self._speech is None or turn.cancel.is_set() or not self._speech.is_to_be_heard:
            return False
        self._interrupted = turn
        turn.cancel.set()
        return True

    def cut_by(self, turn: Turn) -> Literal["interrupted", "cancelled"]:
        """What ended a turn that did not end by itself."""
        return "interrupted" if turn is self._interrupted else "cancelled"

    async def by_agent(
        self, text: str, turn: Turn, source: TurnSource, spoken: str, *, is_doubted: bool = False
    ) -> AgentResult:
        """What the agent answers; `spoken` is the language of `text`, "" where that is not known.

        A text that `is_doubted` may have been misheard; where nobody can be asked aloud, it is taken as is.
        """
        answer_in = self._languages.to_be_told(spoken)
        is_doubted = is_doubted and self._speech_output is not None
        result, speech = await self._aloud(
            turn,
            lambda write, preview: self._write(
                self._agent.stream(
                    text,
                    turn,
                    source=source,
                    answer_in=answer_in,
                    preview=preview,
                    is_doubted=is_doubted,
                ),
                write,
            ),
            language=self._languages.reply_to(spoken),
            spoken=spoken,
        )
        heard = _heard(speech, result.reply) if turn.cancel.is_set() else None
        if heard is None or (heard and heard == result.reply):
            return result
        # Before the next prompt is made ready, which holds it.
        self._agent.truncate_reply(turn.id, heard, finish_reason=self.cut_by(turn))
        return replace(result, heard=heard)

    async def say(self, said: str, turn: Turn, language: str = ENGLISH) -> str | None:
        """Say this in the place of the agent; returns what was heard of it, None where it was not cut."""

        async def write(write: Write, _foresee: Write) -> None:
            self._publish(ReplyDelta(turn_id=turn.id, text=said))
            write(said)

        _, speech = await self._aloud(turn, write, language=language)
        return _heard(speech, said) if turn.cancel.is_set() else None

    async def _aloud(
        self,
        turn: Turn,
        write: Callable[[Write, Write], Awaitable[T]],
        *,
        language: str,
        spoken: str = ENGLISH,
    ) -> tuple[T, SpokenReply | None]:
        """Have something written and, where there is a mouth, spoken at the same time, in `language`.

        Whoever is asked something meanwhile may answer in the language that was `spoken`.
        """
        if self._speech_output is None:
            return await write(lambda _piece: None, lambda _text: None), None
        speech = SpokenReply(self._speech_output, turn, self._publish, language=language)

        async def written() -> T:
            result = await write(speech.write, speech.preview)
            speech.finish()
            return result

        self._speech = speech
        try:
            with self._confirmation.speaking(speech.say, spoken):
                async with asyncio.TaskGroup() as group:
                    speech.start(group)
                    writing = group.create_task(written())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            self._speech = None
        return writing.result(), speech

    async def _write(self, stream: AsyncGenerator[str | AgentResult, None], write: Write) -> AgentResult:
        result: AgentResult | None = None
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, AgentResult):
                    result = piece
                else:
                    write(piece)
        assert result is not None, "an agent's stream ends with its result"
        return result


def _heard(speech: SpokenReply | None, reply: str) -> str | None:
    """What was heard of the reply; None where nothing is heard."""
    if speech is None:
        return None
    # More may have been said than the reply: words before a tool was called, or some that it was cut by.
    written = speech.written.strip()
    said_before = len(written) - len(reply) if written.endswith(reply) else 0
    return speech.heard_text()[said_before:].strip()[: len(reply)]
