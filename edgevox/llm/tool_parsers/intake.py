"""Where what was written becomes a call or is rejected: the allow-list and the schema are asked only here."""

from __future__ import annotations

from collections.abc import Callable

from edgevox.llm.tool_parsers.base import ArgumentsDelta, RawCall, RejectedCall, ToolCallItem
from edgevox.llm.tool_parsers.coerce import dumps, fit_arguments
from edgevox.llm.tool_parsers.offered import OfferedTools
from edgevox.llm.tool_parsers.preview import MAX_PREVIEWED


class CallIntake:
    """The calls and rejections of one reply, and the deltas that have not been given out yet."""

    def __init__(self, offered: OfferedTools, explain: Callable[[str], None] | None) -> None:
        self.calls: list[ToolCallItem] = []
        self.rejected: list[RejectedCall] = []
        self.deltas: list[ArgumentsDelta] = []
        self._offered = offered
        self._explain = explain
        self._shown: str | None = None
        self._shown_keys = 0

    def accept(self, raw: RawCall) -> bool:
        """Take a complete call; whether its tool is offered."""
        shown, self._shown, self._shown_keys = self._shown, None, 0
        name = self._offered.resolve(raw.name)
        if name is None:
            self._reject(raw)
            return False
        fitted, problems = fit_arguments(raw.arguments, raw.positional, self._offered.schema(name))
        if raw.problem is not None:
            problems = [raw.problem]
        try:
            arguments = dumps(fitted)
        except ValueError:
            arguments, problems = "{}", ["a number is out of range"]
        error = f"invalid_arguments: {'; '.join(problems)}" if problems else None
        call = ToolCallItem(raw.id or self._made_up_id(name), name, arguments, error)
        if self._explain is not None:
            self._explain(f"call {call.name} {call.arguments}" + (f" ({error})" if error else ""))
        self.calls.append(call)
        if shown is None:
            self.deltas.append(ArgumentsDelta(call.id, name, arguments))
        elif arguments.startswith(shown) and error is None:
            self.deltas.append(ArgumentsDelta(call.id, name, arguments[len(shown) :]))
        return True

    def show(self, unfinished: RawCall) -> None:
        """Show those arguments of a call that are complete, in the words of the finished call."""
        name = self._offered.resolve(unfinished.name)
        if name is None or len(unfinished.arguments) > MAX_PREVIEWED:
            return
        pieces = self._fitted_pairs(unfinished, name)
        if not pieces and self._shown is not None:
            return
        before = self._shown or ""
        piece = "".join((", " if before or at else "{") + pair for at, pair in enumerate(pieces))
        self._shown = before + piece
        self.deltas.append(ArgumentsDelta(unfinished.id or self._made_up_id(name), name, piece))

    def _fitted_pairs(self, unfinished: RawCall, name: str) -> list[str]:
        schema = self._offered.schema(name)
        pairs: list[str] = []
        for key in list(unfinished.arguments)[self._shown_keys :]:
            if schema is not None and key not in (schema.get("properties") or ()):
                # What it is called in the end depends on the other arguments.
                break
            fitted, _ = fit_arguments({key: unfinished.arguments[key]}, (), schema)
            try:
                pairs.append(dumps(fitted)[1:-1])
            except ValueError:
                break
            self._shown_keys += 1
        return pairs

    def _reject(self, raw: RawCall) -> None:
        if raw.name:
            reason = f"unknown_tool: {raw.name} is not offered"
        else:
            reason = f"malformed: {raw.problem or 'no name'}"
        if self._explain is not None:
            self._explain(f"rejected, {reason}")
        self.rejected.append(RejectedCall(raw.name, raw.raw, reason))

    def _made_up_id(self, name: str) -> str:
        return f"{name}_{len(self.calls)}"
