"""Only an unambiguous yes counts as yes."""

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
def test_a_plain_yes_is_a_yes(text: str) -> None:
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


@given(st.lists(st.sampled_from(["yes", "no", "but", "okay", "do", "it", "not", "please", "?", ","]), max_size=9))
def test_a_yes_never_contains_a_no_or_a_question(words: list[str]) -> None:
    if decide_yes_no(" ".join(words)) == "yes":
        assert not {"no", "not", "but", "?"} & set(words)


@given(st.text(max_size=300))
def test_any_text_is_classified(text: str) -> None:
    assert decide_yes_no(text) in ("yes", "no", "unclear")


# --- in other languages

YES = {
    "de": ("Ja.", "Ja, bitte!", "Ja, mach das.", "Jawohl.", "Natürlich.", "Ja, gerne, danke.", "Yes.", "Okay."),
    "fr": ("Oui.", "Oui, s'il te plaît.", "D’accord.", "Bien sûr !", "Vas-y.", "Oui, merci."),
    "es": ("Sí.", "Si.", "Sí, por favor.", "Claro que sí.", "¡Adelante!", "De acuerdo.", "Ok."),
    "it": ("Sì.", "Sì, grazie.", "Va bene.", "Certo!", "D'accordo."),
    "nl": ("Ja.", "Ja, graag.", "Doe maar.", "Ja, alsjeblieft.", "Natuurlijk."),
}
NO = {
    "de": ("Nein.", "Nein, danke.", "Nee.", "Lieber nicht.", "Halt!", "Auf keinen Fall.", "Natürlich nicht.", "No."),
    "fr": ("Non.", "Non merci.", "Surtout pas !", "Arrête.", "Bien sûr que non.", "Attends."),
    "es": ("No.", "No, gracias.", "Claro que no.", "Espera.", "Por supuesto que no."),
    "it": ("No.", "No, grazie.", "Certo che no.", "Aspetta!", "Non va bene."),
    "nl": ("Nee.", "Nee, bedankt.", "Laat maar.", "Liever niet.", "Natuurlijk niet."),
}
UNCLEAR = {
    "de": ("Ja, aber nur vorne.", "Ja, nein.", "Danke.", "Bitte.", "Warum nicht.", "Ja?", "Doch.", "Keine Ahnung."),
    "fr": ("Merci.", "Oui mais pas celle-là.", "Pourquoi pas.", "Oui, non.", "Je ne sais pas.", "Si."),
    "es": ("Gracias.", "Sí, pero no ahora.", "¿Sí?", "Si quieres.", "Cómo no.", "No sé."),
    "it": ("Grazie.", "Sì, ma non ora.", "Sì?", "Se vuoi.", "Perché no.", "Come no."),
    "nl": ("Graag.", "Bedankt.", "Ja, maar niet nu.", "Waarom niet.", "Ja?", "Geen idee."),
}


def said(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(language, text) for language, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), said(YES))
def test_a_plain_yes_counts_in_the_spoken_language(language: str, text: str) -> None:
    assert decide_yes_no(text, language) == "yes"


@pytest.mark.parametrize(("language", "text"), said(NO))
def test_a_no_counts_in_the_spoken_language(language: str, text: str) -> None:
    assert decide_yes_no(text, language) == "no"


@pytest.mark.parametrize(("language", "text"), said(UNCLEAR))
def test_a_doubtful_yes_is_unclear_in_every_language(language: str, text: str) -> None:
    assert decide_yes_no(text, language) == "unclear"


@pytest.mark.parametrize("text", ["Ja.", "Oui.", "Sí.", "Va bene.", "Doe maar."])
@pytest.mark.parametrize("language", ["en", "ja", "pl"])
def test_a_yes_in_another_language_does_not_count(text: str, language: str) -> None:
    assert decide_yes_no(text, language) == "unclear"


@given(st.data(), st.sampled_from(sorted(YES)))
def test_yes_and_no_together_are_not_a_yes(data: st.DataObject, language: str) -> None:
    yes, no = data.draw(st.sampled_from(YES[language])), data.draw(st.sampled_from(NO[language]))
    assert decide_yes_no(f"{yes} {no}", language) != "yes"
    assert decide_yes_no(f"{no} {yes}", language) != "yes"
