"""llama.cpp at work: a prompt is evaluated from where it is new, and continued token by token."""

from __future__ import annotations

import codecs
import ctypes
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
from llama_cpp import Llama

from edgevox.errors import ContextOverflow, ModelError
from edgevox.llm.text_watch import TextWatch
from edgevox.llm.templates import CHATML, ChatTemplate
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatReply, ChatRequest, FinishReason, Message

# Less room than this for an answer is no room: old turns go first.
_ROOM_FOR_REPLY_TOKENS = 64
_BATCH_TOKENS = 512
_REASONING_TAGS = ("<think>", "[THINK]")
_TAG_TOKENS = 16

# llama.cpp polls an abort callback between graph nodes. The flag is a C string, empty while the work goes on,
# so the C library's own strlen answers "stop?" without the GIL and without a compiler.
_ABORT_WHEN_SET = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)


class Decoder:
    """A loaded model. The evaluated prefix is kept from one request to the next. Raises ModelError."""

    def __init__(
        self,
        model_path: Path,
        *,
        context_tokens: int,
        threads: int,
        prompt_threads: int,
        chat_template: str | None,
    ) -> None:
        self._context_tokens = context_tokens
        try:
            self._llama = Llama(
                str(model_path),
                n_ctx=context_tokens,
                n_batch=_BATCH_TOKENS,
                n_threads=threads,
                n_threads_batch=prompt_threads,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            raise ModelError(
                f"llama.cpp cannot load {model_path.name}: {error}",
                hint="`edgevox models verify` checks the file; a smaller context_tokens needs less memory",
            ) from error
        self._template = ChatTemplate(
            chat_template or self._llama.metadata.get("tokenizer.chat_template") or CHATML,
            bos=self._special_text(self._llama.token_bos()),
            eos=self._special_text(self._llama.token_eos()),
        )

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply]:
        """Raises ContextOverflow when even the last question alone does not fit, and ModelError."""
        llama = self._llama
        prompt, dropped_turns = self._fit(request)
        cached_tokens = _shared_prefix(llama, prompt)
        llama_cpp.llama_set_abort_callback(llama.ctx, _ABORT_WHEN_SET, ctypes.c_void_p(cancel.address))
        room = self._context_tokens - len(prompt)
        if opened := self._opened_reasoning(prompt):
            yield ChatDelta(opened)
        generated = 0
        finish: FinishReason = "length"
        stops = TextWatch(request.stop)
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for token in self._tokens(prompt, request, cancel):
            if llama_cpp.llama_vocab_is_eog(llama._model.vocab, token):
                finish = "stop"
                break
            generated += 1
            if text := stops.feed(decoder.decode(llama.detokenize([token], special=True))):
                yield ChatDelta(text)
            if stops.found:
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
        llama = self._llama
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
            if len(prompt) + _ROOM_FOR_REPLY_TOKENS <= self._context_tokens:
                return prompt, dropped
            shorter = _without_oldest_turn(messages)
            if shorter == messages:
                raise ContextOverflow(
                    f"the question needs {len(prompt)} tokens, the context holds {self._context_tokens}",
                    hint="ask for less at once, or raise llm.context_tokens",
                )
            messages = shorter
            dropped += 1

    def _prompt(self, messages: tuple[Message, ...], request: ChatRequest) -> list[int]:
        text = self._template.render(messages, tools=request.tools, thinking=request.thinking)
        llama = self._llama
        tokens: list[int] = llama.tokenize(text.encode(), add_bos=False, special=True)
        wants_bos = llama_cpp.llama_vocab_get_add_bos(llama._model.vocab)
        if wants_bos and tokens[:1] != [llama.token_bos()]:
            tokens.insert(0, llama.token_bos())
        return tokens

    def _opened_reasoning(self, prompt: list[int]) -> str:
        """The tag with which the template has begun the reply already, if it has: readers need to see it."""
        end: str = self._llama.detokenize(prompt[-_TAG_TOKENS:], special=True).decode(errors="replace")
        return next((tag for tag in _REASONING_TAGS if end.rstrip().endswith(tag)), "")

    def _special_text(self, token: int) -> str:
        return self._llama.detokenize([token], special=True).decode() if token >= 0 else ""


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
