"""Tokenises rendered prompts for one model's vocabulary, and finds the prefix that stays the same."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass, replace

from edgevox.core.types import ChatRequest, Message
from edgevox.llm.context import Vocabulary
from edgevox.llm.prefix_cache import shared_tokens
from edgevox.llm.prompt.render import render_prompt, stable_prefix
from edgevox.llm.prompt.templates import ChatTemplate, opened_reasoning

_PREFIXES_KEPT = 8


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """`fixed_tokens` at the beginning are the tools and the default system prompt, the same for every question.

    `reasoning` is the tag at the end of the prompt, "" if the model does not think first.
    """

    tokens: list[int]
    fixed_tokens: int
    reasoning: str


class PromptWriter:
    """Writes the prompts of one model with one template."""

    def __init__(self, template: ChatTemplate, vocabulary: Vocabulary) -> None:
        self._template = template
        self._vocabulary = vocabulary
        self._control_tokens = tuple(vocabulary.control_tokens.values())
        self._fixed: deque[tuple[ChatRequest, list[int]]] = deque(maxlen=_PREFIXES_KEPT)

    def fork(self) -> PromptWriter:
        """Return another one for the same model with its own cache."""
        other = copy.copy(self)
        other._fixed = self._fixed.copy()
        return other

    @property
    def supports_thinking(self) -> bool:
        """Whether the template can enable reasoning."""
        return self._template.capabilities.takes_thinking

    def write(self, messages: tuple[Message, ...], request: ChatRequest) -> WrittenPrompt:
        """Write the prompt for `messages`, with the other options of the request. Raises ModelError."""
        prompt = render_prompt(self._template, replace(request, messages=messages), self._control_tokens)
        tokenize = self._vocabulary.tokenize
        tokens = self._with_bos(
            [token for piece in prompt.pieces for token in tokenize(piece.text, special=piece.special)]
        )
        fixed_tokens = shared_tokens(self._fixed_part(messages, request), tokens)
        return WrittenPrompt(tokens, fixed_tokens, opened_reasoning(prompt.text))

    def write_prefix(self, request: ChatRequest) -> WrittenPrompt:
        """Write the common beginning of all next prompts of this conversation. Raises ModelError."""
        one, other = (self.write((*request.messages, Message("user", question)), request) for question in ("a", "b"))
        shared = shared_tokens(one.tokens, other.tokens)
        return WrittenPrompt(one.tokens[:shared], min(one.fixed_tokens, shared), "")

    def _fixed_part(self, messages: tuple[Message, ...], request: ChatRequest) -> list[int]:
        """Return the tokens of the fixed part, up to where the next text may merge with its last token."""
        system = tuple(message for message in messages[:1] if message.role == "system")
        if request.default_system is not None:
            system = (Message("system", request.default_system),)
        fixed = ChatRequest(
            system,
            tools=request.tools if request.default_tools is None else request.default_tools,
            thinking=request.thinking,
            wire_format=request.wire_format,
            tools_as=request.tools_as,
        )
        for known, tokens in self._fixed:
            if known == fixed:
                return tokens
        text = stable_prefix(self._template, fixed)
        tokens = self._with_bos(self._vocabulary.tokenize(text, special=True))
        self._fixed.append((fixed, tokens))
        return tokens

    def _with_bos(self, tokens: list[int]) -> list[int]:
        vocabulary = self._vocabulary
        if vocabulary.adds_bos and tokens[:1] != [vocabulary.bos]:
            return [vocabulary.bos, *tokens]
        return tokens
