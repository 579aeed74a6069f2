"""Asks for a confirmation aloud, on the keyboard and through the API; the first answer counts.

Answers are read without the model. Only a clear yes grants; everything else, silence included, denies.
`Intercom` speaks and listens for programs without a voice loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from typing import TypeAlias

from edgevox.agents.tool_loop import Agreement
from edgevox.audio.endpointing import Endpointer, SpeechSegment
from edgevox.audio.io.microphone import AudioSource
from edgevox.audio.io.speaker import Loudspeaker
from edgevox.config import AudioSettings
from edgevox.core.errors import EdgevoxError, ToolDenied
from edgevox.core.events import AnswerHeard, Publish
from edgevox.core.languages import ENGLISH, reply_language, replying_in, say
from edgevox.core.turn import CancelFlag, Turn, background_task
from edgevox.core.types import Audio
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber
from edgevox.tools import Resolution
from edgevox.tools.policy import CONFIRM, Channel, PendingConfirmation
from edgevox.tools.yes_no import Answer, decide_yes_no

log = logging.getLogger(__name__)

Say: TypeAlias = Callable[[str], Awaitable[None]]
"""Speaks a text; returns when its last sample was played."""

# Silence for this long after a question denies the call.
ANSWER_WITHIN_S = 8.0

NO_ANSWER = "no answer came in time"
_NOBODY = "nobody could be asked"
_CANCELLED = "the turn was cancelled"
_UNCLEAR = "the answer was not a clear yes"
_NOT_BY_VOICE = "this needs more than a spoken yes"

_OTHER_VOICE = "the yes was not of a voice that may confirm this"
REFUSALS = (NO_ANSWER, _NOBODY, _CANCELLED, _UNCLEAR, _NOT_BY_VOICE, _OTHER_VOICE)
"""Why a confirmation was refused, beside a plain no. Clients translate these sentences."""
_NOT_BY_THIS_VOICE = "I need the yes of somebody who may do this."


class AnswerListener(asyncio.Future[str | None]):
    """The spoken answer, which comes after the question has been played."""

    speaker = ""
    """The recognised speaker of the answer, "" if there is none."""

    def hear(self, text: str | None, speaker: str = "") -> None:
        """Pass the transcript; "" if the answer could not be transcribed, None if none was spoken in time."""
        if not self.done():
            self.speaker = speaker
            self.set_result(text)


class OpenQuestion:
    """A pending confirmation; the first answer counts."""

    def __init__(self, pending: PendingConfirmation) -> None:
        self.pending = pending
        self.listening: AnswerListener | None = None
        """Set while a spoken answer is expected."""
        self.speaker = ""
        """The speaker of the last spoken answer."""
        self._agreement: asyncio.Future[Agreement] = asyncio.get_running_loop().create_future()

    def answer(self, agreement: Agreement) -> bool:
        """Answer the question; False if it was answered before. Raises ToolDenied if the caller may not answer."""
        pending, by = self.pending, agreement.by
        is_origin = by.name == pending.origin.name
        if not by.may(CONFIRM) and (agreement.granted or not is_origin):
            raise ToolDenied(f"{by.name} may not confirm calls")
        if agreement.granted and agreement.channel == "api" and pending.is_own_call(by):
            raise ToolDenied("a caller cannot confirm its own call")
        if agreement.granted and agreement.channel == "voice" and pending.level == "screen":
            raise ToolDenied(_NOT_BY_VOICE)
        if self._agreement.done():
            return False
        self._agreement.set_result(agreement)
        return True

    async def answered(self) -> Agreement:
        return await self._agreement

    async def listen(self) -> str | None:
        """Wait for a spoken answer; None if there is none."""
        self.listening = AnswerListener()
        try:
            return await self.listening
        finally:
            self.speaker = self.listening.speaker
            self.listening = None


class ConfirmationDialog:
    """The `confirm` of an agent: asks one question at a time.

    `channels` are those on which an answer can come; without any the call is denied at once. `may_confirm` says
    whether the spoken yes of a speaker counts.
    """

    def __init__(
        self,
        publish: Publish = lambda _event: None,
        *,
        channels: frozenset[Channel] = frozenset(),
        may_confirm: Callable[[str, PendingConfirmation], bool] = lambda _speaker, _pending: True,
    ) -> None:
        self._may_confirm = may_confirm
        self.open: OpenQuestion | None = None
        self._publish = publish
        self._channels = Counter(channels)
        self._agreed: dict[str, str] = {}
        """Questions that were answered before their turn, by turn."""
        self._say: Say | None = None
        self._language = ENGLISH
        self._listens = asyncio.Event()

    @property
    def listening(self) -> AnswerListener | None:
        return self.open.listening if self.open else None

    async def until_listening(self) -> None:
        await self._listens.wait()

    @contextmanager
    def answerable(self, channel: Channel) -> Iterator[None]:
        """Accept answers on this channel while the block runs."""
        self._channels[channel] += 1
        try:
            yield
        finally:
            self._channels -= Counter([channel])

    @contextmanager
    def agreed(self, turn: Turn, question: str) -> Iterator[None]:
        """Grant this question in this turn: it was answered with yes when the command was set up."""
        self._agreed[turn.id] = question
        try:
            yield
        finally:
            del self._agreed[turn.id]

    @contextmanager
    def speaking(self, say: Say, language: str = ENGLISH) -> Iterator[None]:
        """Ask questions aloud while the block runs; answers are in `language`."""
        self._say, self._language = say, language
        try:
            yield
        finally:
            self._say = None

    async def __call__(self, pending: PendingConfirmation, turn: Turn) -> Agreement:
        """Ask, and wait for the first answer until the question expires."""
        if pending.level == "voice" and pending.question == self._agreed.get(turn.id):
            return Agreement(granted=True, why="the user said yes before")
        if not self._channels:
            return _no(_NOBODY)
        loop = asyncio.get_running_loop()
        question = OpenQuestion(pending)

        def cancelled() -> None:  # from any thread
            loop.call_soon_threadsafe(question.answer, _no(_CANCELLED))

        self.open = question
        turn.cancel.add_listener(cancelled)
        try:
            async with asyncio.timeout(pending.expires_s - time.monotonic()), asyncio.TaskGroup() as group:
                asking = group.create_task(self._ask(question))
                agreement = await question.answered()
                asking.cancel()
        except TimeoutError:
            agreement = _no(NO_ANSWER)
        finally:
            turn.cancel.remove_listener(cancelled)
            self.open = None
        return agreement

    async def _ask(self, question: OpenQuestion) -> None:
        """Ask aloud and read the spoken answer, if voice can answer this question."""
        resolution = question.pending.resolved.resolution
        language = resolution.question_language if isinstance(resolution, Resolution) else ENGLISH
        try:
            with replying_in(language):
                await self._ask_in_language(question)
        except EdgevoxError as error:  # no loudspeaker, or no voice: another channel may answer
            log.warning("the question cannot be asked aloud: %s", error.message)
            if set(self._channels) == {"voice"}:
                question.answer(_no(_NOBODY))

    async def _ask_in_language(self, question: OpenQuestion) -> None:
        asked = question.pending.question
        on_screen = question.pending.level == "screen"
        if on_screen and set(self._channels) == {"voice"}:
            await self._aloud(f"{asked} {say('left_alone', reply_language())}")
            question.answer(_no(_NOT_BY_VOICE))
            return
        await self._aloud(f"{asked} {say('on_screen', reply_language())}" if on_screen else asked)
        if "voice" not in self._channels:
            return
        match await self._spoken_answer(question):
            case "no":
                question.answer(Agreement(granted=False))
            case _ if on_screen:
                pass  # another channel answers, or the question expires
            case "yes" if not self._may_confirm(question.speaker, question.pending):
                await self._aloud(_NOT_BY_THIS_VOICE)
                question.answer(_no(_OTHER_VOICE))
            case "yes":
                question.answer(Agreement(granted=True, why="the user said yes"))
            case "unclear":
                question.answer(_no(_UNCLEAR))
            case None:
                question.answer(_no(NO_ANSWER))

    async def _spoken_answer(self, question: OpenQuestion) -> Answer | None:
        """Read the spoken answer; ask again once if it is unclear or not sufficient."""
        answer = await self._hear(question)
        if answer == "unclear":
            await self._aloud(f"{say('say_yes_or_no', reply_language())} {question.pending.question}")
        elif answer == "yes" and question.pending.level == "screen":
            await self._aloud(say("on_screen", reply_language()))
        else:
            return answer
        return await self._hear(question)

    async def _hear(self, question: OpenQuestion) -> Answer | None:
        """Read one answer; None without one."""
        self._listens.set()
        try:
            text = await question.listen()
        finally:
            self._listens.clear()
        if text is None:
            return None
        answer = decide_yes_no(text, self._language or reply_language())
        pending = question.pending
        self._publish(AnswerHeard(turn_id=pending.turn_id, token=pending.token, text=text, answer=answer))
        return answer

    async def _aloud(self, text: str) -> None:
        if self._say is not None:
            await self._say(text)


def _no(why: str) -> Agreement:
    return Agreement(granted=False, why=why)


class Intercom:
    """Speaks and listens in turn. `open_audio_source` opens the microphone for one utterance."""

    def __init__(
        self,
        voice: Synthesizer,
        loudspeaker: Loudspeaker,
        transcriber: Transcriber,
        open_audio_source: Callable[[], AbstractAsyncContextManager[AudioSource]],
        settings: AudioSettings,
        *,
        language: str = ENGLISH,
    ) -> None:
        self._voice = voice
        self._loudspeaker = loudspeaker
        self._transcriber = transcriber
        self._open_audio_source = open_audio_source
        self._settings = settings
        self._language = language
        self._one_at_a_time = asyncio.Lock()

    async def say(self, text: str) -> None:
        """Speak a text to its end. Raises EngineFailed, ModelError and AudioError."""
        cancel = CancelFlag()
        async with self._one_at_a_time, aclosing(self._voice.speak_text(text, cancel, self._language)) as sounds:
            try:
                await self._loudspeaker.play(sounds, cancel, lambda: None)
            finally:
                cancel.set()

    async def listen(self, within_s: float) -> str | None:
        """Transcribe the next utterance; None if none begins within this time. Raises what `say` raises."""
        async with self._one_at_a_time:
            utterance = await self._utterance(within_s)
            return (await self._transcriber.transcribe(utterance, CancelFlag())).text if utterance else None

    @asynccontextmanager
    async def answering(self, confirmation: ConfirmationDialog) -> AsyncIterator[None]:
        """Ask questions aloud while the block runs, and read the spoken answers."""

        async def answer() -> None:
            while True:
                await confirmation.until_listening()
                listening = confirmation.listening
                assert listening is not None
                try:
                    listening.hear(await self.listen(ANSWER_WITHIN_S))
                except EdgevoxError as error:  # no microphone, or no STT: the next question may have them
                    log.warning("the answer cannot be heard: %s", error.message)
                    listening.hear(None)
                while confirmation.listening is listening:  # noqa: ASYNC110 - the asking task continues next
                    await asyncio.sleep(0)

        with confirmation.speaking(self.say, self._language), confirmation.answerable("voice"):
            async with background_task(answer()):
                yield

    async def _utterance(self, within_s: float) -> Audio | None:
        endpointer = Endpointer(self._settings)
        listened_s = 0.0
        async with self._open_audio_source() as audio_source, aclosing(audio_source.frames()) as blocks:
            async for block in blocks:
                if isinstance(event := endpointer.feed(block), SpeechSegment):
                    return event.audio
                listened_s += block.duration_s
                if listened_s > within_s and not endpointer.is_in_speech:
                    return None
        rest = endpointer.finish()
        return rest.audio if isinstance(rest, SpeechSegment) else None
