"""Text normalisation in German, French, Spanish, Italian, Dutch and Portuguese."""

from __future__ import annotations

import time

import pytest

from edgevox.tts.normalize import normalize_text
from edgevox.tts.normalize.other_languages import known_languages

CASES = {
    "de": {
        "Es sind 21.5 °C.": "Es sind 21,5 Grad Celsius.",
        "Es hat -3°.": "Es hat minus 3 Grad.",
        "Der Wecker steht auf 7:05 Uhr.": "Der Wecker steht auf 7 Uhr 5.",
        "Um 19.00 Uhr und um 01:30.": "Um 19 Uhr und um ein Uhr 30.",
        "Am 3. März hast du einen Termin.": "Am dritten März hast du einen Termin.",
        "Der 3. März ist ein Dienstag.": "Der dritte März ist ein Dienstag.",
        "Am 01.03.2026 im 2. Stock.": "Am ersten März 2026 im zweiten Stock.",
        "2026-03-03": "dritten März 2026",
        "Das kostet 3,50 € oder $5.": "Das kostet 3,50 Euro oder 5 US-Dollar.",
        "Das Licht ist auf 40 %.": "Das Licht ist auf 40 Prozent.",
        "Der Wind weht mit 15 km/h.": "Der Wind weht mit 15 Kilometer pro Stunde.",
        "1 kWh, 1.234,5 m und 10-15 Grad": "1 Kilowattstunde, 1.234,5 Meter und 10 bis 15 Grad",
        "z.B. Dr. Müller & Söhne": "zum Beispiel Doktor Müller und Söhne",
    },
    "fr": {
        "Il fait 21.5 °C.": "Il fait 21,5 degrés Celsius.",
        "Le réveil est à 7h05.": "Le réveil est à 7 heures 5.",
        "À 1:00 et à 19:30.": "À une heure et à 19 heures 30.",
        "Le 01/03/2026": "Le 1er mars 2026",
        "12 € et 40 %": "12 euros et 40 pour cent",
        "M. Dupont, p. ex.": "monsieur Dupont, par exemple",
    },
    "es": {
        "Hace -2 °C.": "Hace menos 2 grados Celsius.",
        "A las 7:45 y a la 1:10.": "A las 7 y 45 y a la una y 10.",
        "El 03/03/2026": "El 3 de marzo de 2026",
        "Son 2,5 kWh y 3 €.": "Son 2,5 kilovatios hora y 3 euros.",
        "El Sr. García, 50%": "El señor García, 50 por ciento",
    },
    "it": {
        "Ci sono 19.5 °C.": "Ci sono 19,5 gradi Celsius.",
        "Alle 7:45 e all'1:10.": "Alle 7 e 45 e all'una e 10.",
        "Il 01/03/2026": "Il primo marzo 2026",
        "80 km/h e 20 €": "80 chilometri orari e 20 euro",
        "40 % ecc.": "40 per cento eccetera",
    },
    "nl": {
        "Het is 21.5 °C.": "Het is 21,5 graden Celsius.",
        "Om 7:45 en om 19.00 uur.": "Om 7 uur 45 en om 19 uur.",
        "Op 03-03-2026": "Op 3 maart 2026",
        "5 € en 2 kWh": "5 euro en 2 kilowattuur",
        "bijv. 40%": "bijvoorbeeld 40 procent",
    },
    "pt": {
        "Estão 21.5 °C.": "Estão 21,5 graus Celsius.",
        "Às 7h45 e às 19:00.": "Às 7 e 45 e às 19 horas.",
        "Em 01/03/2026": "Em primeiro de março de 2026",
        "R$ 10 e 2 kWh": "10 Reais brasileiros e 2 quilowatts-hora",
        "A Sra. Silva, 40%": "A senhora Silva, 40 por cento",
    },
}


@pytest.mark.parametrize("language", CASES)
def test_what_espeak_reads_badly_becomes_words(language: str) -> None:
    for written, spoken in CASES[language].items():
        assert normalize_text(written, language).casefold() == spoken.casefold()


def test_every_table_has_cases_and_other_languages_stay_as_they_are() -> None:
    assert known_languages() == CASES.keys()
    assert normalize_text("Det är 21.5 °C.", "sv") == "Det är 21.5 °C."


@pytest.mark.parametrize("language", CASES)
def test_words_and_impossible_dates_are_left_alone(language: str) -> None:
    for text in ("1.2.3.4", "192.168.1.4", "99.99.2026", "abc", "A4", "3M", "2026"):
        assert normalize_text(text, language) == text


def test_hostile_input_takes_linear_time() -> None:
    begun_s = time.monotonic()
    for text in ("1." * 20_000, "1 " * 20_000, "-" * 40_000, "1:1" * 15_000, "$" * 40_000, "a. " * 15_000):
        normalize_text(text, "de")
    assert time.monotonic() - begun_s < 20
