"""Generates a reply, speaks it sentence by sentence, and records how much was heard."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from edgevox.agents import AgentResult, ReplyAgent
from edgevox.core import events
from edgevox.core.events import Publish, TurnSource
from edgevox.core.languages import ENGLISH, reply_language
from edgevox.core.turn import Turn, background_task
from edgevox.core.types import Audio
from edgevox.dialogue.barge_in import SpokenSentence, spoken_prefix
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.dialogue.speculative import SpeculativeSpeech
from edgevox.dialogue.speech_output import SpeechOutput
from edgevox.tts.sentences import SentenceSplitter


class ReplyLanguages:
    """Chooses the language of a reply.

    `model` are the languages of the model, None for all; `voices` those of the TTS voices, the default first.
    Without voices a reply is text and can be in any language. `expected` is the configured input language.
    """

    def __init__(
        self, *, model: Collection[str] | None = None, voices: Sequence[str] = (ENGLISH,), expected: str | None = None
    ) -> None:
        self._model = model
        self._voices = voices
        self._expected = expected

    def reply_to(self, spoken: str) -> str:
        """The language of a reply; `spoken` is "" if unknown, as for typed text."""
        spoken = spoken or self._expected or ""
        if spoken and self._is_known(spoken) and (not self._voices or spoken in self._voices):
            return spoken
        return next((language for language in self._voices if self._is_known(language)), ENGLISH)

    def language_to_request(self, spoken: str) -> str | None:
        """The language that the prompt must request; None if the model answers in it anyway."""
        reply = self.reply_to(spoken)
        if not spoken or (reply == ENGLISH and (spoken == ENGLISH or not self._is_known(spoken))):
            return None
        return reply

    def _is_known(self, language: str) -> bool:
        return self._model is None or language in self._model


# One piece plays, one waits, one is synthesized: more would be wasted on a barge-in.
_PIECES_AHEAD = 1
_LOOKS_WHOLE = re.compile(r"(?<!\d)[.!?…][\"'”’)]*\s*$")


_PassageEnd: TypeAlias = asyncio.Event
"""The end of one playback passage, set when it was played."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the audio of one sentence."""

    sentence: SpokenSentence
    sound: Audio


class SpokenReply:
    """Synthesizes sentences while earlier ones play: `start`, `write`, `finish`.

    Before the turn's gate opens audio is synthesized but not played. `language` is that of the reply; interjections
    are in English by default.
    """

    def __init__(self, speech_output: SpeechOutput, turn: Turn, publish: Publish, *, language: str = ENGLISH) -> None:
        self._speech_output = speech_output
        self._turn = turn
        self._publish = publish
        self.is_finished = False
        """Whether the text is complete; playback may continue."""
        self.written = ""
        """The text of the reply so far."""
        self._language = language
        self._splitter = SentenceSplitter(language)
        self._previewed: SpeculativeSpeech | None = None
        self._reply: list[SpokenSentence] = []
        """The sentences of the reply, without interjections and questions."""
        self._sentences: asyncio.Queue[SpokenSentence | _PassageEnd | None] = asyncio.Queue()
        self._sounds: asyncio.Queue[_Piece | _PassageEnd | None] = asyncio.Queue(_PIECES_AHEAD)
        self._may_begin = asyncio.Event()
        self._unmade = 0
        """Sentences still to be synthesized."""
        self._has_begun = False
        self._has_sound = False

    @property
    def is_pending_or_playing(self) -> bool:
        return self._unmade > 0 or not self._sounds.empty() or (self._has_begun and self._speech_output.is_sounding)

    def spoken_text(self) -> str:
        """The spoken part of the reply up to the last whole word, once playback has ended."""
        return spoken_prefix(self.written, self._reply)

    def write(self, piece: str) -> None:
        """Add text to the reply; a sentence is spoken as soon as it is complete."""
        self.written += piece
        self._put_reply(self._splitter.feed(piece))

    def preview(self, text: str) -> None:
        """Synthesize the first sentence of a probable reply without playing it."""
        if self._previewed is not None or self._reply or self._turn.cancel.is_set():
            return
        splitter = SentenceSplitter(self._language)
        first = splitter.feed(text) or (splitter.finish() if _LOOKS_WHOLE.search(text) else ())
        if first:
            voice = self._speech_output.voice
            self._previewed = SpeculativeSpeech(voice, first[0], self._turn.cancel, self._language)

    def interject(self, sentence: str, language: str = ENGLISH) -> None:
        """Speak a sentence after the complete sentences so far, before the rest of the reply."""
        self._put(SpokenSentence(sentence, language=language))

    async def say(self, text: str) -> None:
        """Speak this after the text so far; returns when its last sample was played, or on a cancel."""
        self._flush()
        self._put(SpokenSentence(text, language=reply_language()))
        end = _PassageEnd()
        self._sentences.put_nowait(end)
        await end.wait()

    def finish(self) -> None:
        self.is_finished = True
        self._flush()
        self._sentences.put_nowait(None)

    def start(self, group: asyncio.TaskGroup) -> None:
        """Speak until `finish` in tasks of `group`, which raise EngineFailed and DeviceUnavailable."""
        self._turn.gate.when_waited_at(self._flush_sentence)
        group.create_task(self._synthesize())
        group.create_task(self._play())

    def _flush_sentence(self) -> None:
        """Speak a sentence that looks complete: the text that would prove it comes only after the gate."""
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
        await self._speech_output.voice.prepare(self._language)  # while the model writes
        try:
            while (item := await self._sentences.get()) is not None:
                if isinstance(item, _PassageEnd):
                    await self._pass_on(item)
                elif not turn.cancel.is_set():
                    await self._make(item)
                    self._unmade -= 1
        finally:
            await self._drop_previewed()
        await self._pass_on(None)

    async def _make(self, sentence: SpokenSentence) -> None:
        turn = self._turn
        self._publish_at_gate(events.SynthesisStarted(turn_id=turn.id, text=sentence.text))
        async with aclosing(await self._sound_of(sentence)) as pieces:
            async for sound in pieces:
                if not self._has_sound:
                    sound = sound.without_leading_silence()
                self._has_sound = True
                self._publish_at_gate(events.AudioReady(turn_id=turn.id, audio_s=sound.duration_s))
                sentence.add(sound)
                await self._pass_on(_Piece(sentence, sound))
        sentence.is_synthesized = not turn.cancel.is_set()

    async def _sound_of(self, sentence: SpokenSentence) -> AsyncGenerator[Audio, None]:
        previewed = self._previewed
        if previewed and (previewed.text, self._language) == (sentence.text, sentence.language):
            self._previewed = None
            return previewed.pieces()
        await self._drop_previewed()
        return self._speech_output.voice.speak(sentence.text, self._turn.cancel, sentence.language)

    async def _drop_previewed(self) -> None:
        if self._previewed is not None:
            previewed, self._previewed = self._previewed, None
            await previewed.close()

    async def _pass_on(self, item: _Piece | _PassageEnd | None) -> None:
        self._may_begin.set()
        await self._sounds.put(item)

    def _publish_at_gate(self, event: events.Event) -> None:
        self._turn.gate.when_open(lambda: self._publish(event))

    async def _play(self) -> None:
        while (end := await self._play_passage()) is not None:
            end.set()

    async def _is_certain(self) -> bool:
        """Wait for the gate; False if the turn is cancelled first."""
        if not self._turn.gate.is_open:
            # Wait at the gate only once there is audio: `is_waited_at` means that the reply is ready.
            self._turn.gate.when_open(self._may_begin.set)
            await self._may_begin.wait()
        return await self._turn.gate.passed(self._turn.cancel)

    async def _play_passage(self) -> _PassageEnd | None:
        """Play up to the next passage end; None at the end of the turn."""
        ends: list[_PassageEnd | None] = []
        pieces: list[_Piece] = []

        async def upcoming() -> AsyncIterator[Audio]:
            if not await self._is_certain():  # in here: the output device opens meanwhile
                return
            while isinstance(item := await self._sounds.get(), _Piece):
                pieces.append(item)
                yield item.sound
            ends.append(item)

        def started() -> None:
            self._has_begun = True
            self._publish(events.PlaybackStarted(turn_id=self._turn.id))

        if not self._turn.cancel.is_set():
            _share(await self._speech_output.play(upcoming(), self._turn.cancel, started), pieces)
            self._publish_at_gate(events.PlaybackFinished(turn_id=self._turn.id))
        # Drain the queue after a cancel: the synthesis task may be blocked on it.
        while not ends:
            if not isinstance(item := await self._sounds.get(), _Piece):
                ends.append(item)
        return ends[0]


def _share(heard_s: float, pieces: Sequence[_Piece]) -> None:
    """Distribute the playback time over the sentences of consecutive pieces."""
    for piece in pieces:
        part_s = min(heard_s, piece.sound.duration_s)
        piece.sentence.heard_s += part_s
        heard_s -= part_s


T = TypeVar("T")
Write: TypeAlias = Callable[[str], None]


class ReplyRunner:
    """Runs the agent and speaks its replies, one at a time."""

    def __init__(
        self,
        agent: ReplyAgent,
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
        """The reply under way, if it accepts interjections."""
        return self._speech if self._speech and not self._speech.is_finished else None

    def interrupt(self, turn: Turn) -> bool:
        """Cancel the turn if it speaks or is about to; returns whether it was cancelled."""
        if self._speech is None or turn.cancel.is_set() or not self._speech.is_pending_or_playing:
            return False
        self._interrupted = turn
        turn.cancel.set()
        return True

    def cut_by(self, turn: Turn) -> Literal["interrupted", "cancelled"]:
        """The outcome of a cancelled turn."""
        return "interrupted" if turn is self._interrupted else "cancelled"

    async def run_agent(
        self, text: str, turn: Turn, source: TurnSource, spoken: str, *, is_doubted: bool = False
    ) -> AgentResult:
        """Run the agent and speak its reply; `spoken` is the language of `text`, "" if unknown.

        With `is_doubted` a low-confidence transcript is confirmed first, if there is speech output.
        """
        answer_in = self._languages.language_to_request(spoken)
        is_doubted = is_doubted and self._speech_output is not None

        async def generate(write: Write, preview: Write) -> AgentResult:
            result: AgentResult | None = None
            stream = self._agent.stream(
                text, turn, source=source, spoken=spoken, answer_in=answer_in, preview=preview, is_doubted=is_doubted
            )
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    if isinstance(piece, AgentResult):
                        result = piece
                    else:
                        write(piece)
            assert result is not None, "an agent's stream ends with its result"
            return result

        result, speech = await self._aloud(turn, generate, language=self._languages.reply_to(spoken), spoken=spoken)
        spoken_part = _spoken_part(speech, result.reply) if turn.cancel.is_set() else None
        if spoken_part is None or (spoken_part and spoken_part == result.reply):
            return result
        # Before the next prompt is prepared, which contains it.
        self._agent.truncate_reply(turn.id, spoken_part, finish_reason=self.cut_by(turn))
        return replace(result, spoken_prefix=spoken_part)

    async def say(self, text: str, turn: Turn, language: str = ENGLISH) -> str | None:
        """Speak a fixed reply; returns the spoken part, None if it was not interrupted."""

        async def write(write: Write, _preview: Write) -> None:
            self._publish(events.ReplyDelta(turn_id=turn.id, text=text))
            write(text)

        _, speech = await self._aloud(turn, write, language=language)
        return _spoken_part(speech, text) if turn.cancel.is_set() else None

    async def _aloud(
        self, turn: Turn, write: Callable[[Write, Write], Awaitable[T]], *, language: str, spoken: str = ENGLISH
    ) -> tuple[T, SpokenReply | None]:
        """Run `write` and speak its text meanwhile in `language`; answers to questions are in `spoken`."""
        if self._speech_output is None:
            return await write(lambda _piece: None, lambda _text: None), None
        speech = SpokenReply(self._speech_output, turn, self._publish, language=language)

        async def written() -> T:
            result = await write(speech.write, speech.preview)
            speech.finish()
            return result

        async def aloud() -> T:
            async with asyncio.TaskGroup() as group:
                speech.start(group)
                writing = group.create_task(written())
            return writing.result()

        self._speech = speech
        try:
            # In a task of its own: a TaskGroup loses a cancel that arrives with an error of one of its tasks.
            with self._confirmation.speaking(speech.say, spoken):
                async with background_task(aloud()) as speaking:
                    await asyncio.wait((speaking,))
                    return speaking.result(), speech
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            self._speech = None


def _spoken_part(speech: SpokenReply | None, reply: str) -> str | None:
    """The spoken part of the reply; None without speech output."""
    if speech is None:
        return None
    # Text before a tool call, or an interrupting command, may have been spoken too.
    written = speech.written.strip()
    said_before = len(written) - len(reply) if written.endswith(reply) else 0
    return speech.spoken_text()[said_before:].strip()[: len(reply)]
