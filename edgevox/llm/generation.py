"""The decode loop for one reply: samples tokens, applies the grammar, finds stop strings, yields text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from edgevox.core.errors import GrammarRejected
from edgevox.core.turn import CancelFlag
from edgevox.core.types import FinishReason
from edgevox.llm.context import LlamaContext
from edgevox.llm.grammars import CallGrammar
from edgevox.llm.prefix_cache import CachedSequence, PrefixCache
from edgevox.llm.prompt.templates import REASONING_TAGS
from edgevox.llm.sampling import Constrainer, Constraint, Sampler
from edgevox.llm.tool_parsers.markers import Scan


class MarkerScanner:
    """Finds the first of `strings` in streamed text; `feed` returns the text before it as soon as that is certain.

    After a match `found` is the string and `rest` the text after it; the scanner is then used up.
    """

    def __init__(self, strings: tuple[str, ...]) -> None:
        self._scan = Scan(tuple(filter(None, strings)))
        self._held = ""
        self.found: str | None = None
        self.rest = ""

    def feed(self, text: str) -> str:
        self._held += text
        match = self._scan.search(self._held)
        if match and match[0]:  # without strings, the empty one matches
            self.found, self.rest = match[0], self._held[match.end() :]
            released, self._held = self._held[: match.start()], ""
            return released
        cut = self._scan.held_from(self._held, 0, "")
        released, self._held = self._held[:cut], self._held[cut:]
        return released

    def finish(self) -> str:
        """Return the text held back at the end of the stream."""
        released, self._held = self._held, ""
        return released


@dataclass(frozen=True, slots=True)
class ReplyConstraint:
    """Constrains a reply to a grammar: from its start, or from the start of a call in free text."""

    grammar: CallGrammar
    begins: Literal["at_once", "at_trigger"]


# After a sentence, speech synthesis starts, and llama.cpp's threads must share the cores with it
# (benchmarks/results/threads.md).
_SENTENCE_ENDS = frozenset(".!?…。！？")

# Free text, reasoning up to an end tag, or constrained by the grammar.
_Phase: TypeAlias = Literal["free", "reasoning", "constrained"]


class Generation:
    """Continues `prompt` on a sequence that holds a part of it. Read `pieces`, then `finish` and `generated`."""

    def __init__(
        self,
        prompt: Sequence[int],
        *,
        sequence: CachedSequence,
        cache: PrefixCache,
        context: LlamaContext,
        sampler: Sampler,
        constrainer: Constrainer,
        constraint: ReplyConstraint | None,
        stop: tuple[str, ...],
        reasoning: str | None,
        limit_tokens: int,
        cancel: CancelFlag,
        reply_prefix: Sequence[int] = (),
    ) -> None:
        """`reasoning` is the tag at the end of the prompt, if the model thinks first.

        `reply_prefix` are tokens of an earlier, interrupted reply: they count, and are not yielded again.
        Raises GrammarRejected.
        """
        self.finish: FinishReason = "length"
        self.stopped_at: str | None = None
        self._prompt_tokens = len(prompt)
        self._tokens = list(prompt)
        self._texts: list[str] = []
        self._sequence = sequence
        self._cache = cache
        self._context = context
        self._vocabulary = context.vocabulary
        self._sampler = sampler
        self._constrainer = constrainer
        self._reply_constraint = constraint
        self._stop = stop
        self._limit_tokens = limit_tokens
        self._cancel = cancel
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._reasoning_end = REASONING_TAGS[reasoning] if reasoning else ""
        self._scanner = MarkerScanner(())
        try:
            self._enter("reasoning" if reasoning else "constrained" if self._is_constrained_at_once else "free")
        except GrammarRejected:
            self.close()
            raise
        for token in reply_prefix:
            if self._constraint is not None:
                self._constraint.accept((token,))
            self._sampler.accept(token)
            self._read((token,))

    @property
    def generated(self) -> int:
        return len(self._texts)

    def pieces(self) -> Iterator[str]:
        """Yield the reply in pieces. Raises Aborted, KvCacheFull and ModelError."""
        self._context.share_cores(is_shared=False)
        while self.generated < self._limit_tokens:
            if self._cancel.is_set():
                self.finish = "cancelled"
                return
            tokens = self._next()
            if not tokens:
                self.finish = "stop"
                break
            if text := self._read(tokens):
                if not _SENTENCE_ENDS.isdisjoint(text):
                    self._context.share_cores(is_shared=True)
                yield text
            if self._scanner.found in self._stop:
                self.finish = "stop"
                self.stopped_at = self._scanner.found
                return
        if rest := self._utf8.decode(b"", final=True) + self._scanner.finish():
            yield rest

    def close(self) -> None:
        if self._constraint is not None:
            self._constraint.close()
        self._sampler.close()

    # --- tokens

    def _next(self) -> list[int]:
        """Return the next tokens: several if the grammar leaves no choice, none at the end."""
        room = self._limit_tokens - self.generated
        constraint = self._constraint
        if constraint is not None:
            if forced := constraint.forced()[:room]:
                return forced if constraint.accept(forced) else []
            if constraint.finished():
                return []
        elif self._phase == "reasoning" and room <= self._limit_tokens // 2:
            return self._end_of_reasoning()  # bounds reasoning, so that tokens remain for the answer
        token = self._pick(constraint)
        if token is not None and token not in self._vocabulary.end_tokens:
            return [token]
        owes_more = self._phase == "reasoning" and self._is_constrained_at_once
        return self._end_of_reasoning() if owes_more else []

    def _end_of_reasoning(self) -> list[int]:
        return self._vocabulary.tokenize(f"\n{self._reasoning_end}\n\n", special=True)

    def _pick(self, constraint: Constraint | None) -> int | None:
        # Everything since the last pick is evaluated as one batch, the prompt included.
        self._cache.extend(self._sequence, self._tokens[len(self._sequence.tokens) :])
        logits = self._context.logits()
        token = self._sampler.pick(logits)
        if constraint is not None and not constraint.allows(token):
            allowed = constraint.allowed()
            if not len(allowed):
                return None
            token = self._sampler.pick(logits, allowed)
        if constraint is not None:
            constraint.accept((token,))
        self._sampler.accept(token)
        return token

    # --- text

    def _read(self, tokens: Sequence[int]) -> str:
        """Append tokens to the reply; return the text that may be shown now."""
        released = ""
        for token in tokens:
            text = self._utf8.decode(self._vocabulary.piece(token))
            self._tokens.append(token)
            self._texts.append(text)
            released += text if self._phase == "constrained" else self._scanner.feed(text)
            if self._scanner.found and self._scanner.found not in self._stop:
                released += self._handle_marker(self._scanner.found, self._scanner.rest)
        return released

    def _handle_marker(self, found: str, rest: str) -> str:
        """Handle a tag or the start of a call in the text; return the text that may be shown."""
        if found in REASONING_TAGS:
            self._reasoning_end = REASONING_TAGS[found]
            self._enter("reasoning")
        elif self._phase == "reasoning":
            if self._is_constrained_at_once:
                if rest.strip() and not self._rewrite(found, rest):
                    self._enter("free")
                    return found + rest
                self._enter("constrained")
                return found + (rest if not rest.strip() else "")
            self._enter("free")
        else:
            return self._constrain_call(found, rest)
        return found + self._scanner.feed(rest)

    def _constrain_call(self, found: str, rest: str) -> str:
        first, before = self._locate(found + rest)
        self._enter("constrained")
        assert self._constraint is not None
        if not before and self._constraint.accept(self._tokens[first:]):
            return found + rest
        # The last token contains more than the grammar allows, or began before the call: rewrite it.
        self._constraint.close()
        self._enter("constrained")
        if self._rewrite(found, rest) and self._constraint.accept(self._vocabulary.tokenize(found, special=True)):
            return found
        self._enter("free")
        self._scanner = MarkerScanner(self._stop)
        return found + rest

    def _rewrite(self, found: str, rest: str) -> bool:
        """Make the reply end with `found`, without `rest`; return False if the KV cache cannot be cut back."""
        first, before = self._locate(found + rest)
        if first < len(self._sequence.tokens) and not self._context.can_cut:
            return False
        self._cache.cut(self._sequence, first)
        del self._tokens[first:]
        del self._texts[first - self._prompt_tokens :]
        tokens = self._vocabulary.tokenize(before + found, special=True)
        self._tokens += tokens
        self._texts += [self._vocabulary.text(token) for token in tokens]
        return True

    def _locate(self, end: str) -> tuple[int, str]:
        """Return the index of the token where the last `len(end)` characters begin, and its text before them."""
        length = 0
        for index in range(len(self._texts) - 1, -1, -1):
            length += len(self._texts[index])
            if length >= len(end):
                return self._prompt_tokens + index, self._texts[index][: length - len(end)]
        return self._prompt_tokens, ""

    # --- phases

    @property
    def _is_constrained_at_once(self) -> bool:
        return self._reply_constraint is not None and self._reply_constraint.begins == "at_once"

    def _enter(self, phase: _Phase) -> None:
        self._phase: _Phase = phase
        self._constraint: Constraint | None = None
        match phase:
            case "constrained":
                assert self._reply_constraint is not None
                self._constraint = self._constrainer.start(self._reply_constraint.grammar)
                self._scanner = MarkerScanner(())
            case "reasoning":
                self._scanner = MarkerScanner((*self._stop, self._reasoning_end))
            case "free":
                constraint = self._reply_constraint
                calls = (*constraint.grammar.triggers, *REASONING_TAGS) if constraint is not None else ()
                self._scanner = MarkerScanner((*self._stop, *calls))
