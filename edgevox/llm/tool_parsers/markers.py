"""The markers of a parser chain, compiled once per set of parsers and tool names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from edgevox.core.errors import ConfigError
from edgevox.llm.tool_parsers.base import HARMONY, STYLES, TEMPLATE_OPENED, BaseFormatDetector, ReasoningStyle
from edgevox.llm.tool_parsers.detectors import DETECTORS
from edgevox.llm.tool_parsers.detectors.harmony import HarmonyDetector

FENCE = "```"
# End tokens of chat formats, in case the engine lets them through.
STOP_TOKENS = frozenset(
    (
        *HARMONY.ends,
        "<|im_end|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<end_of_turn>",
        "<turn|>",
        "<|observation|>",
    )
)
# These are also markup, so they are dropped only after a call.
_STOP_TAGS = ("</s>", "<eos>")


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


@dataclass(slots=True)
class ChainMarkers:
    """The scans of one chain, and the meaning of each marker."""

    text: Scan
    fence: Scan
    reasoning: dict[ReasoningStyle, Scan]
    fence_in_reasoning: dict[ReasoningStyle, Scan]
    openers: dict[str, tuple[tuple[str, BaseFormatDetector], ...]]
    bare: dict[str, tuple[tuple[str, BaseFormatDetector], ...]]
    begins: dict[str, ReasoningStyle] = field(default_factory=dict)
    ends: frozenset[str] = frozenset()
    trailers: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    reads_fences: bool = False


def compile_markers(chain: Sequence[tuple[str, BaseFormatDetector]], names: Sequence[str] | None) -> ChainMarkers:
    """Compile the markers of `chain`; with `names`, also those of bare calls."""
    openers = _by_marker((marker, name, detector) for name, detector in chain for marker in detector.markers)
    bare = _by_marker(
        (marker, name, detector)
        for name, detector in chain
        if names
        for marker in (*detector.bare_markers, *detector.name_markers(names))
    )
    named = [marker for _, detector in chain if names for marker in detector.name_markers(names)]
    begins = {begin: style for style in STYLES for begin in style.begins}
    ends = frozenset(TEMPLATE_OPENED.ends)
    trailers = frozenset((*STOP_TOKENS, *_STOP_TAGS, *(t for _, detector in chain for t in detector.trailers)))
    literal_bare = [marker for marker in bare if marker not in named]
    reads_fences = bool(names) and any(detector.uses_fences for _, detector in chain)
    styles = (*STYLES, TEMPLATE_OPENED, HARMONY)
    return ChainMarkers(
        text=Scan((*openers, *literal_bare, *begins, *ends, *trailers, FENCE), named),
        fence=Scan((FENCE,)),
        reasoning={
            style: Scan((*openers, *style.ends, *trailers, FENCE) if style.calls_count else style.ends)
            for style in styles
        },
        fence_in_reasoning={style: Scan((FENCE, *style.ends)) for style in styles},
        openers=openers,
        bare=bare,
        begins=begins,
        ends=ends,
        trailers=trailers,
        names=frozenset(named),
        reads_fences=reads_fences,
    )


def _by_marker(
    found: Iterable[tuple[str, str, BaseFormatDetector]],
) -> dict[str, tuple[tuple[str, BaseFormatDetector], ...]]:
    table: dict[str, tuple[tuple[str, BaseFormatDetector], ...]] = {}
    for marker, name, detector in found:
        table[marker] = (*table.get(marker, ()), (name, detector))
    return table


@lru_cache(maxsize=64)
def markers_for(parsers: tuple[str, ...], names: tuple[str, ...]) -> ChainMarkers:
    """Return the compiled chain, cached per set of parsers and tool names."""
    unknown = [name for name in parsers if name not in DETECTORS]
    if unknown:
        raise ConfigError(
            f"unknown tool-call parser {', '.join(unknown)}", hint=f"the parsers are {', '.join(sorted(DETECTORS))}"
        )
    chain = [(name, DETECTORS[name]()) for name in (parsers or DETECTORS)]
    if not any(isinstance(detector, HarmonyDetector) for _, detector in chain):
        chain.append(("harmony", HarmonyDetector()))
    return compile_markers(chain, names if parsers else None)
