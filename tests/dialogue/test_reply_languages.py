"""The language of a reply: what was spoken, if the model and a voice can."""

from __future__ import annotations

import pytest

from edgevox.dialogue.replies import ReplyLanguages

EN_DE = ("en", "de")


@pytest.mark.parametrize(
    ("model", "voices", "spoken", "reply"),
    [
        (None, EN_DE, "de", "de"),
        (None, EN_DE, "en", "en"),
        (None, EN_DE, "fr", "en"),  # no voice for it
        (("en",), EN_DE, "de", "en"),  # the model cannot
        (("en", "fr"), EN_DE, "fr", "en"),
        (None, ("de",), "en", "de"),  # the default voice's language
        (None, ("de", "en"), "fr", "de"),
        (("en",), ("de",), "de", "en"),  # read by the German voice: there is no other
        (("en",), ("de", "en"), "de", "en"),
        (None, (), "fi", "fi"),  # only read
        (("en",), (), "fi", "en"),
    ],
)
def test_a_reply_is_in_the_language_spoken_where_that_is_possible(
    model: tuple[str, ...] | None, voices: tuple[str, ...], spoken: str, reply: str
) -> None:
    assert ReplyLanguages(model=model, voices=voices).reply_to(spoken) == reply


def test_typed_text_is_answered_in_the_configured_language() -> None:
    assert ReplyLanguages(voices=EN_DE, expected="de").reply_to("") == "de"
    assert ReplyLanguages(voices=EN_DE).reply_to("") == "en"


@pytest.mark.parametrize(
    ("model", "voices", "spoken", "told"),
    [
        (None, EN_DE, "en", None),  # the prompt of English turns stays as it is
        (None, EN_DE, "", None),
        (None, EN_DE, "de", "de"),
        (None, ("en",), "de", "en"),  # it would answer in German, and no voice could say it
        (("en",), EN_DE, "de", None),  # it knows no other, and would only be confused
        (None, ("de",), "en", "de"),
    ],
)
def test_a_language_is_requested_only_if_the_model_needs_it(
    model: tuple[str, ...] | None, voices: tuple[str, ...], spoken: str, told: str | None
) -> None:
    assert ReplyLanguages(model=model, voices=voices).language_to_request(spoken) == told
