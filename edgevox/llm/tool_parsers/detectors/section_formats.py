"""Formats of larger models, whose calls are in a section of their own.

DeepSeek V3 and R1: `<｜tool▁calls▁begin｜>`, then per call its name and a code block; V3.1: its name and JSON.
DeepSeek V3.2: `<｜DSML｜invoke name="…"><｜DSML｜parameter name="…" string="true">`.
Kimi K2: `<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}`.
MiniMax M2: `<minimax:tool_call><invoke name="…"><parameter name="…">`.
Command R and A: `<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]<|END_ACTION|>`.
InternLM 2: `<|action_start|><|plugin|>{"name": …, "parameters": {…}}<|action_end|>`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from edgevox.llm.tool_parsers.base import MAX_GAP, BaseFormatDetector, Body, Form, Forms, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import BracketBody, any_of
from edgevox.llm.tool_parsers.detectors.xml_formats import AttributeTagCalls
from edgevox.llm.tool_parsers.json_calls import JsonCalls, json_between
from edgevox.llm.tool_parsers.json_repair import Unquoted
from edgevox.llm.tool_parsers.notation import Wrapper, tagged_notation
from edgevox.llm.tool_parsers.tags import NAME

_MAX_HEAD_CHARS = 300


class _SectionStart(Body):
    """The marker of a section, whose calls begin with markers of their own."""

    def __init__(self, opening: Opening, *, calls: tuple[str, ...]) -> None:
        super().__init__(opening)
        self._calls = calls

    def _start(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        if not self._skip_space(MAX_GAP):
            return self._rewind(mark)
        follows = self._looking_at_any(self._calls)
        if follows:
            return Verdict.DONE
        return self._rewind(mark, Verdict.NO if follows is False or at_end else Verdict.MORE)


class _HeadedCall(BracketBody):
    """A name, matched by `head` with the text up to the arguments, a JSON object and `end`."""

    def __init__(self, opening: Opening, *, head: re.Pattern[str], end: str, bounds: tuple[str, ...]) -> None:
        super().__init__(opening)
        self._head = head
        self._end = end
        self._stops = (end, *bounds)
        self._ends_head = any_of(("{", *self._stops))

    def _start(self, at_end: bool) -> Verdict | None:
        window = self.text[self.pos : self.pos + _MAX_HEAD_CHARS]
        ends = self._ends_head.search(window)
        if ends is None and len(window) < _MAX_HEAD_CHARS and not at_end:
            return Verdict.MORE
        written = window[: ends.start()] if ends else window
        head = self._head.fullmatch(written)
        if head is None:
            return Verdict.NO
        self.committed = True
        self._name = head["name"]
        self._id = head.groupdict().get("id")
        self.pos += len(written)
        if ends is not None and ends.group() == "{":
            return self._begin_json_arguments(stops=self._stops)
        problem = "the output ended before the arguments" if ends is None else None
        return self._accept(RawCall(self._name, {}, "", self._id, problem=problem))

    def _accept(self, call: RawCall) -> Verdict | None:
        call.raw = f"{call.name}{call.raw}"
        self.calls.append(call)
        self._state = self._after
        return None

    def _after(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        while self._skip_space(MAX_GAP):
            ended = self._skip(self._end)
            if ended:
                return Verdict.DONE
            if ended is None and not at_end:
                break
            if self.text[self.pos] not in "}`" or self.pos - mark > MAX_GAP:
                return self._rewind(mark, Verdict.DONE)
            self.pos += 1
        return self._rewind(mark)


class _PlainTagCalls(AttributeTagCalls):
    """Tags whose values are not escaped."""

    def _add(self, key: str, written: str) -> None:
        self._arguments[key] = Unquoted(written)


_CALLS = "<｜tool▁calls▁begin｜>"
_CALLS_END = "<｜tool▁calls▁end｜>"
_CALL = "<｜tool▁call▁begin｜>"
_CALL_END = "<｜tool▁call▁end｜>"
_SEP = "<｜tool▁sep｜>"
_DSML_CALL = "<｜DSML｜invoke name="
_DSML_SECTIONS = ("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>")
_DEEPSEEK_HEAD = re.compile(
    rf"\s*+(?:function{_SEP})?+\s*+(?P<name>{NAME.pattern})\s*+(?:{_SEP})?+\s*+(?:```\w*+\s*+){{0,2}}+"
)
_DEEPSEEK_CALL: Form = partial(_HeadedCall, head=_DEEPSEEK_HEAD, end=_CALL_END, bounds=(_CALL, _CALLS_END))


class DeepSeekDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        _CALLS: (partial(_SectionStart, calls=(_CALL,)), _DEEPSEEK_CALL),
        _CALL: (_DEEPSEEK_CALL,),
        _DSML_CALL: (partial(_PlainTagCalls, function="｜DSML｜invoke", parameter="｜DSML｜parameter"),),
        **{section: (partial(_SectionStart, calls=(_DSML_CALL,)),) for section in _DSML_SECTIONS},
    }
    trailers = (_CALL_END, _CALLS_END, *(section.replace("<", "</") for section in _DSML_SECTIONS))
    wrapper = Wrapper((_CALLS,), _CALL, _SEP, _CALL_END, before=(_CALLS,), between="", after=_CALLS_END)


_KIMI_CALLS = "<|tool_calls_section_begin|>"
_KIMI_CALLS_END = "<|tool_calls_section_end|>"
_KIMI_CALL = "<|tool_call_begin|>"
_KIMI_CALL_END = "<|tool_call_end|>"
_KIMI_SEP = "<|tool_call_argument_begin|>"
_KIMI_HEAD = re.compile(
    rf"\s*+(?P<id>(?:functions\.)?(?P<name>[A-Za-z_][\w.-]*+)(?::\d++)?+)\s*+(?:{re.escape(_KIMI_SEP)})?+\s*+"
)


class KimiDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        _KIMI_CALLS: (partial(_SectionStart, calls=(_KIMI_CALL,)),),
        _KIMI_CALL: (partial(_HeadedCall, head=_KIMI_HEAD, end=_KIMI_CALL_END, bounds=(_KIMI_CALL, _KIMI_CALLS_END)),),
    }
    trailers = (_KIMI_CALL_END, _KIMI_CALLS_END)
    wrapper = Wrapper(
        (_KIMI_CALLS,),
        f"{_KIMI_CALL}functions.",
        f":0{_KIMI_SEP}",
        _KIMI_CALL_END,
        before=(_KIMI_CALLS,),
        between="",
        after=_KIMI_CALLS_END,
    )


_MINIMAX = "<minimax:tool_call>"
_MINIMAX_END = "</minimax:tool_call>"
_INVOKE = "<invoke name="


class MiniMaxDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        _MINIMAX: (partial(_SectionStart, calls=(_INVOKE,)),),
        _INVOKE: (partial(_PlainTagCalls, function="invoke", parameter="parameter"),),
    }
    trailers = (_MINIMAX_END, "</invoke>")
    wrapper = Wrapper(
        (_MINIMAX,),
        '<invoke name="',
        '">\n',
        "</invoke>",
        before=(f"{_MINIMAX}\n",),
        after=f"\n{_MINIMAX_END}",
        arguments=tagged_notation('<parameter name="', '">', "</parameter>\n"),
    )


_ACTION = "<|START_ACTION|>"
_ACTION_END = "<|END_ACTION|>"


class CommandDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {_ACTION: (partial(JsonCalls, ends=(_ACTION_END,), bounds=(_ACTION,), ids=True),)}
    trailers = (_ACTION_END,)
    wrapper = Wrapper(
        (_ACTION,),
        '{"tool_name": "',
        '", "parameters": ',
        "}",
        before=(f"{_ACTION}[",),
        between=", ",
        after=f"]{_ACTION_END}",
    )


_PLUGIN = "<|action_start|><|plugin|>"
_PLUGIN_END = "<|action_end|>"


class InternLmDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {_PLUGIN: (json_between(_PLUGIN, _PLUGIN_END),)}
    trailers = (_PLUGIN_END,)
    wrapper = Wrapper((_PLUGIN,), f'{_PLUGIN}{{"name": "', '", "parameters": ', f"}}{_PLUGIN_END}")
