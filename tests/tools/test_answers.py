"""Only a plain yes is a yes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.tools import decide_yes_no


@pytest.mark.parametrize(
    "text",
    [
        "Yes.", "yes", "Yeah.", "Yep!", "Sure.", "OK", "Okay.", "Yes, please.", "Yes please, do it.",
        "Do it.", "Go ahead.", "Please do.", "Of course.", "Yes, yes, yes.", "Confirm.", "I'm sure.",
        "I’m sure.", "That's right.", "All right.", "Absolutely!", "Yes, thank you.", "  YES  ",
        "Okay then.",
    ],
)  # fmt: skip
def test_a_plain_yes_is_one(text: str) -> None:
    assert decide_yes_no(text) == "yes"


@pytest.mark.parametrize(
    "text",
    [
        "No.", "Nope.", "No, thanks.", "No thank you.", "Don't.", "Do not do that.", "Stop!", "Cancel.",
        "Never mind.", "Not now.", "Wait.", "Of course not.", "Absolutely not!", "No, leave it locked.",
        "Please don't.", "I said no, because the children are asleep and somebody might come in.",
        "Forget it.", "Hold on a second.", "I'd rather not.", "No no no",
    ],
)  # fmt: skip
def test_a_no_may_have_reasons(text: str) -> None:
    assert decide_yes_no(text) == "no"


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "...", "Yes, but only the front.", "Yeah, no.", "Yeah no", "I guess.", "I guess so.",
        "Sure, I guess.", "Yes?", "Okay?", "What?", "Sure, why not.", "Why not?", "Maybe.", "Maybe yes.",
        "Yes if it is safe.", "I suppose so.", "Probably.",
        "Yes and then turn on the light in the hall and play music.", "The man on the radio said yes.",
        "Yesterday.", "No problem.", "Not sure.", "I don't know.", "Whatever.",
        "Unlock the front door? Yes.", "yes no yes", "Oh yes, that reminds me", "Thank you.", "Right.",
        "Um.", "Did you say yes", "If you say so, okay", "no wait yes",
    ],
)  # fmt: skip
def test_a_doubtful_yes_is_unclear(text: str) -> None:
    assert decide_yes_no(text) == "unclear"


@given(
    st.lists(st.sampled_from(["yes", "no", "but", "okay", "do", "it", "not", "please", "?", ","]), max_size=9)
)
def test_a_yes_never_holds_a_no_or_a_question(words: list[str]) -> None:
    if decide_yes_no(" ".join(words)) == "yes":
        assert not {"no", "not", "but", "?"} & set(words)


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    assert decide_yes_no(text) in ("yes", "no", "unclear")
