"""The types of the tool-call parsers: results, detectors and bodies, the allow-list, reasoning markers.

A detector names the markers that begin its calls. At a marker, the chain opens the detector's `Body` and feeds it until
it returns a verdict: MORE (it needs more text), DONE (the region ends at `pos`) or NO (not a call; the text stays
text).
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
    """The tools of one request, in OpenAI's form. Built from None, it allows every name and has no schemas."""

    __slots__ = ("_schemas", "names", "unlimited")

    def __init__(self, tools: Iterable[Mapping[str, Any]] | None) -> None:
        self.unlimited = tools is None
        self._schemas: dict[str, Mapping[str, Any]] = {}
        for tool in tools or ():
            function = tool.get("function", tool)
            name = function.get("name") if isinstance(function, dict | Mapping) else None
            if isinstance(name, str) and name:
                schema = function.get("parameters") or function.get("input_schema")
                self._schemas[name] = schema if isinstance(schema, dict | Mapping) else {}
        self.names = tuple(self._schemas)

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    def resolve(self, written: str) -> str | None:
        """Return the offered name that `written` means, or None."""
        if written in self._schemas:
            return written
        if self.unlimited:
            return written or None
        return next((name for name in map(written.removeprefix, _NAMESPACES) if name in self._schemas), None)

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the JSON Schema of a tool's arguments, or None if unknown."""
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
COMMAND = ReasoningStyle(("<|START_THINKING|>",), ("<|END_THINKING|>",))
GEMMA = ReasoningStyle(("<|channel>", "<|channel>thought", "<|channel>thought\n"), ("<channel|>",))
# Harmony's headers are read by its detector; these end the message that a header began.
HARMONY = ReasoningStyle((), ("<|end|>", "<|return|>", "<|call|>"))

STYLES = (THINK, THINKING, MISTRAL, COMMAND, GEMMA)
# Opened by the chat template: its style is known only at its end.
TEMPLATE_OPENED = ReasoningStyle((), tuple(end for style in STYLES for end in style.ends))


# The limit for white space and stray punctuation between the parts of a call.
MAX_GAP = 1000


@dataclass(frozen=True, slots=True)
class ToolCallItem:
    """A call of an offered tool. `arguments` is JSON text; with an `error` it must not be dispatched."""

    id: str
    name: str
    arguments: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """The next piece of a call's JSON text. The pieces of one id add up to the call's `arguments`."""

    id: str
    name: str
    arguments_delta: str


@dataclass(frozen=True, slots=True)
class RejectedCall:
    """Text written as a call that is not a valid one: neither dispatched nor spoken."""

    name: str
    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class ParseDelta:
    """The result of one `feed`.

    `retracts` marks all earlier text as reasoning: an end tag came without a start tag, as happens if the chat template
    opens the block and the parser does not know.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCallItem, ...] = ()
    deltas: tuple[ArgumentsDelta, ...] = ()
    rejected: tuple[RejectedCall, ...] = ()
    retracts: bool = False


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A complete reply: `text` is for speech; `fallback` is true if calls were found in it."""

    calls: tuple[ToolCallItem, ...]
    text: str
    reasoning: str
    rejected: tuple[RejectedCall, ...]
    fallback: bool


@dataclass(slots=True)
class RawCall:
    """A call as written, before the allow-list and the schema are applied."""

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
    """The position of a marker: the text spoken before it, and the context for the body."""

    marker: str
    before: str
    offered: OfferedTools
    ends_inside_strings: bool = False

    @property
    def at_line_start(self) -> bool:
        return self.before.rstrip(" \t")[-1:] in ("", "\n")


State: TypeAlias = Callable[[bool], Verdict | None]


class Body(ABC):
    """Reads one region, from its marker to its end, in pieces of any size.

    `calls` receives complete calls. `committed` means that the region belongs to a call in any case, so its text is
    never spoken. After DONE, the remaining text is `text[pos:]`, and `enters` says whether it is reasoning, if the
    region decides that. After NO, no bare call begins in the next `spent` characters.
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
        """Read on. Text that cannot be decided yet (a split marker) is kept for the next piece."""
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
        """The initial state: decides whether this is a call."""

    def progress(self) -> RawCall | None:
        """Return the call being written, with its complete arguments."""
        return None

    def _skip_space(self, limit: int | None = None) -> bool:
        """Skip white space; return whether a character is left. A state that rewinds passes a limit."""
        text, pos = self.text, self.pos
        end = len(text) if limit is None else min(len(text), pos + limit)
        while pos < end and text[pos] in " \t\r\n":
            pos += 1
        self.pos = pos
        return pos < len(text)

    def _looking_at(self, token: str) -> bool | None:
        """Whether `token` comes next; None if the text ends inside it."""
        if self.text.startswith(token, self.pos):
            return True
        rest = self.text[self.pos : self.pos + len(token)]
        return None if len(rest) < len(token) and token.startswith(rest) else False

    def _skip(self, token: str) -> bool | None:
        """Skip `token` if it comes next; None if the text ends inside it."""
        looking = self._looking_at(token)
        if looking:
            self.pos += len(token)
        return looking

    def _looking_at_any(self, tokens: tuple[str, ...]) -> bool | None:
        """Whether one of `tokens` comes next; None if the text ends inside one."""
        if self.text.startswith(tokens, self.pos):
            return True
        return None if any(self._looking_at(token) is None for token in tokens) else False

    def _rewind(self, mark: int, verdict: Verdict = Verdict.MORE) -> Verdict:
        """Return to `mark`: the text from there is read again, by this state or by the chain."""
        self.pos = mark
        return verdict

    def _give_up(self, mark: int) -> Verdict:
        """End the region at `mark`, where no further call begins."""
        return self._rewind(mark, Verdict.DONE if self.committed else Verdict.NO)


Form: TypeAlias = Callable[[Opening], Body]
Forms: TypeAlias = Mapping[str, Sequence[Form]]


class BaseFormatDetector:
    """One wire format. Stateless: a body holds the parse state.

    `forms` maps each marker to the bodies that may follow it: the first that recognises the text reads on. A marker
    begins a call anywhere, one of `bare_markers` only if tools are offered, outside reasoning and code. `trailers` are
    dropped after a call. `uses_fences`: models of this family write calls in code blocks. `wrapper` describes how calls
    are written, for `render` and the grammar; without one the format cannot be constrained.
    """

    forms: ClassVar[Forms] = {}
    markers: ClassVar[tuple[str, ...]] = ()
    bare_markers: ClassVar[tuple[str, ...]] = ()
    trailers: ClassVar[tuple[str, ...]] = ()
    uses_fences: ClassVar[bool] = False
    wrapper: ClassVar[Wrapper | None] = None

    def __init_subclass__(cls) -> None:
        if "forms" in vars(cls):
            cls.markers = tuple(marker for marker in cls.forms if marker not in cls.bare_markers)

    def open(self, opening: Opening) -> Body:
        """Return the body for `opening.marker`."""
        return open_first(opening, self.forms[opening.marker])

    def render(self, calls: Sequence[ToolCall]) -> str:
        """Write `calls` as models of this family are trained to write them."""
        if self.wrapper is None:
            raise NotImplementedError(f"{type(self).__name__} has neither a wrapper nor its own render")
        return self.wrapper.write(calls)

    def name_markers(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return markers made of the offered names, for formats that write a plain `name(…)`."""
        return ()


def open_first(opening: Opening, forms: Sequence[Form]) -> Body:
    """Return a body that reads the first of `forms` that recognises the text."""
    return forms[0](opening) if len(forms) == 1 else _FirstOf(opening, forms)


class _FirstOf(Body):
    def __init__(self, opening: Opening, forms: Sequence[Form]) -> None:
        super().__init__(opening)
        # A form is opened only if no earlier one has recognised the text.
        self._bodies: Iterable[Body] = (form(opening) for form in forms)

    def feed(self, text: str, pos: int, at_end: bool) -> Verdict:
        undecided: list[Body] = []
        for body in self._bodies:
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
                undecided.append(body)
        self._bodies = undecided
        return Verdict.MORE if undecided else Verdict.NO

    def progress(self) -> RawCall | None:
        return next(iter(self._bodies)).progress()

    def _start(self, at_end: bool) -> Verdict | None:
        raise NotImplementedError
