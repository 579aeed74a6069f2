"""Answers a chat request: writes a prompt that fits the context, then generates the reply."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

from edgevox.core.errors import ContextOverflow, GrammarRejected
from edgevox.core.turn import CancelFlag
from edgevox.core.types import API_CLIENT, Busy, ChatDelta, ChatDone, ChatReply, ChatRequest, FinishReason, NamedTool
from edgevox.llm.context import BATCH_TOKENS, Aborted, KvCacheFull, LlamaContext
from edgevox.llm.generation import Generation, ReplyConstraint
from edgevox.llm.grammars import DEFAULT_FORMAT, CallGrammar, GrammarCache
from edgevox.llm.prefix_cache import PrefixCache, SnapshotStore
from edgevox.llm.prompt.fitting import TurnDropper, without_oldest_turns
from edgevox.llm.prompt.templates import ChatTemplate
from edgevox.llm.prompt.writer import PromptWriter, WrittenPrompt
from edgevox.llm.sampling import Candidates, Constrainer, ConstraintEngine, Sampler

# With less space than this for a reply, old turns are dropped first.
_ROOM_FOR_REPLY_TOKENS = 64
_THINK = "<think>"


class Decoder:
    """A loaded model and the caches that persist between requests."""

    def __init__(
        self,
        context: LlamaContext,
        template: ChatTemplate,
        snapshots: SnapshotStore | None,
        constraint_engine: ConstraintEngine,
    ) -> None:
        vocabulary = context.vocabulary
        self._context = context
        self._writer = PromptWriter(template, vocabulary)
        self._cache = PrefixCache(context, snapshots)
        self._candidates = Candidates(vocabulary.size)
        self._constrainer = Constrainer(vocabulary, self._candidates, constraint_engine)
        self._grammars = GrammarCache()

    def fork(self) -> Decoder:
        """Return a second decoder on the same model with its own caches.

        Raises ModelError if there is not enough memory.
        """
        other = copy.copy(self)
        other._context = self._context.fork()
        other._writer = self._writer.fork()
        other._cache = self._cache.fork(other._context)
        other._constrainer = self._constrainer.fork()
        return other

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply | Busy]:
        """Answer a request. Raises ContextOverflow if the last question alone does not fit, and ModelError."""
        if request.prompt_only:
            yield from self._prepare(request, cancel)
            return
        constraint = self._reply_constraint(request)
        finish: FinishReason = "cancelled"
        try:
            prompt, dropped_turns = self._fit(request, constraint, cancel)
        except Aborted:
            yield ChatDone(finish, 0, 0, 0)
            return
        if not request.sampling.max_tokens:
            yield ChatDone("length", len(prompt.tokens), 0, 0, dropped_turns)
            return
        self._context.watch(cancel)
        known = generated = 0
        stopped_at: str | None = None
        prefill_tokens = len(self._reply_tokens(request.prefill, prompt))
        try:
            sequence, known = self._cache.begin(request.client, prompt.tokens, prompt.fixed_tokens)
            if prompt.reasoning and not request.reply_prefix:
                # The prompt ends with this tag, and readers need to see it.
                yield ChatDelta(prompt.reasoning, len(prompt.tokens), known)
            resumed = max(len(sequence.tokens), prompt.fixed_tokens)
            for _step in self._cache.read(sequence, prompt.tokens, prompt.fixed_tokens):
                yield Busy()
            generation = Generation(
                prompt.tokens,
                sequence=sequence,
                cache=self._cache,
                context=self._context,
                sampler=Sampler(self._candidates, request.sampling, banned=self._banned(request)),
                constrainer=self._constrainer,
                constraint=constraint,
                stop=request.stop,
                reasoning=prompt.reasoning,
                limit_tokens=min(
                    request.sampling.max_tokens + prefill_tokens, self._context.context_tokens - len(prompt.tokens)
                ),
                cancel=cancel,
                reply_prefix=self._reply_tokens(request.reply_prefix, prompt),
            )
            try:
                for text in generation.pieces():
                    yield ChatDelta(text, len(prompt.tokens), known)
                finish, stopped_at = generation.finish, generation.stopped_at
            finally:
                generated = generation.generated - prefill_tokens
                generation.close()
                if cancel.is_set():
                    # Cut back to the start of a prompt batch, so that the same request gives the same answer.
                    batches = (len(prompt.tokens) - 1 - resumed) // BATCH_TOKENS
                    self._cache.cut(sequence, resumed + batches * BATCH_TOKENS)
        except Aborted:
            finish = "cancelled"
        except KvCacheFull:
            finish = "length"
        warnings = constraint.grammar.warnings if constraint is not None else ()
        yield ChatDone(finish, len(prompt.tokens), known, generated, dropped_turns, warnings, stopped_at)
        self._cache.save()

    def _prepare(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply | Busy]:
        """Evaluate the prefix that all next questions share."""
        prompt = self._writer.write_prefix(request)
        size = len(prompt.tokens)
        if not self._context.can_cut or size >= self._context.context_tokens:
            yield ChatDone("stop", 0, 0, 0)  # the cache cannot be cut back, so evaluation would be wasted
            return
        self._context.watch(cancel)
        finish: FinishReason = "cancelled"
        known = 0
        # `begin` leaves out the last token, whose logits its caller needs; here the whole prompt is wanted.
        tokens = [*prompt.tokens, -1]
        try:
            sequence, known = self._cache.begin(request.client, tokens, prompt.fixed_tokens)
            for _step in self._cache.read(sequence, tokens, prompt.fixed_tokens):
                yield Busy()
            self._cache.extend(sequence, prompt.tokens[len(sequence.tokens) :])
            finish = "stop"
        except (Aborted, KvCacheFull):
            pass
        yield ChatDone(finish, size, known, 0)
        self._cache.save()

    def _fit(
        self, request: ChatRequest, constraint: ReplyConstraint | None, cancel: CancelFlag
    ) -> tuple[WrittenPrompt, int]:
        """Drop the oldest turns until the prompt leaves space for a reply.

        Raises Aborted, because an API client may send a thousand messages.
        """
        room_tokens = self._context.context_tokens - _ROOM_FOR_REPLY_TOKENS
        vocabulary = self._context.vocabulary
        # More characters than this are more tokens than there is room for, whatever they are.
        most_chars = (room_tokens + 1) * vocabulary.longest_piece
        prompts: dict[int, WrittenPrompt] = {}

        def count(text: str) -> int:
            return len(vocabulary.tokenize(text[:most_chars], special=False))

        def measure(dropped: int) -> int:
            if cancel.is_set():
                raise Aborted
            prompts[dropped] = self._writer.write(without_oldest_turns(request.messages, dropped), request)
            return len(prompts[dropped].tokens)

        dropper = TurnDropper(request.messages, room_tokens=room_tokens, count=count, measure=measure)
        dropped = dropper.fewest()
        if dropped is None:
            raise ContextOverflow(
                f"the question needs at least {dropper.least_tokens} tokens, "
                f"the context has {self._context.context_tokens}, with {_ROOM_FOR_REPLY_TOKENS} for the answer",
                hint="send a shorter question, or raise llm.context_tokens",
            )
        return self._open_reasoning(prompts[dropped], request, constraint), dropped

    def _open_reasoning(
        self, prompt: WrittenPrompt, request: ChatRequest, constraint: ReplyConstraint | None
    ) -> WrittenPrompt:
        """Open the reasoning if a call is required, so that a thinking model can think first."""
        required = constraint is not None and constraint.begins == "at_once"
        if not (required and request.thinking and self._writer.supports_thinking and not prompt.reasoning):
            return prompt
        opening = self._context.vocabulary.tokenize(f"{_THINK}\n", special=True)
        return replace(prompt, tokens=[*prompt.tokens, *opening], reasoning=_THINK)

    def _reply_tokens(self, text: str, prompt: WrittenPrompt) -> list[int]:
        """Return the tokens of a reply's beginning, without the reasoning tag that already ends the prompt."""
        text = text.removeprefix(prompt.reasoning or "")
        return self._context.vocabulary.tokenize(text, special=True) if text else []

    # --- tool choice

    def _reply_constraint(self, request: ChatRequest) -> ReplyConstraint | None:
        """Return the grammar of the reply, and where in the reply it starts."""
        if request.json_schema is not None:
            return ReplyConstraint(_affordable(self._grammars.get_json(request.json_schema), request), "at_once")
        match request.tool_choice:
            case "none":
                return None
            case "auto" if request.wire_format is None:
                return None
            case NamedTool(name):
                tools = tuple(tool for tool in request.tools if tool.get("function", tool)["name"] == name)
            case _:
                tools = request.tools
        if not tools:
            return None
        grammar = _affordable(
            self._grammars.get(
                tools, wire_format=request.wire_format or DEFAULT_FORMAT, parallel=request.parallel_calls
            ),
            request,
        )
        if request.tool_choice == "auto":
            return ReplyConstraint(grammar, "at_trigger") if grammar.triggers else None
        return ReplyConstraint(grammar, "at_once")

    def _banned(self, request: ChatRequest) -> set[int]:
        """With tool choice "none", return the tokens that begin a call: the tools are still in the prompt."""
        if request.tool_choice != "none" or request.json_schema is not None:
            return set()
        if not request.tools or request.wire_format is None:
            return set()
        grammar = self._grammars.get(request.tools, wire_format=request.wire_format, parallel=request.parallel_calls)
        vocabulary = self._context.vocabulary
        return {vocabulary.tokenize(trigger, special=True)[0] for trigger in grammar.triggers}


def _affordable(grammar: CallGrammar, request: ChatRequest) -> CallGrammar:
    """Return the grammar. Raises GrammarRejected for a program's schema that is too large to be enforced."""
    if grammar.too_large and request.client.startswith(API_CLIENT):
        raise GrammarRejected(
            f"the schemas of the request are too large: {grammar.too_large}", hint="simplify them, or send fewer tools"
        )
    return grammar
