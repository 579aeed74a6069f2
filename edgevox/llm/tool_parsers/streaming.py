"""Splits a streamed reply into text, reasoning and validated tool calls in one pass.

A complete reply is a stream of one piece, so no second implementation can disagree. The allow-list and the schema are
checked only here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from edgevox.core.errors import ConfigError
from edgevox.llm.tool_parsers.base import (
    HARMONY,
    MISTRAL,
    TEMPLATE_OPENED,
    ArgumentsDelta,
    BaseFormatDetector,
    Body,
    OfferedTools,
    Opening,
    ParseDelta,
    ParsedReply,
    RawCall,
    ReasoningStyle,
    RejectedCall,
    ToolCallItem,
    Verdict,
    open_first,
)
from edgevox.llm.tool_parsers.brackets import MAX_PREVIEWED
from edgevox.llm.tool_parsers.coerce import dumps, fit_arguments
from edgevox.llm.tool_parsers.detectors import DETECTORS
from edgevox.llm.tool_parsers.json_calls import FencedCalls
from edgevox.llm.tool_parsers.markers import (
    FENCE,
    REASONING_BEGINS,
    STOP_TOKENS,
    Readers,
    Scan,
    continues_word,
    markers_for,
)


class CallValidator:
    """Collects the calls and rejections of one reply, and the pending deltas."""

    def __init__(self, offered: OfferedTools, explain: Callable[[str], None] | None) -> None:
        self.calls: list[ToolCallItem] = []
        self._ids: set[str] = set()
        self.rejected: list[RejectedCall] = []
        self.deltas: list[ArgumentsDelta] = []
        self._offered = offered
        self._explain = explain
        self._shown: str | None = None
        self._shown_keys = 0

    def accept(self, raw: RawCall) -> bool:
        """Add a complete call; return whether its tool is offered."""
        shown, self._shown, self._shown_keys = self._shown, None, 0
        name = self._offered.resolve(raw.name)
        if name is None:
            unknown = f"unknown_tool: {raw.name} is not offered"
            reason = unknown if raw.name else f"malformed: {raw.problem or 'no name'}"
            self.note("rejected, %s", reason)
            self.rejected.append(RejectedCall(raw.name, raw.raw, reason))
            return False
        fitted, problems = fit_arguments(raw.arguments, raw.positional, self._offered.schema(name))
        if raw.problem is not None:
            problems = [raw.problem]
        try:
            arguments = dumps(fitted)
        except ValueError:
            arguments, problems = "{}", ["a number is out of range"]
        error = f"invalid_arguments: {'; '.join(problems)}" if problems else None
        call = ToolCallItem(self._call_id(raw, name), name, arguments, error)
        self.note("call %s %s%s", name, arguments, f" ({error})" if error else "")
        self.calls.append(call)
        self._ids.add(call.id)
        if shown is None:
            self.deltas.append(ArgumentsDelta(call.id, name, arguments))
        elif arguments.startswith(shown) and error is None:
            self.deltas.append(ArgumentsDelta(call.id, name, arguments[len(shown) :]))
        return True

    def show(self, unfinished: RawCall) -> None:
        """Emit the complete arguments of an unfinished call, exactly as in the finished call."""
        name = self._offered.resolve(unfinished.name)
        if name is None or len(unfinished.arguments) > MAX_PREVIEWED:
            return
        before, schema = self._shown, self._offered.schema(name)
        piece = ""
        for key in list(unfinished.arguments)[self._shown_keys :]:
            if schema is not None and key not in (schema.get("properties") or ()):
                # Its final name depends on the other arguments.
                break
            fitted, _ = fit_arguments({key: unfinished.arguments[key]}, (), schema)
            try:
                piece += (", " if before or piece else "{") + dumps(fitted)[1:-1]
            except ValueError:
                break
            self._shown_keys += 1
        if piece or before is None:
            self._shown = (before or "") + piece
            self.deltas.append(ArgumentsDelta(self._call_id(unfinished, name), name, piece))

    def note(self, message: str, *values: object) -> None:
        """Explain a step of the parser, if that is wanted."""
        if self._explain is not None:
            self._explain(message % values)

    def _call_id(self, raw: RawCall, name: str) -> str:
        """The model's own id, unless it has given it to an earlier call, or a new one."""
        if raw.id and raw.id not in self._ids:
            return raw.id
        return f"{name}_{len(self.calls)}"


_BEFORE_CHARS = 80
# A reply that begins calls and never writes one is noise: after this much of it no region is opened.
_PATIENCE = 1024
_PARSED_REFUSAL = 8


class StreamingToolParser:
    """Parses one reply in pieces of any size.

    `parsers` are keys of DETECTORS, the first match wins; empty means every format with markers. `tools` are the
    offered tools in OpenAI's form; None allows every name, but then plain and bare calls are not searched for.
    `opened_reasoning`: the chat template has already opened the reasoning. Raises ConfigError for an unknown parser.
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
        self._plan = markers_for(tuple(parsers), self._offered.names)
        self._style: ReasoningStyle | None = None
        if opened_reasoning:
            self._style = MISTRAL if parsers and parsers[0] == "mistral" else TEMPLATE_OPENED
        self._in_fence = False
        self._body: Body | None = None
        self._carry = ""
        self._held: list[str] = []
        self._no_bare = 0
        self._patience = _PATIENCE
        self._ends_inside_strings = False
        self._saw_reasoning = opened_reasoning
        self._gap = self._drops_space = opened_reasoning
        self._before = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._intake = CallValidator(self._offered, explain)
        self._given = (0, 0, 0, 0)
        self._retracts = False
        self._finished = False

    def feed(self, piece: str) -> ParseDelta:
        """Parse a piece and return what is certain now."""
        if self._finished:
            raise ValueError("the reply is finished; a new one needs a new parser")
        self._run(piece, at_end=False)
        return self._delta()

    def finish(self, piece: str = "", *, is_cut: bool = False) -> ParseDelta:
        """End the reply, optionally with a last piece, and decide what was held back.

        Of a reply that `is_cut` at the token limit, the beginning of a call is dropped: it is no text. A second call
        returns an empty delta.
        """
        if not self._finished:
            self._finished = True
            if is_cut:
                self._run_cut(piece)
            else:
                self._run(piece, at_end=True)
        return self._delta()

    def reply(self) -> ParsedReply:
        """Return everything so far, independent of how the reply was split."""
        return ParsedReply(
            calls=tuple(self._intake.calls),
            text="".join(self._text),
            reasoning="".join(self._reasoning).strip(),
            rejected=tuple(self._intake.rejected),
            fallback=bool(self._intake.calls),
        )

    # --- scanning

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
                    if not self._body.committed:
                        self._held.append(text[start:])
                    elif (unfinished := self._body.progress()) is not None:
                        self._intake.show(unfinished)
                    return
                self._ends_inside_strings |= self._body.opening.ends_inside_strings
                if verdict is Verdict.DONE:
                    text, pos = self._body.text, self._body.pos
                    self._close_region(self._body)
                else:
                    pos = start
                    if self._held:
                        text, pos = "".join((*self._held, text[start:])), 0
                    if not (at_end and self._ends_after_call(self._body.opening.marker, text[pos:])):
                        self._refuse_region(self._body)
                self._body = None
                self._held = []
                continue
            scan = self._scan()
            found = scan.search(text, pos)
            if found is None:
                held = self._end_of_text(text, pos) if at_end else scan.held_from(text, pos, self._before)
            elif not at_end and scan.could_grow(text, found.start()):
                held = found.start()
            else:
                self._say(text[pos : found.start()])
                pos = found.end()
                self._handle_marker(found.group())
                continue
            self._say(text[pos:held])
            self._carry = "" if at_end else text[held:]
            return

    def _ends_after_call(self, marker: str, rest: str) -> bool:
        """Whether the reply ends with a marker that follows a call and begins nothing."""
        return self._gap and marker not in self._plan.bare and not rest.strip()

    def _end_of_text(self, text: str, pos: int) -> int:
        """Return where the reply ends: without the beginning of an end marker that was cut off after a call."""
        start = self._scan().held_from(text, pos, self._before)
        rest = text[start:]
        is_trailer = len(rest) > 1 and any(trailer.startswith(rest) for trailer in self._plan.trailers)
        return start if is_trailer and self._gap and not text[pos:start].strip() else len(text)

    def _run_cut(self, piece: str) -> None:
        """Read to the end of a cut reply, and drop what may begin a call."""
        self._run(piece, at_end=False)
        while (body := self._body) is not None:
            verdict = body.feed("", 0, True)
            self._collect(body)
            self._body, self._held = None, []
            if verdict is Verdict.DONE:
                self._close_region(body)
                self._run(body.text[body.pos :], at_end=False)
        self._intake.note("%r is dropped: the reply was cut", self._carry)
        self._carry = ""

    def _scan(self) -> Scan:
        plan = self._plan
        if self._style is None:
            return plan.fence if self._in_fence else plan.text
        return (plan.fence_in_reasoning if self._in_fence else plan.reasoning)[self._style]

    def _handle_marker(self, marker: str) -> None:
        plan, style = self._plan, self._style
        if style is not None and marker in style.ends:
            self._intake.note("%r ends the reasoning", marker)
            self._style, self._in_fence = None, False
            self._start_gap()
        elif marker == FENCE:
            self._handle_fence()
        elif self._before.endswith("`"):
            self._say(marker)
        elif marker in plan.openers and self._patience > 0:
            self._open(marker, plan.openers[marker])
        elif marker in STOP_TOKENS or (marker in plan.trailers and self._gap):
            self._intake.note("%r is dropped", marker)
        elif style is not None:
            self._say(marker)
        elif marker in REASONING_BEGINS:
            self._intake.note("%r begins reasoning", marker)
            self._style, self._saw_reasoning = REASONING_BEGINS[marker], True
        elif marker in TEMPLATE_OPENED.ends:
            self._handle_lone_end(marker)
        elif marker in plan.names and continues_word(self._before):
            self._say(marker)
        elif marker in plan.bare and not self._no_bare and self._patience > 0:
            self._open(marker, plan.bare[marker])
        else:
            self._say(marker)

    def _handle_fence(self) -> None:
        reads = self._plan.reads_fences and not self._no_bare and self._patience > 0
        if reads and not self._in_fence and self._style is None:
            self._intake.note("a code block: read as calls if it contains nothing else")
            self._body = FencedCalls(self._opening(FENCE))
            return
        self._in_fence = not self._in_fence
        self._say(FENCE)

    def _handle_lone_end(self, marker: str) -> None:
        if not self._saw_reasoning:
            self._intake.note("%r and no beginning: the text before it was reasoning", marker)
            self._retracts = self._given[0] > 0
            self._reasoning += self._text
            self._text = []
            self._given = (0, *self._given[1:])
        self._saw_reasoning = True
        self._start_gap()

    def _opening(self, marker: str) -> Opening:
        return Opening(marker, self._before, self._offered, ends_inside_strings=self._ends_inside_strings)

    def _open(self, marker: str, readers: Readers) -> None:
        self._intake.note("%r may begin a call: %s", marker, ", ".join(readers))
        self._body = open_first(self._opening(marker), [detector.open for detector in readers.values()])

    def _close_region(self, body: Body) -> None:
        if body.enters == "reasoning":
            self._style, self._saw_reasoning = HARMONY, True
        elif body.enters == "text":
            self._style = None
        self._start_gap()

    def _refuse_region(self, body: Body) -> None:
        marker = body.opening.marker
        self._intake.note("no call follows %r", marker)
        self._in_fence = self._in_fence or marker == FENCE
        self._no_bare = max(self._no_bare, body.spent)
        self._patience -= 1 if marker in self._plan.bare and not body.spent else _PARSED_REFUSAL
        self._say(marker)

    def _start_gap(self) -> None:
        self._gap, self._before = True, ""
        self._drops_space = not self._text or self._text[-1][-1:].isspace()

    # --- results

    def _say(self, piece: str) -> None:
        if not piece:
            return
        self._no_bare = max(0, self._no_bare - len(piece))
        self._before = (self._before + piece[-_BEFORE_CHARS:])[-_BEFORE_CHARS:]
        if self._style is None and self._gap and self._drops_space and not (piece := piece.lstrip()):
            return
        self._gap = self._gap and piece.isspace()
        (self._text if self._style is None else self._reasoning).append(piece)

    def _collect(self, body: Body) -> None:
        for raw in body.calls:
            if not self._intake.accept(raw):
                self._patience -= _PARSED_REFUSAL
        body.calls = []

    def _delta(self) -> ParseDelta:
        intake = self._intake
        texts, reasonings, calls, rejected = self._given
        delta = ParseDelta(
            text="".join(self._text[texts:]),
            reasoning="".join(self._reasoning[reasonings:]),
            calls=tuple(intake.calls[calls:]),
            deltas=tuple(intake.deltas),
            rejected=tuple(intake.rejected[rejected:]),
            retracts=self._retracts,
        )
        self._given = (len(self._text), len(self._reasoning), len(intake.calls), len(intake.rejected))
        intake.deltas = []
        self._retracts = False
        return delta


def parse_reply(
    content: str,
    *,
    preset_parsers: Sequence[str] = (),
    tools: Iterable[Mapping[str, Any]] | None = None,
    opened_reasoning: bool = False,
) -> ParsedReply:
    """Parse a complete reply. Raises ConfigError for an unknown parser."""
    parser = StreamingToolParser(preset_parsers, tools, opened_reasoning=opened_reasoning)
    parser._run(content, at_end=True)
    return parser.reply()


def parse_tool_calls_from_content(
    content: str, *, preset_parsers: Sequence[str] = (), tools: Iterable[Mapping[str, Any]] | None = None
) -> tuple[list[dict[str, Any]], str, bool]:
    """Return the calls in OpenAI's form, the text for speech, and whether there are calls.

    A call with invalid arguments carries an `error`: report it to the model, do not dispatch it.
    """
    reply = parse_reply(content, preset_parsers=preset_parsers, tools=tools)
    return [openai_call(call) for call in reply.calls], reply.text, reply.fallback


def openai_call(call: ToolCallItem) -> dict[str, Any]:
    """Return a call in the form of the chat completions API."""
    function = {"name": call.name, "arguments": call.arguments}
    error = {} if call.error is None else {"error": call.error}
    return {"id": call.id, "type": "function", "function": function, **error}


def register_detector(name: str, cls: object) -> None:
    """Register a format under `name`. Raises ConfigError if it is not a detector or the name is taken."""
    if not isinstance(cls, type) or not issubclass(cls, BaseFormatDetector):
        raise ConfigError(f"{cls!r} is not a detector", hint="subclass edgevox.llm.tool_parsers.BaseFormatDetector")
    if name in DETECTORS:
        raise ConfigError(f"a tool-call parser called {name} exists already", hint="choose another name")
    DETECTORS[name] = cls
    markers_for.cache_clear()
