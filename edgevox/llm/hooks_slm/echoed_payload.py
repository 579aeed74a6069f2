"""The model reads data aloud instead of saying what it means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgevox.hooks import Again, Answer, Hook, ModelReply, Run
from edgevox.llm.hooks_slm.notes import kept
from edgevox.llm.hooks_slm.payload import holds_machine_words, is_definition, payloads
from edgevox.llm.hooks_slm.result_words import as_sentence, content_words, turn_sentence, value_words

_ASKED_FOR = re.compile(
    r"\b(?:json|yaml|schema|payload|python|javascript|snippet|tool calls?|tags?|source code|some code)\b",
    re.IGNORECASE,
)
_FENCES = re.compile(r"`{3}\w*+")
_HINT = "That was data. Say what it means to the user, in one short sentence of plain words, without JSON."


@dataclass(slots=True)
class _Hinted:
    yet: bool = False


class EchoedPayload(Hook):
    """Sees a reply that holds JSON, a schema or a tool's error code: asks for a sentence, once; after that
    the data itself is put in plain words. A person who speaks of JSON gets it."""

    name = "slm.echoed_payload"
    priority = -120

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        if reply.calls or reply.finish_reason == "cancelled":
            return None
        if _ASKED_FOR.search(run.text) or payloads(run.text):
            return None
        if not payloads(reply.text) and not holds_machine_words(reply.text):
            return None
        hinted = kept(run, self, _Hinted)
        if not hinted.yet:
            hinted.yet = True
            return Again(_HINT)
        return Answer(_in_words(reply.text) or turn_sentence(run))


def _in_words(text: str) -> str:
    """The reply with its data in words; empty when there is nothing in it for a person."""
    if holds_machine_words(text):
        return ""
    said = ""
    end = 0
    for payload in payloads(text):
        if is_definition(payload.value):
            return ""
        readable = payload.value is not None
        words = value_words(payload.value) if readable else content_words(text[payload.start : payload.end])
        if not words:
            return ""
        said += text[end : payload.start] + words
        end = payload.end
    return as_sentence(_FENCES.sub(" ", said + text[end:]))
