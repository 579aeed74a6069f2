"""The language model engine: llama.cpp on a GGUF file, streamed, cancelled through its abort callback."""

from __future__ import annotations

import codecs
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import llama_cpp
from llama_cpp import Llama

from edgevox.errors import ContextOverflow, ModelError, ModelMissing
from edgevox.llm.stop_strings import StopStrings
from edgevox.llm.templates import CHATML, ChatTemplate
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatReply, ChatRequest, FinishReason, Message

_GGUF_MAGIC = b"GGUF"
# Less room than this for an answer is no room: old turns go first.
_ROOM_FOR_REPLY_TOKENS = 64
_BATCH_TOKENS = 512

# llama.cpp polls an abort callback between graph nodes. The flag is a C string, empty while the work goes on,
# so the C library's own strlen answers "stop?" without the GIL and without a compiler.
_ABORT_WHEN_SET = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)


@dataclass
class LlamaEngine:
    """An Engine[ChatRequest, ChatReply]. The evaluated prefix is kept from one request to the next."""

    model_path: Path
    context_tokens: int = 4096
    threads: int = 2
    prompt_threads: int = 2
    chat_template: str | None = None
    _llama: Llama | None = field(default=None, init=False, repr=False)
    _template: ChatTemplate | None = field(default=None, init=False, repr=False)

    def load(self) -> None:
        _check_gguf(self.model_path)
        try:
            self._llama = Llama(
                str(self.model_path),
                n_ctx=self.context_tokens,
                n_batch=_BATCH_TOKENS,
                n_threads=self.threads,
                n_threads_batch=self.prompt_threads,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            raise ModelError(
                f"llama.cpp cannot load {self.model_path.name}: {error}",
                hint="`edgevox models verify` checks the file; a smaller context_tokens needs less memory",
            ) from error
        self._template = ChatTemplate(
            self.chat_template or self._llama.metadata.get("tokenizer.chat_template") or CHATML,
            bos=self._special_text(self._llama.token_bos()),
            eos=self._special_text(self._llama.token_eos()),
        )

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply]:
        """Raises ContextOverflow when even the last question alone does not fit, and ModelError."""
        llama = self._loaded()
        prompt, dropped_turns = self._fit(request)
        cached_tokens = _shared_prefix(llama, prompt)
        llama_cpp.llama_set_abort_callback(llama.ctx, _ABORT_WHEN_SET, ctypes.c_void_p(cancel.address))
        room = self.context_tokens - len(prompt)
        generated = 0
        finish: FinishReason = "length"
        stops = StopStrings(request.stop)
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for token in self._tokens(prompt, request, cancel):
            if llama_cpp.llama_vocab_is_eog(llama._model.vocab, token):
                finish = "stop"
                break
            generated += 1
            if text := stops.feed(decoder.decode(llama.detokenize([token], special=True))):
                yield ChatDelta(text)
            if stops.stopped:
                finish = "stop"
                break
            if generated >= min(request.sampling.max_tokens, room):
                break
        if cancel.is_set():
            finish = "cancelled"
        elif rest := stops.feed(decoder.decode(b"", final=True)) + stops.finish():
            yield ChatDelta(rest)
        yield ChatDone(finish, len(prompt), cached_tokens, generated, dropped_turns)

    def _tokens(self, prompt: list[int], request: ChatRequest, cancel: CancelFlag) -> Iterator[int]:
        llama = self._loaded()
        sampling = request.sampling
        if sampling.seed is not None:
            llama.set_seed(sampling.seed)
        tokens = llama.generate(
            prompt,
            temp=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            repeat_penalty=sampling.repeat_penalty,
        )
        try:
            while not cancel.is_set():
                yield next(tokens)
        except RuntimeError as error:
            if cancel.is_set():  # the abort callback made llama_decode fail: that is what was asked for
                return
            llama.reset()
            raise ModelError(
                f"llama.cpp stopped: {error}", hint="try again with a shorter question"
            ) from error

    def _fit(self, request: ChatRequest) -> tuple[list[int], int]:
        """The prompt's tokens, without as many of the oldest turns as it takes, and how many those were."""
        messages = request.messages
        dropped = 0
        while True:
            prompt = self._prompt(messages, request)
            if len(prompt) + _ROOM_FOR_REPLY_TOKENS <= self.context_tokens:
                return prompt, dropped
            shorter = _without_oldest_turn(messages)
            if shorter == messages:
                raise ContextOverflow(
                    f"the question needs {len(prompt)} tokens, the context holds {self.context_tokens}",
                    hint="ask for less at once, or raise llm.context_tokens",
                )
            messages = shorter
            dropped += 1

    def _prompt(self, messages: tuple[Message, ...], request: ChatRequest) -> list[int]:
        assert self._template is not None
        text = self._template.render(messages, tools=request.tools, thinking=request.thinking)
        llama = self._loaded()
        tokens: list[int] = llama.tokenize(text.encode(), add_bos=False, special=True)
        wants_bos = llama_cpp.llama_vocab_get_add_bos(llama._model.vocab)
        if wants_bos and tokens[:1] != [llama.token_bos()]:
            tokens.insert(0, llama.token_bos())
        return tokens

    def _special_text(self, token: int) -> str:
        return self._loaded().detokenize([token], special=True).decode() if token >= 0 else ""

    def _loaded(self) -> Llama:
        assert self._llama is not None, "load() comes first"
        return self._llama


def _check_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except FileNotFoundError as error:
        raise ModelMissing(f"there is no model file {path}", hint="edgevox models pull") from error
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror}", hint="check the file's permissions"
        ) from error
    if magic != _GGUF_MAGIC:
        raise ModelError(
            f"{path} is not a GGUF file", hint="choose a file that ends in .gguf, or pull it again"
        )


def _shared_prefix(llama: Llama, prompt: list[int]) -> int:
    known = llama._input_ids.tolist()
    same = next((i for i, (a, b) in enumerate(zip(known, prompt, strict=False)) if a != b), None)
    return min(len(known), len(prompt)) if same is None else same


def _without_oldest_turn(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages without the first question and all that followed it, up to the next question."""
    questions = [index for index, message in enumerate(messages) if message.role == "user"]
    if len(questions) < 2:
        return messages
    return messages[: questions[0]] + messages[questions[1] :]
