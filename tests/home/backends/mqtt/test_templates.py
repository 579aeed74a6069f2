"""Templates of devices are evaluated, and harmful ones end at once."""

from __future__ import annotations

import time

import pytest
from jinja2 import Environment

from edgevox.home.backends.mqtt.templates import MAX_TEMPLATE_CHARS, BadTemplate, Template

PAYLOAD = '{"state": "ON", "t": 21.57, "update": {"state": "idle"}, "none": null, "contact": true, "l": [1, 2]}'


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ value_json.state }}", "ON"),
        ("{{value_json['state']}}", "ON"),
        ('{{ value_json["t"] }}', "21.57"),
        ("{{ value_json.contact }}", "True"),
        ("{{ value_json.update.state }}", "idle"),
        ("{{ value_json['update']['state'] }}", "idle"),
        ("{{ value_json.l[1] }}", "2"),
        ("{{ value_json.t | float }}", "21.57"),
        ("{{ value_json.t | round(1) }}", "21.6"),
        ("{{ value_json.t | round }}", "22"),
        ("{{ value_json.t | round(0, 'floor') }}", "21"),
        ("{{ value_json.t | int }}", "21"),
        ("{{ (value_json.t * 9 / 5 + 32) | round(1) }}", "70.8"),
        ("{{ 'ON' if value_json.contact else 'OFF' }}", "ON"),
        ("{% if value_json.t > 20 %}warm{% else %}cold{% endif %}", "warm"),
        ("{% set m = {none: none, 'idle': 'off'} %}{{ m[value_json.update.state] }}", "off"),
        ("{{ value_json.get('state') | lower }}", "on"),
        ("{{ value_json.t ~ ' °C' }}", "21.57 °C"),
        ("{{ value_json.gone | default('x') }}", "x"),
        ("{{ iif(value_json.contact, 'shut', 'open') }}", "shut"),
        ("{{ (value | from_json).state | replace('N', 'FF') }}", "OFF"),
        ("{% set m = {'idle': 'off'} %}{{ m['idle'] if 'idle' in m.keys() else 'x' }}", "off"),
        ("{% set value = value_json.update.state %}{{ {'idle': 'off'}[value] }}", "off"),
        ("{{ value_json.update.keys() | list }}", "['state']"),
        ("{{ value_json.update.values() | first }}", "idle"),
        ("{{ value_json.update.items() | first | last }}", "idle"),
        ("{{ value_json.state.lower().replace('on', 'off').split('f')[0] }}", "o"),
        ("{{ value_json.gone | default('', True) | string | truncate(254, True, '', 0) or 'none' }}", "none"),
        ("{{ 'a long text' | truncate(8, True, '', 0) }}", "a long t"),
        # What the message does not say is not said.
        ("{{ value_json.gone }}", None),
        ("{{ value_json.none }}", None),
        ("{{ value_json.gone.there }}", None),
        ("{{ value_json.gone | is_defined }}", None),
        ("{{ value_json.state | float }}", None),
    ],
)
def test_a_value_is_extracted_from_a_message(source: str, said: str | None) -> None:
    assert Template(source).read(PAYLOAD) == said


def test_a_message_that_is_not_an_object_is_parsed() -> None:
    assert Template("{{ value | float / 10 }}").read("215") == "21.5"
    assert Template("{{ value_json.state }}").read("not json") is None
    assert Template("{{ value_json.state }}").read("[" * 10_000) is None
    assert Template("{{ value_json[0] }}").read("[7]") == "7"


def test_a_command_payload_is_rendered() -> None:
    assert Template('{"position": {{ position }} }').write(40, position=40) == '{"position": 40 }'
    with pytest.raises(BadTemplate):
        Template("{{ value.__class__.__mro__ }}").write("ON")


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
        "{{ 'a' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ 9 ** 9 ** 9 ** 9 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ 'a' | center(1000000000) }}",
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
        "{% set a = value ~ value %}" + "{% set a = a ~ a %}" * 60 + "{{ a }}",
        "{% set a = value %}" + "{% set a = a + a %}" * 60 + "{{ a }}",
        "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ a }}",
        "{% set value = [1] %}" + "{% set value = [value, value] %}" * 60 + "{{ value }}",
        "{% set a = 99 %}" + "{% set a = a * a %}" * 60 + "{{ a }}",
        "{{ value" + "|replace('a', 'aaaaaaaaaa')" * 50 + " }}",
        "{{ " + "(" * 400 + "1" + ")" * 400 + " }}",
        "{{ " + "-" * 1500 + "1 }}",
        "{{ " + "1 + " * 400 + "x }}",
        "{{ value.__class__ }}",
        "{{ value_json.update.clear() }}",
        "{{ value_json.l.append(1) }}",
        "{{ value.center(1000000000) }}",
        "{{ value" + ".replace('O', 'OOOOOOOOOO')" * 50 + " }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{% include '/etc/passwd' %}",
        "{{ cycler.__init__.__globals__ }}",
    ],
)
def test_a_harmful_template_ends_at_once(source: str) -> None:
    began_s = time.process_time()
    assert _read(source) is None
    assert time.process_time() - began_s < 10


def test_a_bad_template_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = Environment.parse

    def counted(self: Environment, source: str) -> object:
        parsed.append(source)
        return parse(self, source)

    monkeypatch.setattr(Environment, "parse", counted)
    bad = "{{ value.__class__ | unheard }}"
    for _message in range(3):
        assert _read(bad) is None
    assert parsed == [bad]


def _read(source: str) -> str | None:
    try:
        return Template(source).read(PAYLOAD)
    except BadTemplate:
        return None


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ value_json.state", "not valid"),
        ("{{ now() }}", "the function now"),
        ("{{ value | regex_findall('a') }}", "the filter regex_findall"),
        ("{% for a in value_json %}{{ a }}{% endfor %}", "For"),
        ("{{ value.__class__() }}", "the function __class__"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_when_it_is_announced(source: str, problem: str) -> None:
    with pytest.raises(BadTemplate, match=problem):
        Template(source)


def test_rounding_to_very_many_digits_is_cheap() -> None:
    assert Template("{{ 1.5 | round(1000000000) }}").read("") == "1.5"
    assert Template("{{ 1.5 | round(1000000000, 'ceil') }}").read("") == "1.5"


def test_a_long_template_is_refused() -> None:
    with pytest.raises(BadTemplate):
        Template("x" * (MAX_TEMPLATE_CHARS + 1))
