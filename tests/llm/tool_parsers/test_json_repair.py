"""Almost-JSON is parsed; unreadable text is rejected, and truncation is detected."""

from __future__ import annotations

from typing import Any

import pytest

from edgevox.llm.tool_parsers.json_repair import Truncated, Unreadable, loads


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{a: b}", {"a": "b"}),
        ("{a: True, b: None, c: false}", {"a": True, "b": None, "c": False}),
        ('{"a": "it\'s"}', {"a": "it's"}),
        (r"{'a': 'it\'s'}", {"a": "it's"}),
        ('{"a": "she said "no" to me", "b": 1}', {"a": 'she said "no" to me', "b": 1}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        (r'{"a": "\d+ \u00e9 \x41 \ud83d\ude00",}', {"a": "\\d+ é A \U0001f600"}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "1" "b": 2}', {"a": "1", "b": 2}),
        ("{'a': 'x' 'y'}", {"a": "xy"}),
        ("{'a': (1, 2), 'b': {'c', 'd'}}", {"a": [1, 2], "b": ["c", "d"]}),
        ("{'a': -1.5e3, 'b': 07, 'c': 1.}", {"a": -1500.0, "b": "07", "c": "1."}),
        ("{'a': 2024-01-02, 'b': f(x), 'c': http://x.y/z}", {"a": "2024-01-02", "b": "f(x)", "c": "http://x.y/z"}),
        ("{", {}),
        ('{"a": {"b": ["c"', {"a": {"b": ["c"]}}),
        ('{"a": {"b": 1}', {"a": {"b": 1}}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": """b "c" d"""}', {"a": 'b "c" d'}),
        ("{&quot;a&quot;: &quot;b&quot;}", {"a": "b"}),
        ('{"a": 1}}}', {"a": 1}),
        ("{'a' = 1, 'b' => 2}", {"a": 1, "b": 2}),
    ],
)
def test_it_is_read_as_what_it_means(text: str, value: Any) -> None:
    assert loads(text) == value


@pytest.mark.parametrize("text", ['{"a": "b', '{"a": ', '{"a"', '{"a": tru', '{"a": [1, 2', '{"a": {"b'])
def test_a_truncated_value_is_detected(text: str) -> None:
    with pytest.raises(Truncated):
        loads(text)


@pytest.mark.parametrize("text", ['{"a" 1}', "{,:}", '{"a": 1} and more', "[" * 200 + "]" * 200, "{'a': }"])
def test_unreadable_text_is_rejected(text: str) -> None:
    with pytest.raises(Unreadable):
        loads(text, depth=text.count("["))


def test_numbers_that_python_will_not_convert_do_no_harm() -> None:
    assert loads('{"a": ' + "9" * 5000 + "}") == {"a": float("inf")}
