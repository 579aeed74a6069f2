"""The parser chain: one pass over a reply that splits it into text, reasoning, calls and what was refused.

Batch is a stream of one piece, so there is no second implementation that could disagree with streaming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from edgevox.errors import ConfigError
from edgevox.llm.tool_parsers.base import (
    ArgumentsDelta,
    BaseFormatDetector,
    Body,
    FirstOf,
    Opening,
    ParseDelta,
    ParsedReply,
    RawCall,
    RejectedCall,
    ToolCallItem,
    Verdict,
)
from edgevox.llm.tool_parsers.coerce import dumps, fit_arguments
from edgevox.llm.tool_parsers.detectors import DETECTORS
from edgevox.llm.tool_parsers.detectors.harmony import HarmonyDetector
from edgevox.llm.tool_parsers.json_calls import FencedCalls
from edgevox.llm.tool_parsers.offered import OfferedTools
from edgevox.llm.tool_parsers.plan import FENCE, STOP_TOKENS, Plan, Scan, continues_word, make_plan
from edgevox.llm.tool_parsers.preview import MAX_PREVIEWED
from edgevox.llm.tool_parsers.reasoning import HARMONY, MISTRAL, TEMPLATE_OPENED, ReasoningStyle

_BEFORE_CHARS = 80
# A reply that begins calls and never writes one is noise: after so much of it nothing is opened any more.
_PATIENCE = 1024
_PARSED_REFUSAL = 8


class StreamingToolParser:
    """Reads one reply in pieces of any size.

    `parsers` are names of DETECTORS, first wins; none means every format that has markers. `tools` are the
    offered tools in OpenAI's form: None allows every name, but then plain and bare calls are not looked for.
    `opened_reasoning` says that the chat template has opened the reasoning already. Raises ConfigError for a
    parser that is not registered.
    """

    def __init__(
        self,
        parsers: Sequence[str] = (),
        tools: Iterable[Mapping[str, Any]] | None = None,
        *,
        opened_reasoning: bool = False,
        explain: Callable[[str], None] | None = None,
    ) -> None:
        self._offered = OfferedTools(tools)
        self._plan = plan_for(tuple(parsers), self._offered.names)
        self._explain = explain
        self._style: ReasoningStyle | None = None
        if opened_reasoning:
            self._style = MISTRAL if parsers and parsers[0] == "mistral" else TEMPLATE_OPENED
        self._in_fence = False
        self._body: Body | None = None
        self._carry = ""
        self._held: list[str] = []
        self._marker = ""
        self._no_bare = 0
        self._patience = _PATIENCE
        self._ends_inside_strings = False
        self._saw_reasoning = opened_reasoning
        self._gap = self._drops_space = opened_reasoning
        self._before = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCallItem] = []
        self._rejected: list[RejectedCall] = []
        self._deltas: list[ArgumentsDelta] = []
        self._shown: str | None = None
        self._shown_keys = 0
        self._given = (0, 0, 0, 0)
        self._retracts = False
        self._finished = False

    def feed(self, piece: str) -> ParseDelta:
        """Read a piece, and give back what is certain now."""
        if self._finished:
            raise ValueError("the reply is finished; a new one needs a new parser")
        self._run(piece, at_end=False)
        return self._delta()

    def finish(self, piece: str = "") -> ParseDelta:
        """The reply is over, with a last piece or without: settle what was held back.

        Calling it again gives an empty delta.
        """
        if not self._finished:
            self._finished = True
            self._run(piece, at_end=True)
        return self._delta()

    def reply(self) -> ParsedReply:
        """Everything so far, the same for every way of cutting the reply into pieces."""
        return ParsedReply(
            calls=tuple(self._calls),
            text="".join(self._text),
            reasoning="".join(self._reasoning).strip(),
            rejected=tuple(self._rejected),
        )

    # --- the pass over the text

    def _run(self, text: str, *, at_end: bool) -> None:
        if self._body is None and self._carry:
            text, self._carry = self._carry + text, ""
        pos = 0
        while True:
            if self._body is not None:
                start = pos
                verdict = self._body.feed(text, pos, at_end)
                self._collect(self._body)
                if verdict is Verdict.MORE:
                    if self._body.committed:
                        self._preview(self._body)
                    else:
                        self._held.append(text[start:])
                    return
                if verdict is Verdict.DONE:
                    text, pos = self._body.text, self._body.pos
                    self._close_region(self._body)
                else:
                    pos = start
                    if self._held:
                        text, pos = "".join((*self._held, text[start:])), 0
                    self._refuse_region(self._body)
                self._body = None
                self._held = []
                continue
            scan = self._scan()
            found = scan.search(text, pos)
            if found is None or (not at_end and scan.could_grow(text, found.start())):
                held = (
                    len(text)
                    if at_end
                    else scan.held_from(text, pos, self._before)
                    if found is None
                    else found.start()
                )
                self._say(text[pos:held])
                self._carry = text[held:]
                return
            at, marker = found.start(), found.group()
            if at > pos:
                self._say(text[pos:at])
            pos = found.end()
            self._meet(marker)

    def _scan(self) -> Scan:
        plan = self._plan
        if self._style is None:
            return plan.fence if self._in_fence else plan.text
        return (plan.fence_in_reasoning if self._in_fence else plan.reasoning)[self._style]

    def _meet(self, marker: str) -> None:
        """Do what a marker asks for."""
        plan, style = self._plan, self._style
        if style is not None and marker in style.ends:
            if self._explain is not None:
                self._explain(f"{marker!r} ends the reasoning")
            self._style, self._in_fence = None, False
            self._start_gap()
        elif marker == FENCE:
            self._meet_fence()
        elif self._before.endswith("`"):
            self._say(marker)
        elif marker in plan.openers and self._patience > 0:
            self._open(marker, plan.openers[marker])
        elif marker in STOP_TOKENS or (marker in plan.trailers and self._gap):
            if self._explain is not None:
                self._explain(f"{marker!r} is dropped")
        elif style is not None:
            self._say(marker)
        elif marker in plan.begins:
            if self._explain is not None:
                self._explain(f"{marker!r} begins reasoning")
            self._style, self._saw_reasoning = plan.begins[marker], True
        elif marker in plan.ends:
            self._meet_lone_end(marker)
        elif marker in plan.names and continues_word(self._before):
            self._say(marker)
        elif marker in plan.bare and not self._no_bare and self._patience > 0:
            self._open(marker, plan.bare[marker])
        else:
            self._say(marker)

    def _meet_fence(self) -> None:
        reads = self._plan.fence_reader is not None and not self._no_bare and self._patience > 0
        if reads and not self._in_fence and self._style is None:
            if self._explain is not None:
                self._explain("a code block: calls, if it holds nothing else")
            self._marker = FENCE
            self._body = FencedCalls(self._opening(FENCE))
            return
        self._in_fence = not self._in_fence
        self._say(FENCE)

    def _meet_lone_end(self, marker: str) -> None:
        if not self._saw_reasoning:
            if self._explain is not None:
                self._explain(f"{marker!r} and no beginning: the text before it was reasoning")
            self._retracts = self._given[0] > 0
            self._reasoning += self._text
            self._text = []
            self._given = (0, self._given[1], *self._given[2:])
        self._saw_reasoning = True
        self._start_gap()

    def _opening(self, marker: str) -> Opening:
        return Opening(marker, self._before, self._offered, ends_inside_strings=self._ends_inside_strings)

    def _open(self, marker: str, readers: tuple[tuple[str, BaseFormatDetector], ...]) -> None:
        if self._explain is not None:
            self._explain(f"{marker!r} may begin a call: {', '.join(name for name, _ in readers)}")
        self._marker = marker
        opening = self._opening(marker)
        if len(readers) == 1:
            self._body = readers[0][1].open(opening)
        else:
            self._body = FirstOf(opening, (detector.open(opening) for _, detector in readers))

    def _close_region(self, body: Body) -> None:
        self._ends_inside_strings |= body.opening.ends_inside_strings
        if body.enters == "reasoning":
            self._style, self._saw_reasoning = HARMONY, True
        elif body.enters == "text":
            self._style = None
        self._start_gap()

    def _refuse_region(self, body: Body) -> None:
        if self._explain is not None:
            self._explain(f"behind {self._marker!r} there is no call")
        if self._marker == FENCE:
            self._in_fence = True
        self._ends_inside_strings |= body.opening.ends_inside_strings
        self._no_bare = max(self._no_bare, body.spent)
        self._patience -= 1 if self._marker in self._plan.bare and not body.spent else _PARSED_REFUSAL
        self._say(self._marker)

    def _start_gap(self) -> None:
        self._gap, self._before = True, ""
        self._drops_space = not self._text or self._text[-1][-1:].isspace()

    # --- what was found

    def _say(self, piece: str) -> None:
        if not piece:
            return
        self._no_bare = max(0, self._no_bare - len(piece))
        self._before = (self._before + piece[-_BEFORE_CHARS:])[-_BEFORE_CHARS:]
        if self._style is not None:
            self._reasoning.append(piece)
            if not piece.isspace():
                self._gap = False
            return
        if self._gap:
            if self._drops_space:
                piece = piece.lstrip()
            if not piece:
                return
            if not piece.isspace():
                self._gap = False
        self._text.append(piece)

    def _collect(self, body: Body) -> None:
        for raw in body.calls:
            self._accept(raw)
        body.calls = []

    def _accept(self, raw: RawCall) -> None:
        name = self._offered.resolve(raw.name)
        if name is None:
            reason = (
                f"unknown_tool: {raw.name} is not offered"
                if raw.name
                else f"malformed: {raw.problem or 'no name'}"
            )
            if self._explain is not None:
                self._explain(f"rejected, {reason}")
            self._rejected.append(RejectedCall(raw.name, raw.raw, reason))
            self._shown, self._shown_keys = None, 0
            self._patience -= _PARSED_REFUSAL
            return
        fitted, problems = fit_arguments(raw.arguments, raw.positional, self._offered.schema(name))
        if raw.problem is not None:
            problems = [raw.problem]
        try:
            arguments = dumps(fitted)
        except ValueError:
            arguments, problems = "{}", ["a number is out of range"]
        error = f"invalid_arguments: {'; '.join(problems)}" if problems else None
        call = ToolCallItem(raw.id or f"{name}_{len(self._calls)}", name, arguments, error)
        if self._explain is not None:
            self._explain(f"call {call.name} {call.arguments}" + (f" ({error})" if error else ""))
        self._calls.append(call)
        shown, self._shown, self._shown_keys = self._shown, None, 0
        if shown is None:
            self._deltas.append(ArgumentsDelta(call.id, call.name, call.arguments))
        elif call.arguments.startswith(shown) and call.error is None:
            self._deltas.append(ArgumentsDelta(call.id, call.name, call.arguments[len(shown) :]))

    def _preview(self, body: Body) -> None:
        """Show the arguments that are complete, in the words of the finished call."""
        call = body.progress()
        name = None if call is None else self._offered.resolve(call.name)
        if call is None or name is None or len(call.arguments) > MAX_PREVIEWED:
            return
        schema = self._offered.schema(name)
        pieces: list[str] = []
        for key in list(call.arguments)[self._shown_keys :]:
            if schema is not None and key not in (schema.get("properties") or ()):
                # What it is called in the end depends on the other arguments.
                break
            fitted, _ = fit_arguments({key: call.arguments[key]}, (), schema)
            try:
                pieces.append(dumps(fitted)[1:-1])
            except ValueError:
                break
            self._shown_keys += 1
        if not pieces and self._shown is not None:
            return
        before = self._shown or ""
        piece = "".join((", " if before or at else "{") + pair for at, pair in enumerate(pieces))
        self._shown = before + piece
        self._deltas.append(ArgumentsDelta(call.id or f"{name}_{len(self._calls)}", name, piece))

    def _delta(self) -> ParseDelta:
        texts, reasonings, calls, rejected = self._given
        delta = ParseDelta(
            text="".join(self._text[texts:]),
            reasoning="".join(self._reasoning[reasonings:]),
            calls=tuple(self._calls[calls:]),
            deltas=tuple(self._deltas),
            rejected=tuple(self._rejected[rejected:]),
            retracts=self._retracts,
        )
        self._given = (len(self._text), len(self._reasoning), len(self._calls), len(self._rejected))
        self._deltas = []
        self._retracts = False
        return delta


@lru_cache(maxsize=64)
def plan_for(parsers: tuple[str, ...], names: tuple[str, ...]) -> Plan:
    """The compiled chain; the detectors are looked up once for each set of parsers and tool names."""
    unknown = [name for name in parsers if name not in DETECTORS]
    if unknown:
        raise ConfigError(
            f"no tool-call parser is called {', '.join(unknown)}",
            hint=f"there are: {', '.join(sorted(DETECTORS))}",
        )
    chain = [(name, DETECTORS[name]()) for name in (parsers or DETECTORS)]
    if not any(isinstance(detector, HarmonyDetector) for _, detector in chain):
        chain.append(("harmony", HarmonyDetector()))
    return make_plan(chain, names if parsers else None)


def parse_reply(
    content: str,
    *,
    preset_parsers: Sequence[str] = (),
    tools: Iterable[Mapping[str, Any]] | None = None,
    opened_reasoning: bool = False,
) -> ParsedReply:
    """Split a whole reply. Raises ConfigError for a parser that is not registered."""
    parser = StreamingToolParser(preset_parsers, tools, opened_reasoning=opened_reasoning)
    parser._run(content, at_end=True)
    return parser.reply()


def parse_tool_calls_from_content(
    content: str, *, preset_parsers: Sequence[str] = (), tools: Iterable[Mapping[str, Any]] | None = None
) -> tuple[list[dict[str, Any]], str, bool]:
    """The calls in OpenAI's form, the text left for speech, and whether there are calls.

    A call whose arguments stay invalid carries an `error`: tell the model, do not dispatch it.
    """
    reply = parse_reply(content, preset_parsers=preset_parsers, tools=tools)
    return [openai_call(call) for call in reply.calls], reply.text, reply.fallback


def openai_call(call: ToolCallItem) -> dict[str, Any]:
    """A call as the chat completions interface writes it."""
    written: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    if call.error is not None:
        written["error"] = call.error
    return written


def register_detector(name: str, cls: object) -> None:
    """Make a format known under `name`. Raises ConfigError if it is no detector, or the name is taken."""
    if not isinstance(cls, type) or not issubclass(cls, BaseFormatDetector):
        raise ConfigError(
            f"{cls!r} is not a detector", hint="subclass edgevox.llm.tool_parsers.BaseFormatDetector"
        )
    if name in DETECTORS:
        raise ConfigError(f"a tool-call parser called {name} exists already", hint="choose another name")
    DETECTORS[name] = cls
    plan_for.cache_clear()
