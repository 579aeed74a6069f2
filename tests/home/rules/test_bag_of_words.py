"""Requests in other languages whose words are known and whose order is not that of a template."""

from __future__ import annotations

import pytest

from edgevox.eval.suite import HomeSpec
from edgevox.home.rules.languages.bag_of_words import read_words, spellings
from edgevox.home.rules.languages.templates import Match, Names, names_of


@pytest.fixture(scope="module")
def names() -> Names:
    rooms = ("Keuken", "Küche", "Cocina", "Cuisine", "Cucina", "Cozinha")
    kinds = {"Zolder": ("light", None), "Voordeur": ("lock", None), "Tuindeur": ("binary_sensor", "door")}
    content = {
        "areas": [{"name": room} for room in rooms],
        "entities": [
            {"name": name, "domain": domain, "device_class": device_class}
            for name, (domain, device_class) in kinds.items()
        ],
    }
    return names_of(HomeSpec.model_validate(content).house())


def _light(state: str, area: str) -> Match:
    return Match(f"HassTurn{state}", {"domain": "light", "area": area})


@pytest.mark.parametrize(
    ("language", "text", "match"),
    [
        ("nl", "alle lampen graag uit in de keuken", _light("Off", "Keuken")),
        ("de", "in der Küche bitte sämtliche Lampen jetzt aus", _light("Off", "Küche")),
        ("es", "en la cocina apaga ahora todas las luces", _light("Off", "Cocina")),
        ("fr", "dans la cuisine éteins maintenant toutes les lampes", _light("Off", "Cuisine")),
        ("it", "in cucina spegni adesso tutte le luci", _light("Off", "Cucina")),
        ("pt", "na cozinha apaga agora todas as luzes", _light("Off", "Cozinha")),
        ("nl", "is de tuindeur niet dicht", Match("HassGetState", {"name": "Tuindeur", "state": "on"})),
        ("nl", "ontgrendel graag even de voordeur", Match("HassTurnOff", {"name": "Voordeur"})),
        ("de", "schließ die Voordeur auf", Match("HassTurnOff", {"name": "Voordeur"})),
        ("de", "schließ die Voordeur bitte ab", Match("HassTurnOn", {"name": "Voordeur"})),
        ("nl", "zolderlicht op vijftig procent", Match("HassLightSet", {"name": "Zolder", "brightness": 50})),
    ],
)
def test_words_in_any_order_are_one_request(names: Names, language: str, text: str, match: Match) -> None:
    assert read_words(text, language, names) == match


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("nl", "doe de lampen in de keuken niet uit"),
        ("nl", "de lampen in de keuken zijn gisteren uit gegaan"),
        ("de", "in der Küche waren alle Lampen aus"),
        ("de", "die Lampen in der Küche sind teuer"),
        ("es", "no apagues las luces de la cocina"),
        ("fr", "les lampes de la cuisine sont trop chères"),
        ("it", "non spegnere le luci in cucina"),
        ("pt", "as luzes da cozinha apagaram ontem"),
        ("nl", "de lampen in de keuken en de zolder uit"),
    ],
)
def test_talk_and_what_has_an_unknown_word_is_no_request(names: Names, language: str, text: str) -> None:
    assert read_words(text, language, names) is None


def test_a_preposition_is_no_direction(names: Names) -> None:
    """German "auf" is "on the" and "open", "zu" is "to" and "shut": what ends the sentence counts."""
    blinds = {"domain": "cover", "device_class": "blind", "area": "Küche"}
    assert read_words("Jalousien auf der Küche bitte zu", "de", names) == Match("HassTurnOff", blinds)


def test_a_template_has_all_its_spellings() -> None:
    assert [*spellings("lamp[en]|licht(en|jes)")] == ["lampen", "lamp", "lichten", "lichtjes"]
