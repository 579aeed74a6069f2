"""The markers of a parser chain, compiled once per set of parsers and tool names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from edgevox.core.errors import ConfigError
from edgevox.llm.tool_parsers.base import HARMONY, STYLES, TEMPLATE_OPENED, BaseFormatDetector, ReasoningStyle
from edgevox.llm.tool_parsers.detectors import DETECTORS
from edgevox.llm.tool_parsers.detectors.harmony import HarmonyDetector

FENCE = "```"
# End tokens of chat formats, in case the engine lets them through.
_CHAT_ENDS = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<turn|>", "<|observation|>")
_CHAT_MARKS = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>", "<|END_OF_TURN_TOKEN|>")
STOP_TOKENS = frozenset((*HARMONY.ends, *_CHAT_ENDS, *_CHAT_MARKS, "<|endoftext|>", "<|end_of_text|>"))
# These are also markup, so they are dropped only after a call.
_STOP_TAGS = ("</s>", "<eos>")
REASONING_BEGINS = {begin: style for style in STYLES for begin in style.begins}


class Scan:
    """Finds the next marker, and a partial marker at the end of a text."""

    def __init__(self, markers: Sequence[str], names: Sequence[str] = ()) -> None:
        known = sorted({*markers, *names}, key=len, reverse=True)
        self.search = re.compile("|".join(map(re.escape, known))).search
        self._prefixes = frozenset(marker[:end] for marker in markers for end in range(1, len(marker)))
        self._name_prefixes = frozenset(name[:end] for name in names for end in range(1, len(name)))
        self._longest = max(map(len, known), default=1)

    def could_grow(self, text: str, at: int) -> bool:
        """Whether the marker found at `at` may turn out to be a longer one."""
        return len(text) - at < self._longest and text[at:] in self._prefixes

    def held_from(self, text: str, pos: int, before: str) -> int:
        """Return where a possible partial marker starts at the end of `text`, which follows `before`."""
        size = len(text)
        for at in range(max(pos, size - self._longest + 1), size):
            tail = text[at:]
            if tail in self._prefixes:
                return at
            if tail in self._name_prefixes and not continues_word(text[at - 1] if at > pos else before):
                return at
        return size


def continues_word(before: str) -> bool:
    """Whether a name after `before` continues a word or a quotation."""
    return before[-1:].isalnum() or before[-1:] in ("_", ".", "`", '"', "'")


Readers: TypeAlias = dict[str, BaseFormatDetector]


@dataclass(slots=True)
class ChainMarkers:
    """The scans of one chain, and the meaning of each marker."""

    text: Scan
    fence: Scan
    reasoning: dict[ReasoningStyle, Scan]
    fence_in_reasoning: dict[ReasoningStyle, Scan]
    openers: dict[str, Readers]
    bare: dict[str, Readers]
    trailers: frozenset[str]
    names: frozenset[str]
    reads_fences: bool


@lru_cache(maxsize=64)
def markers_for(parsers: tuple[str, ...], names: tuple[str, ...]) -> ChainMarkers:
    """Compile the markers of a chain; with `parsers` and tool `names`, also those of bare calls."""
    unknown = [name for name in parsers if name not in DETECTORS]
    if unknown:
        raise ConfigError(
            f"unknown tool-call parser {', '.join(unknown)}", hint=f"the parsers are {', '.join(sorted(DETECTORS))}"
        )
    chain = {name: DETECTORS[name]() for name in (parsers or DETECTORS)}
    if not any(isinstance(detector, HarmonyDetector) for detector in chain.values()):
        chain["harmony"] = HarmonyDetector()
    reads_bare = bool(parsers and names)
    openers: dict[str, Readers] = {}
    bare: dict[str, Readers] = {}
    named: list[str] = []
    for name, detector in chain.items():
        for marker in detector.markers:
            openers.setdefault(marker, {})[name] = detector
        if reads_bare:
            named += detector.name_markers(names)
            for marker in (*detector.bare_markers, *detector.name_markers(names)):
                bare.setdefault(marker, {})[name] = detector
    trailers = frozenset((*STOP_TOKENS, *_STOP_TAGS, *(t for detector in chain.values() for t in detector.trailers)))
    literal_bare = [marker for marker in bare if marker not in named]
    styles = (*STYLES, TEMPLATE_OPENED, HARMONY)
    return ChainMarkers(
        text=Scan((*openers, *literal_bare, *REASONING_BEGINS, *TEMPLATE_OPENED.ends, *trailers, FENCE), named),
        fence=Scan((FENCE,)),
        reasoning={
            style: Scan((*openers, *style.ends, *trailers, FENCE) if style.calls_count else style.ends)
            for style in styles
        },
        fence_in_reasoning={style: Scan((FENCE, *style.ends)) for style in styles},
        openers=openers,
        bare=bare,
        trailers=trailers,
        names=frozenset(named),
        reads_fences=reads_bare and any(detector.uses_fences for detector in chain.values()),
    )
