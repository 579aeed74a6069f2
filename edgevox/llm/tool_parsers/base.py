"""The types of the tool-call parsers: results, detectors and bodies, the allow-list, reasoning markers.

A detector names the markers that begin its calls. When the chain meets one it asks the detector for a
`Body`, and feeds it until it has a verdict: MORE (it needs more text), DONE (the region ends at `pos`) or NO
(this was not a call after all, and the text is text).
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.notation import Wrapper

_NAMESPACES = ("functions.", "function.", "tools.", "default_api.")


class OfferedTools:
    """The tools of one request, in OpenAI's form. Made of None, it allows every name and knows no schema."""

    __slots__ = ("_schemas", "names", "unlimited")

    def __init__(self, tools: Iterable[Mapping[str, Any]] | None) -> None:
        self.unlimited = tools is None
        self._schemas: dict[str, Mapping[str, Any]] = {}
        for tool in tools or ():
            function = tool.get("function", tool)
            if type(function) is not dict and not isinstance(function, Mapping):
                continue
            name = function.get("name")
            if isinstance(name, str) and name:
                schema = function.get("parameters") or function.get("input_schema")
                self._schemas[name] = schema if isinstance(schema, dict | Mapping) else {}
        self.names = tuple(self._schemas)

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    def resolve(self, written: str) -> str | None:
        """The offered name that `written` stands for, or None."""
        if written in self._schemas:
            return written
        if self.unlimited:
            return written or None
        for namespace in _NAMESPACES:
            if written.startswith(namespace) and written[len(namespace) :] in self._schemas:
                return written[len(namespace) :]
        return None

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The JSON Schema of a tool's arguments; None when nothing is known of it."""
        return self._schemas.get(name)


@dataclass(frozen=True, slots=True)
class ReasoningStyle:
    """One way to mark reasoning. `calls_count`: marked calls inside it are calls (small Qwen3s do that)."""

    begins: tuple[str, ...]
    ends: tuple[str, ...]
    calls_count: bool = True


THINK = ReasoningStyle(("<think>",), ("</think>",))
THINKING = ReasoningStyle(("<thinking>",), ("</thinking>",))
MISTRAL = ReasoningStyle(("[THINK]",), ("[/THINK]",), calls_count=False)
GEMMA = ReasoningStyle(("<|channel>", "<|channel>thought", "<|channel>thought\n"), ("<channel|>",))
# Harmony's headers are read by its detector; these end the message that a header began.
HARMONY = ReasoningStyle((), ("<|end|>", "<|return|>", "<|call|>"))

STYLES = (THINK, THINKING, MISTRAL, GEMMA)
# Opened by the chat template: which style it is shows only at its end.
TEMPLATE_OPENED = ReasoningStyle((), tuple(end for style in STYLES for end in style.ends))


# How much white space and stray punctuation may stand between the parts of a call.
MAX_GAP = 1000


@dataclass(frozen=True, slots=True)
class ToolCallItem:
    """A call for an offered tool. `arguments` is JSON text; with an `error` it must not be dispatched."""

    id: str
    name: str
    arguments: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """A further piece of a call's JSON text. The pieces of one id make up the call's `arguments`."""

    id: str
    name: str
    arguments_delta: str


@dataclass(frozen=True, slots=True)
class RejectedCall:
    """Something written as a call that will not be one: not dispatched, and not spoken either."""

    name: str
    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class ParseDelta:
    """What one `feed` found. `retracts` says that all text before this delta was reasoning after all:
    only an end tag came, as when the chat template opens the block and nobody told the parser."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCallItem, ...] = ()
    deltas: tuple[ArgumentsDelta, ...] = ()
    rejected: tuple[RejectedCall, ...] = ()
    retracts: bool = False


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A whole reply: `text` is for speech, and `fallback` says that calls were recovered from content."""

    calls: tuple[ToolCallItem, ...]
    text: str
    reasoning: str
    rejected: tuple[RejectedCall, ...]
    fallback: bool


@dataclass(slots=True)
class RawCall:
    """A call as it stands in the text, before the allow-list and the schema are applied."""

    name: str
    arguments: Mapping[str, Any]
    raw: str
    id: str | None = None
    positional: Sequence[Any] = ()
    problem: str | None = None
    has_arguments: bool = True


class Verdict(enum.Enum):
    MORE = "more"
    DONE = "done"
    NO = "no"


@dataclass(slots=True)
class Opening:
    """Where a marker stands: what was spoken just before it, and what the body may rely on."""

    marker: str
    before: str
    offered: OfferedTools
    ends_inside_strings: bool = False

    @property
    def at_line_start(self) -> bool:
        return self.before.rstrip(" \t")[-1:] in ("", "\n")


State: TypeAlias = Callable[[bool], Verdict | None]


class Body(ABC):
    """Reads one region, from behind its marker to its end, in pieces of any size.

    `calls` fills as calls are complete. `committed` says that the region is a call's whatever follows, so
    its text is never spoken. After DONE, the text that follows is `text[pos:]`, and `enters` says whether it
    is reasoning, where the region settles that. After NO, no bare call begins in the next `spent` characters.
    """

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self.calls: list[RawCall] = []
        self.committed = False
        self.enters: Literal["text", "reasoning"] | None = None
        self.spent = 0
        self.text = ""
        self.pos = 0
        self._state: State = self._start

    def feed(self, text: str, pos: int, at_end: bool) -> Verdict:
        """Read on. What cannot be judged yet (a marker cut in two) is kept for the next piece."""
        if self.pos < len(self.text):
            text, pos = self.text[self.pos :] + text[pos:], 0
        self.text, self.pos = text, pos
        while True:
            verdict = self._state(at_end)
            if verdict is None:
                continue
            if verdict is Verdict.MORE and at_end:
                verdict = Verdict.DONE if self.committed else Verdict.NO
                self.pos = len(text)
            return verdict

    @abstractmethod
    def _start(self, at_end: bool) -> Verdict | None:
        """The first state: is this a call?"""

    def progress(self) -> RawCall | None:
        """The call that is being written, with those of its arguments that are complete."""
        return None

    def _skip_space(self) -> bool:
        """Move over white space; whether there is a character left to look at."""
        text, pos, end = self.text, self.pos, len(self.text)
        while pos < end and text[pos] in " \t\r\n":
            pos += 1
        self.pos = pos
        return pos < end

    def _look_past_space(self) -> bool:
        """The same for a state that goes back to where it was: it looks no further than `MAX_GAP`, since it
        will look again with the next piece."""
        text, pos, end = self.text, self.pos, min(len(self.text), self.pos + MAX_GAP)
        while pos < end and text[pos] in " \t\r\n":
            pos += 1
        self.pos = pos
        return pos < len(text)

    def _looking_at(self, token: str) -> bool | None:
        """Whether `token` comes next; None when the text ends inside it."""
        if self.text.startswith(token, self.pos):
            return True
        rest = self.text[self.pos : self.pos + len(token)]
        return None if len(rest) < len(token) and token.startswith(rest) else False

    def _looking_at_any(self, tokens: tuple[str, ...]) -> bool | None:
        """Whether one of `tokens` comes next; None when the text ends inside one."""
        if self.text.startswith(tokens, self.pos):
            return True
        return None if any(self._looking_at(token) is None for token in tokens) else False


class BaseFormatDetector(ABC):
    """One wire format. Stateless: a body holds what is read.

    `markers` begin a call wherever they stand. `bare_markers` begin one only where tools are offered, outside
    reasoning and code. `trailers` are swallowed behind a call. `uses_fences` says that models of this family
    write their calls in code blocks. `wrapper` says how `render` writes calls, for the grammar; without one
    the format cannot be forced.
    """

    markers: ClassVar[tuple[str, ...]] = ()
    bare_markers: ClassVar[tuple[str, ...]] = ()
    trailers: ClassVar[tuple[str, ...]] = ()
    uses_fences: ClassVar[bool] = False
    wrapper: ClassVar[Wrapper | None] = None

    @abstractmethod
    def open(self, opening: Opening) -> Body:
        """The body behind `opening.marker`."""

    @abstractmethod
    def render(self, calls: Sequence[ToolCall]) -> str:
        """Write `calls` as a model of this family is trained to write them."""

    def name_markers(self, names: Sequence[str]) -> tuple[str, ...]:
        """Markers made of the offered names, for formats that write a plain `name(…)`."""
        return ()


class FirstOf(Body):
    """Several shapes that may stand behind one marker: the first that recognises its own reads on.

    `bodies` is asked for the next one only as long as none before it has recognised the text.
    """

    def __init__(self, opening: Opening, bodies: Iterable[Body]) -> None:
        super().__init__(opening)
        self._unopened: Iterable[Body] = bodies
        self._bodies: list[Body] = []

    def feed(self, text: str, pos: int, at_end: bool) -> Verdict:
        candidates, self._unopened = (self._bodies or self._unopened), ()
        self._bodies = []
        for body in candidates:
            verdict = body.feed(text, pos, at_end)
            if verdict is Verdict.NO:
                self.spent = max(self.spent, body.spent)
            elif verdict is Verdict.DONE or body.committed:
                self._bodies = [body]
                self.calls, body.calls = body.calls, []
                self.text, self.pos = body.text, body.pos
                self.committed, self.enters = True, body.enters
                return verdict
            else:
                self._bodies.append(body)
        return Verdict.MORE if self._bodies else Verdict.NO

    def progress(self) -> RawCall | None:
        return self._bodies[0].progress()

    def _start(self, at_end: bool) -> Verdict | None:
        raise NotImplementedError
