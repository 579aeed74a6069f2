"""Replies that say nothing, and replies that do not stop saying it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgevox.hooks import Again, Answer, Hook, ModelReply, Run
from edgevox.llm.hooks_slm.loops import without_loop
from edgevox.llm.hooks_slm.notes import kept
from edgevox.llm.hooks_slm.result_words import turn_sentence

_ASKED_FOR = re.compile(
    r"\b(?:sing|songs?|lyrics|chorus|poem|poems|poetry|rhymes?|limerick|verses?|chant|cheer|mantra|repeat|times"
    r"|twice|again and again|over and over|count)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Hinted:
    yet: bool = False


class EmptyReply(Hook):
    """Sees a reply without a word or a call: asks once more; after that the last result is the answer."""

    name = "slm.empty_reply"
    priority = -110

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        # What was meant as a call is tried again by the agent.
        if reply.calls or reply.problems or reply.finish_reason == "cancelled":
            return None
        if any(char.isalnum() for char in reply.text):
            return None
        hinted = kept(run, self, _Hinted)
        if not hinted.yet:
            hinted.yet = True
            return Again("Your reply was empty. Answer the user in one short sentence.")
        return Answer(turn_sentence(run))


class LoopingReply(Hook):
    """Sees a reply that says the same over and over: says it once. Songs, poems and whatever the person
    wants repeated stay as they are."""

    name = "slm.looping_reply"
    priority = -130

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        if reply.calls or reply.finish_reason == "cancelled" or _ASKED_FOR.search(run.text):
            return None
        shorter = without_loop(reply.text, is_cut=reply.finish_reason == "length")
        return None if shorter is None else Answer(shorter)
