from __future__ import annotations

import pytest

from edgevox.core.types import JsonObject, NamedTool, ToolChoice
from edgevox.llm.tool_choice import RESPOND, ToolChoicePolicy, plan_hop

LIGHT: JsonObject = {"type": "function", "function": {"name": "light", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("policy", "choices"),
    [
        ("auto", ["auto", "auto", "auto"]),
        ("required_first_hop", ["required", "auto", "auto"]),
        ("required_always", ["required", "required", "required"]),
    ],
)
def test_a_policy_says_for_each_hop_whether_a_call_is_required(policy: ToolChoicePolicy, choices: list[str]) -> None:
    assert [plan_hop((LIGHT,), policy=policy, hop=hop).tool_choice for hop in range(3)] == choices


@pytest.mark.parametrize("policy", ["required_first_hop", "required_always"])
def test_plain_talk_stays_possible_and_the_tools_stay_the_same(policy: ToolChoicePolicy) -> None:
    for hop in range(3):
        assert plan_hop((LIGHT,), policy=policy, hop=hop).tools == (LIGHT, RESPOND)


def test_a_tool_of_that_name_is_not_offered_twice() -> None:
    plan = plan_hop((LIGHT, RESPOND), policy="required_always", hop=0)
    assert plan.tools == (LIGHT, RESPOND)


@pytest.mark.parametrize("policy", ["auto", "required_first_hop", "required_always"])
@pytest.mark.parametrize(
    ("choice", "first", "later"),
    [("none", "none", "none"), ("required", "required", "auto"), (NamedTool("light"), NamedTool("light"), "auto")],
)
def test_the_callers_choice_overrides_the_policy(
    policy: ToolChoicePolicy, choice: ToolChoice, first: ToolChoice, later: ToolChoice
) -> None:
    assert plan_hop((LIGHT,), policy=policy, hop=0, choice=choice).tool_choice == first
    assert plan_hop((LIGHT,), policy=policy, hop=1, choice=choice).tool_choice == later


def test_without_tools_nothing_can_be_required() -> None:
    plan = plan_hop((), policy="required_always", hop=0, choice="required")
    assert plan.tools == ()
    assert plan.tool_choice == "none"
