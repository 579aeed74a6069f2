"""What a realtime client gets of a reply: the events of one response, and its sound with an assumed playback."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.dsp import Resampler
from edgevox.core.turn import CancelFlag, cancel_tasks
from edgevox.core.types import Audio, FinishReason, JsonObject, ToolCall, to_pcm16
from edgevox.server.chat.input import Usage
from edgevox.server.realtime.conversation import Item
from edgevox.server.realtime.protocol import RATE_HZ, SAMPLE_BYTES, ResponseOptions, new_id

ResponseStatus: TypeAlias = Literal["completed", "cancelled", "failed", "incomplete"]


class Send(Protocol):
    """Sends a server event."""

    def __call__(self, kind: str, /, **fields: object) -> None: ...


class ResponseWriter:
    """Writes the events of one response, from `begin` to `finish`. `add` adds an item to the conversation."""

    def __init__(
        self, send: Send, add: Callable[[Item], str | None], options: ResponseOptions, conversation_id: str
    ) -> None:
        self.id = new_id("resp")
        self.options = options
        self.message: Item | None = None
        """The last message of the response."""
        self.finish_reason: FinishReason | None = None
        """Why the text ended; None while it is written."""
        self.is_done = False
        self.usage = Usage()
        self._send = send
        self._add = add
        self._conversation_id = conversation_id
        self._output: list[Item] = []
        self._is_message_open = False

    def begin(self) -> None:
        self._send("response.created", response=self._as_json("in_progress"))

    def write(self, piece: str) -> None:
        """Add text to the message."""
        if self.is_done or not piece:
            return
        item = self._open_message()
        item.text += piece
        kind = "output_audio_transcript" if item.is_audio else "output_text"
        self._send(f"response.{kind}.delta", **self._place(item), content_index=0, delta=piece)

    def play(self, pcm: bytes) -> None:
        """Add sound to the message."""
        if self.is_done:
            return
        item = self._open_message()
        item.audio_s += len(pcm) / SAMPLE_BYTES / RATE_HZ
        delta = base64.b64encode(pcm).decode()
        self._send("response.output_audio.delta", **self._place(item), content_index=0, delta=delta)

    def call(self, call: ToolCall) -> None:
        """Add a call of a function of the client."""
        if self.is_done:
            return
        self._close_message("completed")
        item = Item("function_call", call_id=call.id, name=call.name, status="in_progress")
        self._begin_item(item)
        place = {**self._place(item), "call_id": call.id}
        item.text, item.status = call.arguments, "completed"
        self._send("response.function_call_arguments.delta", **place, delta=call.arguments)
        self._send("response.function_call_arguments.done", **place, name=call.name, arguments=call.arguments)
        self._end_item(item)

    def finish(self, status: ResponseStatus, *, reason: str | None = None, error: JsonObject | None = None) -> None:
        if self.is_done:
            return
        self._close_message("completed" if status == "completed" else "incomplete")
        self.is_done = True
        details = {"type": status, "reason": reason, "error": error} if status != "completed" else None
        self._send("response.done", response=self._as_json(status, details))

    def finish_whole(self) -> None:
        """Finish a response of which everything was sent."""
        is_cut = self.finish_reason == "length"
        self.finish("incomplete" if is_cut else "completed", reason="max_output_tokens" if is_cut else None)

    def _open_message(self) -> Item:
        if self.message is None or not self._is_message_open:
            content_type: Literal["output_audio", "output_text"] = "output_audio"
            if not self.options.speaks:
                content_type = "output_text"
            self.message = Item(content_type=content_type, status="in_progress")
            self._is_message_open = True
            self._begin_item(self.message)
            part = _part(self.message)
            self._send("response.content_part.added", **self._place(self.message), content_index=0, part=part)
        return self.message

    def _close_message(self, status: Literal["completed", "incomplete"]) -> None:
        item = self.message
        if item is None or not self._is_message_open:
            return
        self._is_message_open = False
        item.text, item.status = item.text.strip(), status
        place = {**self._place(item), "content_index": 0}
        if item.is_audio:
            self._send("response.output_audio.done", **place)
            self._send("response.output_audio_transcript.done", **place, transcript=item.text)
        else:
            self._send("response.output_text.done", **place, text=item.text)
        self._send("response.content_part.done", **place, part=_part(item))
        self._end_item(item)

    def _begin_item(self, item: Item) -> None:
        self._output.append(item)
        previous = self._add(item)
        place = {"response_id": self.id, "output_index": len(self._output) - 1}
        self._send("response.output_item.added", **place, item=item.as_json())
        self._send("conversation.item.added", previous_item_id=previous, item=item.as_json())

    def _end_item(self, item: Item) -> None:
        place = {"response_id": self.id, "output_index": self._output.index(item)}
        self._send("response.output_item.done", **place, item=item.as_json())
        self._send("conversation.item.done", item=item.as_json())

    def _place(self, item: Item) -> dict[str, object]:
        return {"response_id": self.id, "item_id": item.id, "output_index": self._output.index(item)}

    def _as_json(self, status: str, details: JsonObject | None = None) -> JsonObject:
        usage, options = self.usage, self.options
        return {
            "id": self.id,
            "object": "realtime.response",
            "conversation_id": self._conversation_id,
            "status": status,
            "status_details": details,
            "output": [item.as_json() for item in self._output],
            "output_modalities": options.output_modalities,
            "max_output_tokens": options.max_output_tokens,
            "metadata": options.metadata,
            "usage": None
            if status == "in_progress"
            else {
                "total_tokens": usage.prompt_tokens + usage.generated_tokens,
                "input_tokens": usage.prompt_tokens,
                "output_tokens": usage.generated_tokens,
                "input_token_details": {"text_tokens": usage.prompt_tokens, "cached_tokens": usage.cached_tokens},
                "output_token_details": {"text_tokens": usage.generated_tokens},
            },
        }


def _part(item: Item) -> JsonObject:
    return {"type": "audio", "transcript": item.text} if item.is_audio else {"type": "text", "text": item.text}


_PIECE_S = 0.1
# A slow client: wait until it has read most of what was sent.
_MOST_WAITING_BYTES = 1_000_000
_READ_AGAIN_S = 0.02
# How long a client may take to say with conversation.item.truncate what was played before an interruption.
_FINAL_REPORT_S = 0.3


class _Playback:
    """The assumed playback of a passage: the client plays at once what it gets, without a gap while there is more."""

    def __init__(self) -> None:
        self.sent_s = 0.0
        self.ends_s = 0.0
        self.reported_s: float | None = None
        self.is_skipped = False
        self.changed = asyncio.Event()

    def add(self, seconds: float) -> None:
        self.ends_s = max(self.ends_s, time.monotonic()) + seconds
        self.sent_s += seconds

    def played_s(self) -> float:
        if self.reported_s is not None:
            return self.reported_s
        return self.sent_s if self.is_skipped else self.sent_s - max(0.0, self.ends_s - time.monotonic())


class RealtimeLoudspeaker:
    """Sends the sound of a reply as it is synthesised. The Realtime API does not report playback: it is assumed.

    `send` gets the samples, `on_sent` is called at the end of each passage; `waiting_bytes` returns what is unread.
    """

    def __init__(
        self, send: Callable[[bytes], None], on_sent: Callable[[], None], waiting_bytes: Callable[[], int]
    ) -> None:
        self.heard_s = 0.0
        self._send_pcm = send
        self._on_sent = on_sent
        self._waiting_bytes = waiting_bytes
        self._playback: _Playback | None = None

    @property
    def is_playing(self) -> bool:
        return self._playback is not None and self._playback.sent_s > 0

    def duck(self, is_ducked: bool) -> None:
        """Without effect: the API has no such event."""

    def hold(self, is_held: bool) -> None:
        """Without effect, likewise."""

    def skip(self) -> None:
        """Take everything that was sent as played: the client goes on with something else."""
        if self._playback is not None:
            self._playback.is_skipped = True
            self._playback.changed.set()

    def report(self, seconds: float, of_s: float) -> None:
        """Note how much was played of a reply of which `of_s` were sent."""
        if (playback := self._playback) is not None:
            playback.reported_s = min(max(0.0, seconds - (of_s - playback.sent_s)), playback.sent_s)
            playback.changed.set()

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        """Send chunks as they arrive; returns when they are assumed to be played, or `cancel` is set."""
        playback = self._playback = _Playback()
        self.heard_s = 0.0
        loop = asyncio.get_running_loop()
        playing = asyncio.create_task(self._play(playback, chunks, on_start))

        def stop() -> None:  # from any thread
            loop.call_soon_threadsafe(playing.cancel)

        cancel.add_listener(stop)
        try:
            await asyncio.wait((playing,))
            if playing.cancelled() and playback.sent_s:
                self.heard_s = playback.played_s()
                await _changed(playback, _FINAL_REPORT_S)
            if playback.reported_s is not None or not playing.cancelled():
                self.heard_s = playback.played_s()
            if not playing.cancelled():
                playing.result()
        finally:
            cancel.remove_listener(stop)
            await cancel_tasks(playing)
            self._playback = None

    async def _play(self, playback: _Playback, chunks: AsyncIterator[Audio], on_start: Callable[[], None]) -> None:
        resampler: Resampler | None = None
        async for chunk in chunks:
            if resampler is not None and resampler.from_hz != chunk.rate_hz:
                await self._send(playback, resampler.finish(), on_start)
                resampler = None
            resampler = resampler or Resampler(chunk.rate_hz, RATE_HZ)
            await self._send(playback, resampler.feed(chunk.samples), on_start)
        if resampler is not None:
            await self._send(playback, resampler.finish(), on_start)
        self._on_sent()
        while not playback.is_skipped and (left_s := playback.ends_s - time.monotonic()) > 0:
            await _changed(playback, left_s)

    async def _send(self, playback: _Playback, samples: NDArray[np.float32], on_start: Callable[[], None]) -> None:
        length = round(_PIECE_S * RATE_HZ)
        for start in range(0, len(samples), length):
            piece = samples[start : start + length]
            while self._waiting_bytes() > _MOST_WAITING_BYTES:  # noqa: ASYNC110  (the connection ends a stalled one)
                await asyncio.sleep(_READ_AGAIN_S)
            if not playback.sent_s:
                on_start()
            playback.add(len(piece) / RATE_HZ)
            self._send_pcm(to_pcm16(piece))


async def _changed(playback: _Playback, within_s: float) -> None:
    playback.changed.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await playback.changed.wait()
