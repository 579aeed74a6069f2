"""A realtime session: client events into the voice loop that /v1/voice has, and its events out in OpenAI's shapes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Sequence
from typing import assert_never

import numpy as np

from edgevox.audio.dsp import Resampler
from edgevox.audio.io.duplex import Duplex
from edgevox.config.sections import AUTO
from edgevox.core import events
from edgevox.core.errors import EdgevoxError
from edgevox.core.metrics import TurnMetricsRecorder
from edgevox.core.turn import Turn, cancel_tasks
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, FinishReason, JsonObject, Message, NamedTool, ToolCall
from edgevox.dialogue import Pipeline, VoiceLoop
from edgevox.server.assistant import Assistant, ProgramSession, VoiceSession, VoiceSessionFactory
from edgevox.server.chat.service import ChatService
from edgevox.server.engine_queues import ModelQueue
from edgevox.server.http.errors import ApiError, check_voice, invalid
from edgevox.server.realtime import protocol
from edgevox.server.realtime.conversation import Asked, ClientFunctions, Item, Items, RealtimeAgent, SessionInstructions
from edgevox.server.realtime.output import RealtimeLoudspeaker, ResponseWriter
from edgevox.server.realtime.protocol import RATE_HZ, SAMPLE_BYTES, ResponseOptions, SessionSettings, new_id
from edgevox.server.routes import ServerContext
from edgevox.server.websocket.audio import Outbox, Send, WebSocketAudioSource
from edgevox.server.websocket.protocol import invalid_frame
from edgevox.server.websocket.session import ClientSlot, Incoming, TokenBucket, flooded, stay_warm, until_first
from edgevox.tools.policy import CONFIRM, Caller

_SECOND_BYTES = RATE_HZ * SAMPLE_BYTES
_MOST_BUFFERED_S = 60
_SHORTEST_S = 0.1
# The client's clock may run faster.
_SOUND_PER_S, _SOUND_AT_ONCE_S = 1.05, 30.0
_EVENTS_PER_S, _EVENTS_AT_ONCE = 400, 2_000
_MOST_TRANSCRIBING = 4
_MOST_WAITING = 8
_FULL_SCALE = 32_768


def checked(settings: SessionSettings, factory: VoiceSessionFactory, assistant: Assistant) -> SessionSettings:
    """Return the settings, if they fit together and this server can do it. Raises ApiError."""
    if settings.speaks and not factory.speaks:
        raise invalid("this server has no TTS: it was started without audio", "session.output_modalities")
    check_voice(settings.audio.output.voice, assistant.voice_name, "session.audio.output.voice")
    transcription, dashboard = settings.audio.input.transcription, assistant.dashboard
    wanted = transcription.language if transcription is not None else None
    expected = dashboard.settings.stt.language if dashboard is not None else AUTO
    if wanted and expected != AUTO and wanted.partition("-")[0] != expected:
        raise invalid(
            f"this server recognises {expected}: its setting stt.language says so",
            "session.audio.input.transcription.language",
        )
    check_choice(settings, "session")
    return settings


def check_choice(options: SessionSettings | ResponseOptions, place: str) -> None:
    """Raises ApiError if a call is forced for which there is no function."""
    choice, names = options.choice, [tool.name for tool in options.tools]
    if choice == "required" and not names:
        raise invalid("a call is required, but there are no tools", f"{place}.tool_choice")
    if isinstance(choice, NamedTool) and choice.name not in names:
        raise invalid(f"there is no tool {choice.name}", f"{place}.tool_choice")


class RealtimeSession:
    """The session of an authenticated client."""

    def __init__(
        self,
        server: ServerContext,
        factory: VoiceSessionFactory,
        caller: Caller,
        place: ClientSlot,
        settings: SessionSettings,
    ) -> None:
        assistant = self._assistant = server.assistant
        self._factory = factory
        self._queues = server.queues
        self._place = place
        self._settings = settings
        self._id, self._conversation_id = new_id("sess"), new_id("conv")
        self._outbox = Outbox()
        self._recorder = TurnMetricsRecorder(assistant.keep)
        self._items = Items(server.settings)
        self._items.on_keep = self._kept
        instructions = SessionInstructions()
        # Not the queue of other programs: that one waits while this session is spoken with.
        queue = ModelQueue(assistant.profile.model, max_waiting=_MOST_WAITING, resumes=assistant.resumes)
        chat = ChatService(assistant, queue, server.confirmations)
        functions = ClientFunctions(chat, caller, assistant.profile.sampling, self._publish)
        self._audio_source = WebSocketAudioSource(RATE_HZ, longest_pause_s=factory.longest_pause_s)
        self._loudspeaker: RealtimeLoudspeaker | None = None
        if factory.speaks:
            self._loudspeaker = RealtimeLoudspeaker(self._play, self._all_sent, lambda: self._outbox.waiting_bytes)
        self._voice_session = VoiceSession(
            self._audio_source,
            self._loudspeaker,
            caller,
            self._publish,
            None if caller.may(CONFIRM) else server.confirmations,
            duplex=self._duplex,
            hangover_scale=self._hangover_scale,
            program=ProgramSession(
                self._items, instructions, lambda own: RealtimeAgent(own, self._items, instructions, functions, self)
            ),
        )
        self._sound = TokenBucket(per_s=_SOUND_PER_S, burst=_SOUND_AT_ONCE_S)
        self._events = TokenBucket(per_s=_EVENTS_PER_S, burst=_EVENTS_AT_ONCE)
        self._buffer = bytearray()
        """What was received since the last commit."""
        self._received_s = 0.0
        self._speech_item_id: str | None = None
        """The item that the speech under way will be."""
        self._speech_start_ms = 0
        self._last_voiced_s = 0.0
        self._turn_id: str | None = None
        self._spoken: dict[str, Item] = {}
        """The items of spoken turns, by turn."""
        self._explicit: dict[str, Asked] = {}
        """What turns were asked for by the client, by turn."""
        self._writers: dict[str, ResponseWriter] = {}
        self._waiting: asyncio.Queue[Turn] = asyncio.Queue()
        self._asked_turns: dict[str, Turn] = {}
        """The turns in `_waiting`, and the one that is answered."""
        self._transcribing: dict[str, asyncio.Task[None]] = {}

    async def run(self, incoming: Incoming, send: Send) -> None:
        """Run until `incoming` ends. Raises CloseConnection and errors of `send`."""
        async with self._factory.open(self._voice_session) as loop:
            self._send("session.created", session=self._settings.as_json(self._id))
            conversation = {"id": self._conversation_id, "object": "realtime.conversation"}
            self._send("conversation.created", conversation=conversation)
            try:
                await until_first(
                    self._read(incoming, loop),
                    self._outbox.run(send),
                    loop.run() if self._factory.listens else stay_warm(loop.pipeline),
                    self._answer(loop.pipeline),
                    self._place.lost(),
                )
            finally:
                await cancel_tasks(*self._transcribing.values())
                # The speaker is gone: release the engine queues.
                self._queues.on_event(events.SpeechDropped(reason="gone"))

    def _send(self, kind: str, /, **fields: object) -> None:
        assert kind in protocol.SERVER_EVENTS, kind
        self._outbox.put(json.dumps({"type": kind, "event_id": new_id("event"), **fields}, ensure_ascii=False))

    # --- client events

    async def _read(self, incoming: Incoming, loop: VoiceLoop) -> None:
        async for frame in incoming:
            if not self._events.take(1):
                raise flooded("events")
            if isinstance(frame, bytes):
                raise invalid_frame("events are JSON in text frames; sound is in input_audio_buffer.append")
            event, event_id = protocol.read_event(frame)
            try:
                if isinstance(event, ApiError):
                    raise event
                self._handle(event, loop)
            except ApiError as error:
                shown = {**error.as_openai()["error"], "event_id": event_id}
                self._send("error", error=shown)

    def _handle(self, event: protocol.ClientEvent, loop: VoiceLoop) -> None:
        """Raises ApiError, and CloseConnection for more sound than real time."""
        match event:
            case protocol.SessionUpdate(session=given):
                self._update(given, loop)
            case protocol.AppendAudio(audio=audio):
                self._append(protocol.decoded(audio, "audio"))
            case protocol.CommitAudio():
                self._commit(loop)
            case protocol.ClearAudio():
                self._clear(loop)
                self._send("input_audio_buffer.cleared")
            case protocol.CreateItem():
                self._create_item(event, loop.pipeline)
            case protocol.RetrieveItem(item_id=item_id):
                self._send("conversation.item.retrieved", item=self._item(item_id, "retrieve").as_json())
            case protocol.DeleteItem(item_id=item_id):
                self._delete(self._item(item_id, "delete"))
            case protocol.TruncateItem():
                self._truncate(event, loop.pipeline)
            case protocol.CreateResponse(response=given):
                self._create_response(given)
            case protocol.CancelResponse(response_id=response_id):
                self._cancel_response(response_id, loop.pipeline)
            case _:
                assert_never(event)

    def _update(self, given: JsonObject, loop: VoiceLoop) -> None:
        updated = checked(self._settings.updated(given), self._factory, self._assistant)
        if (updated.audio.input.turn_detection is None) != (self._settings.audio.input.turn_detection is None):
            self._clear(loop)
        self._settings = updated
        self._send("session.updated", session=updated.as_json(self._id))

    def _append(self, pcm: bytes) -> None:
        if not self._factory.listens:
            raise ApiError(404, "audio_not_served", "this server has no STT: it was started without audio")
        is_manual = self._settings.audio.input.turn_detection is None
        if is_manual and len(self._buffer) + len(pcm) > _MOST_BUFFERED_S * _SECOND_BYTES:
            raise ApiError(400, "input_audio_buffer_full", f"the buffer holds {_MOST_BUFFERED_S} s: commit or clear it")
        self._buffer += pcm
        del self._buffer[: -_MOST_BUFFERED_S * _SECOND_BYTES]
        self._received_s += len(pcm) / _SECOND_BYTES
        if not is_manual and not self._sound.take(self._audio_source.feed(pcm)):
            raise flooded("sound")

    def _commit(self, loop: VoiceLoop) -> None:
        pcm = bytes(self._buffer)
        if len(pcm) < _SHORTEST_S * _SECOND_BYTES:
            raise ApiError(
                400,
                "input_audio_buffer_commit_empty",
                f"buffer too small: at least {_SHORTEST_S * 1000:.0f} ms are needed, it has "
                f"{len(pcm) / _SECOND_BYTES * 1000:.0f} ms",
            )
        self._check_transcribing()
        self._clear(loop)
        item = Item(role="user", content_type="input_audio")
        self._send("input_audio_buffer.committed", previous_item_id=self._items.last_id, item_id=item.id)
        self._add_whole(item)
        self._transcribe(item, pcm, loop.pipeline)

    def _clear(self, loop: VoiceLoop) -> None:
        self._buffer.clear()
        self._audio_source.clear()
        loop.drop_speech()
        self._speech_item_id = None

    def _check_transcribing(self) -> None:
        if len(self._transcribing) >= _MOST_TRANSCRIBING:
            raise ApiError(429, "rate_limit_exceeded", f"{_MOST_TRANSCRIBING} recordings wait for STT already")

    def _transcribe(self, item: Item, pcm: bytes, pipeline: Pipeline) -> None:
        task = asyncio.create_task(self._transcribe_item(item, pcm, pipeline))
        self._transcribing[item.id] = task
        task.add_done_callback(lambda _done: self._transcribing.pop(item.id, None))

    async def _transcribe_item(self, item: Item, pcm: bytes, pipeline: Pipeline) -> None:
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(_FULL_SCALE)
        resampler = Resampler(RATE_HZ, SAMPLE_RATE_HZ)
        heard = Audio(np.concatenate((resampler.feed(samples), resampler.finish())), SAMPLE_RATE_HZ)
        self._transcribed(item, await pipeline.transcribe_text(heard), heard.duration_s)

    def _create_item(self, event: protocol.CreateItem, pipeline: Pipeline) -> None:
        parts = [part.audio for part in event.item.content or () if part.audio is not None]
        recordings = [protocol.decoded(audio, "item.content.audio") for audio in parts]
        if recordings and (event.item.role != "user" or not self._factory.listens):
            raise invalid("only a user's message may have sound, and only where there is STT", "item.content")
        self._check_transcribing()
        item = Item.of(event.item)
        self._add_whole(item, event.previous_item_id)
        if recordings:
            self._transcribe(item, b"".join(recordings), pipeline)

    def _item(self, item_id: str, action: str) -> Item:
        if (item := self._items.find(item_id)) is None:
            code = f"item_{action}_invalid_item_id"
            raise ApiError(400, code, f"there is no item {item_id[:64]}", param="item_id")
        return item

    def _delete(self, item: Item) -> None:
        self._items.remove(item)
        self._send("conversation.item.deleted", item_id=item.id)

    def _truncate(self, event: protocol.TruncateItem, pipeline: Pipeline) -> None:
        item = self._item(event.item_id, "truncate")
        if item.content_type != "output_audio":
            raise invalid("only a spoken message of the assistant can be truncated", "item_id")
        seconds = event.audio_end_ms / 1000
        if seconds > item.audio_s:
            message = f"audio content of {item.audio_s * 1000:.0f} ms is already shorter than {event.audio_end_ms} ms"
            raise invalid(message, "audio_end_ms")
        playing = next((turn_id for turn_id, writer in self._writers.items() if writer.message is item), None)
        if playing is not None and self._loudspeaker is not None and self._loudspeaker.is_playing:
            self._loudspeaker.report(seconds, item.audio_s)
            pipeline.cancel_turn(playing)
        else:
            item.cut_at(seconds)
        self._truncated(item, seconds)

    def _truncated(self, item: Item, seconds: float) -> None:
        item.audio_s = min(item.audio_s, seconds)
        place = {"item_id": item.id, "content_index": 0}
        self._send("conversation.item.truncated", **place, audio_end_ms=round(seconds * 1000))

    def _create_response(self, given: JsonObject | None) -> None:
        options = ResponseOptions.of(self._settings, given)
        if options.speaks and not self._factory.speaks:
            raise invalid("this server has no TTS: it was started without audio", "response.output_modalities")
        check_choice(options, "response")
        if active := next((writer for writer in self._writers.values() if not writer.is_done), None):
            message = f"the conversation already has an active response: {active.id}"
            raise ApiError(400, "conversation_already_has_active_response", message)
        if self._loudspeaker is not None:
            self._loudspeaker.skip()
        turn = Turn()
        self._explicit[turn.id] = Asked(options, is_explicit=True)
        self._begin_response(turn.id, options)
        self._asked_turns[turn.id] = turn
        self._waiting.put_nowait(turn)

    def _cancel_response(self, response_id: str | None, pipeline: Pipeline) -> None:
        for turn_id, writer in self._writers.items():
            if not writer.is_done and response_id in (None, writer.id):
                writer.finish("cancelled", reason="client_cancelled")
                if (turn := self._asked_turns.get(turn_id)) is not None:
                    turn.cancel.set()  # the pipeline may not know it yet
                pipeline.cancel_turn(turn_id)
                return
        raise ApiError(400, "response_cancel_not_active", "there is no active response to cancel")

    async def _answer(self, pipeline: Pipeline) -> None:
        """Answer what `response.create` asked for."""
        while True:
            turn = await self._waiting.get()
            await asyncio.gather(*self._transcribing.values(), return_exceptions=True)
            with contextlib.suppress(EdgevoxError):  # response.done reported it
                await pipeline.answer(self._items.last_question(), turn)
            del self._asked_turns[turn.id]

    # --- for the agent

    def asked(self, turn_id: str) -> Asked | None:
        if explicit := self._explicit.get(turn_id):
            return explicit
        detection = self._settings.audio.input.turn_detection
        if detection is None or not detection.create_response:
            return None
        return Asked(self.default_options(), is_explicit=False, spoken_item=self._spoken.get(turn_id))

    def default_options(self) -> ResponseOptions:
        return ResponseOptions.of(self._settings)

    def called(self, turn_id: str, calls: Sequence[ToolCall]) -> None:
        for call in calls:
            self._writer(turn_id).call(call)

    def written(self, turn_id: str, finish_reason: FinishReason) -> None:
        if (writer := self._writers.get(turn_id)) is not None and finish_reason != "cancelled":
            writer.finish_reason = finish_reason
            if not writer.options.speaks:
                writer.finish_whole()

    def cut(self, turn_id: str, spoken_prefix: str) -> None:
        writer = self._writers.get(turn_id)
        item = writer.message if writer is not None else None
        if item is not None and item.is_audio:
            item.cut(spoken_prefix)
            item.status = "incomplete"
            if self._loudspeaker is not None and self._loudspeaker.heard_s < item.audio_s:
                self._truncated(item, self._loudspeaker.heard_s)

    def _kept(self, turn_id: str, between: tuple[Message, ...]) -> None:
        if (writer := self._writers.get(turn_id)) is not None and writer.message is not None:
            writer.message.calls_before = between

    # --- events of the voice loop

    def _publish(self, event: events.Event) -> None:
        self._recorder(event)
        self._queues.on_event(event)
        match event:
            case events.SpeechStarted():
                self._speech_started()
            case events.SpeechDropped() if self._speech_item_id is not None:
                self._speech_stopped(self._audio_source.delay_s)
            case events.TurnStarted(turn_id=turn_id):
                self._turn_id = turn_id
            case events.SpeechEnded(at_s=at_s):
                self._last_voiced_s = at_s
            case events.EndpointReached(turn_id=turn_id):
                self._utterance_ended(turn_id)
            case events.TranscriptReady(turn_id=turn_id, text=text) if turn_id in self._spoken:
                self._transcribed(self._spoken[turn_id], text, 0.0)
            case events.ModelStarted(turn_id=turn_id) | events.ToolStarted(turn_id=turn_id):
                self._writer(turn_id)
            case events.ReplyDelta(turn_id=turn_id, text=text):
                self._writer(turn_id).write(text)
            case events.ModelFinished(turn_id=turn_id):
                writer = self._writer(turn_id)
                writer.usage = writer.usage.plus(event)
            case events.ConfirmationRequired(turn_id=turn_id, question=question) if self._voice_session.confirm is None:
                self._writer(turn_id).write(f" {question} ")
            case events.AnswerHeard(text=text):
                self._add_whole(Item(role="user", content_type="input_audio", text=text))
            case events.TurnEnded():
                self._ended(event)
            case _:
                pass

    def _duplex(self) -> Duplex:
        detection = self._settings.audio.input.turn_detection
        return "device" if detection is None or detection.interrupt_response else "half"

    def _hangover_scale(self) -> float:
        detection = self._settings.audio.input.turn_detection
        return 1.0 if detection is None else detection.hangover_scale

    def _heard_ms(self, age_s: float) -> int:
        """Return the place in the received sound that is so old."""
        return round(max(0.0, self._received_s - age_s) * 1000)

    def _speech_started(self) -> None:
        self._speech_item_id = new_id("item")
        self._speech_start_ms = self._heard_ms(self._audio_source.delay_s)
        place = {"audio_start_ms": self._speech_start_ms, "item_id": self._speech_item_id}
        self._send("input_audio_buffer.speech_started", **place)
        # Speech is told during a turn only where it has interrupted it.
        writer = self._writers.get(self._turn_id or "")
        if writer is not None:
            writer.finish("cancelled", reason="turn_detected")

    def _speech_stopped(self, age_s: float) -> str:
        """Tell that the last speech is so old; returns the id of its item."""
        if self._speech_item_id is None:
            self._speech_started()
        item_id, self._speech_item_id = self._speech_item_id, None
        assert item_id is not None
        end_ms = max(self._speech_start_ms, self._heard_ms(age_s))
        self._send("input_audio_buffer.speech_stopped", audio_end_ms=end_ms, item_id=item_id)
        return item_id

    def _utterance_ended(self, turn_id: str) -> None:
        item_id = self._speech_stopped(time.monotonic() - self._last_voiced_s)
        self._buffer.clear()
        item = self._spoken[turn_id] = Item(role="user", content_type="input_audio", id=item_id)
        self._send("input_audio_buffer.committed", previous_item_id=self._items.last_id, item_id=item_id)
        self._add_whole(item)

    def _transcribed(self, item: Item, text: str, seconds: float) -> None:
        item.text = "\n".join(filter(None, (item.text, text)))
        if self._settings.audio.input.transcription is not None:
            self._send(
                "conversation.item.input_audio_transcription.completed",
                item_id=item.id,
                content_index=0,
                transcript=text,
                usage={"type": "duration", "seconds": seconds},
            )

    def _ended(self, ended: events.TurnEnded) -> None:
        turn_id, self._turn_id = ended.turn_id, None
        self._explicit.pop(turn_id, None)
        spoken, writer = self._spoken.pop(turn_id, None), self._writers.pop(turn_id, None)
        if ended.outcome == "dropped" and spoken is not None and self._items.find(spoken.id) is spoken:
            self._delete(spoken)  # nothing was said
        fault = {"type": "server_error", "code": ended.error_code, "message": ended.error}
        match ended.outcome:
            case "failed" if writer is None:
                if spoken is not None:
                    place = {"item_id": spoken.id, "content_index": 0}
                    self._send("conversation.item.input_audio_transcription.failed", **place, error=fault)
                self._send("error", error={**fault, "param": None, "event_id": None})
            case "failed" if writer is not None:
                writer.finish("failed", error=fault)
            case "interrupted" if writer is not None:
                writer.finish("cancelled", reason="turn_detected")
            case "cancelled" if writer is not None:
                writer.finish("cancelled", reason="client_cancelled")
            case _:
                if writer is not None:
                    writer.finish_whole()

    # --- responses and items

    def _writer(self, turn_id: str) -> ResponseWriter:
        """Return the response of a turn; that of a spoken one begins with its first event."""
        return self._writers.get(turn_id) or self._begin_response(turn_id, self.default_options())

    def _begin_response(self, turn_id: str, options: ResponseOptions) -> ResponseWriter:
        writer = self._writers[turn_id] = ResponseWriter(self._send, self._add, options, self._conversation_id)
        writer.begin()
        return writer

    def _play(self, pcm: bytes) -> None:
        if self._turn_id is not None:
            self._writer(self._turn_id).play(pcm)

    def _all_sent(self) -> None:
        writer = self._writers.get(self._turn_id or "")
        if writer is not None and writer.finish_reason is not None:
            writer.finish_whole()

    def _add(self, item: Item, after: str | None = None) -> str | None:
        previous = self._items.add(item, after)
        while (oldest := self._items.overflow()) is not None:
            self._delete(oldest)
        return previous

    def _add_whole(self, item: Item, after: str | None = None) -> None:
        previous = self._add(item, after)
        self._send("conversation.item.added", previous_item_id=previous, item=item.as_json())
        self._send("conversation.item.done", previous_item_id=previous, item=item.as_json())
