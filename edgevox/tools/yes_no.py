"""Classifies an answer as yes, no or unclear without a model, in every reply language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from edgevox.core.languages import ENGLISH


@dataclass(frozen=True, slots=True)
class YesNoWords:
    """Phrases in lower case and without apostrophes: "d'accord" is "daccord"."""

    yes: tuple[str, ...]
    no: tuple[str, ...]
    polite: tuple[str, ...]
    """Allowed beside a yes, but not a yes alone: "merci" is often a no."""
    idioms: tuple[str, ...]
    """Phrases that contain a no or a yes, but are neither."""


_WORDS = {
    ENGLISH: YesNoWords(
        yes=(
            *("yes", "yeah", "yep", "yup", "yea", "aye", "sure", "sure thing", "okay", "ok", "alright"),
            *("all right", "affirmative", "correct", "confirm", "confirmed", "i confirm", "absolutely"),
            *("definitely", "certainly", "of course", "by all means", "do it", "do that", "do so"),
            *("go ahead", "go for it", "i do", "please do", "please do it", "please do that", "i am sure"),
            *("im sure", "thats right", "that is right", "thats correct", "that is correct"),
        ),
        no=(
            *("no", "nope", "nah", "no way", "no thanks", "no thank you", "negative", "not", "never"),
            *("stop", "cancel", "abort", "quit", "wait", "hold on", "never mind", "nevermind"),
            *("forget it", "leave it", "not now", "not yet", "rather not", "better not", "please dont"),
            *("absolutely not", "definitely not", "certainly not", "of course not"),
            *("dont", "do not", "dont do it", "do not do it", "dont do that", "do not do that"),
        ),
        polite=("please", "thanks", "thank you", "now", "then", "and"),
        idioms=(*("no problem", "no doubt", "no worries", "why not", "not sure", "dont know", "do not know"),),
    ),
    "de": YesNoWords(
        yes=("ja", "jawohl", "einverstanden", "natürlich", "mach das", "mach es", "tu es", "tu das"),
        no=(
            *("nein", "nee", "nö", "ne", "nicht", "nie", "niemals", "kein", "keine", "keinen", "keinesfalls"),
            *("halt", "stopp", "warte", "abbrechen", "lass es", "lass das", "lieber nicht"),
            *("auf keinen fall", "natürlich nicht"),
        ),
        polite=("bitte", "gern", "gerne", "danke", "jetzt", "dann", "und"),
        idioms=(
            "warum nicht",
            "weiß nicht",
            "weiß ich nicht",
            "nicht sicher",
            "kein problem",
            "keine ahnung",
        ),
    ),
    "fr": YesNoWords(
        yes=("oui", "daccord", "bien sûr", "vas y", "allez y", "fais le", "faites le", "je confirme"),
        no=(
            *("non", "pas", "jamais", "arrête", "arrêtez", "annule", "annulez", "attends", "attendez"),
            *("laisse", "laisse tomber", "surtout pas", "bien sûr que non", "pas daccord"),
        ),
        polite=("sil te plaît", "sil vous plaît", "merci", "maintenant", "alors", "et"),
        idioms=("pourquoi pas", "sais pas", "pas sûr", "pas sûre", "pas de problème", "pas de souci"),
    ),
    "es": YesNoWords(
        yes=(
            "sí",
            "si",
            "claro",
            "claro que sí",
            "por supuesto",
            "de acuerdo",
            "hazlo",
            "adelante",
            "confirmo",
        ),
        no=(
            *("nunca", "jamás", "para", "espera", "cancela", "déjalo", "mejor no", "tampoco", "basta"),
            *("claro que no", "por supuesto que no"),
        ),
        polite=("por favor", "gracias", "ahora", "entonces", "y"),
        idioms=(
            *("por qué no", "cómo no", "no sé", "no lo sé", "no estoy seguro", "no estoy segura"),
            "no hay problema",
        ),
    ),
    "it": YesNoWords(
        yes=("sì", "si", "certo", "certamente", "va bene", "daccordo", "procedi", "fallo", "fai pure"),
        no=(
            *("non", "mai", "ferma", "fermo", "fermati", "aspetta", "annulla", "basta", "lascia stare"),
            *("lascia perdere", "meglio di no", "certo che no", "non va bene"),
        ),
        polite=("per favore", "per piacere", "grazie", "adesso", "ora", "allora", "e"),
        idioms=(
            *("perché no", "come no", "non so", "non lo so", "non sono sicuro", "non sono sicura"),
            "nessun problema",
        ),
    ),
    "nl": YesNoWords(
        yes=("ja", "zeker", "natuurlijk", "doe maar", "doe het", "akkoord"),
        no=(
            *("nee", "neen", "niet", "nooit", "geen", "wacht", "hou op", "annuleer", "laat maar"),
            *("liever niet", "zeker niet", "natuurlijk niet"),
        ),
        polite=("alsjeblieft", "alstublieft", "graag", "bedankt", "dank je", "dank u", "nu", "dan", "en"),
        idioms=(
            *("waarom niet", "weet niet", "weet het niet", "weet ik niet", "niet zeker"),
            *("geen probleem", "geen idee"),
        ),
    ),
}


@cache
def yes_no_words(language: str) -> YesNoWords:
    """The phrases of a language, with the English ones: people may answer in either."""
    english, own = _WORDS[ENGLISH], _WORDS.get(language)
    if own is None or own is english:
        return english
    return YesNoWords(
        english.yes + own.yes, english.no + own.no, english.polite + own.polite, english.idioms + own.idioms
    )


Answer: TypeAlias = Literal["yes", "no", "unclear"]

# A longer sentence says something other than a plain yes.
_MAX_YES_WORDS = 6


def decide_yes_no(text: str, language: str = ENGLISH) -> Answer:
    """Classify the answer to a question such as "Unlock the front door?"; in doubt it is unclear.

    A yes must be nothing but a yes: "yes but", "yeah no", "I guess", a question or a long sentence is not one.
    A no may come with reasons. The answer may be in `language` or in English.
    """
    known = yes_no_words(language)
    words = _words(text)
    if not words or "?" in text:
        return "unclear"
    spoken = f" {' '.join(words)} "
    if any(f" {idiom} " in spoken for idiom in known.idioms):
        return "unclear"
    without_no = _without(spoken, known.no)
    if without_no != spoken:
        # "of course not" is not a yes, "yeah no" is neither.
        return "unclear" if _holds_any(without_no, known.yes) else "no"
    if len(words) > _MAX_YES_WORDS:
        return "unclear"
    rest = _without(_without(spoken, known.yes), known.polite)
    return "yes" if _holds_any(spoken, known.yes) and not rest.split() else "unclear"


def _words(text: str) -> list[str]:
    # Recognisers write "I'm" with either apostrophe.
    plain = text.casefold().replace("'", "").replace("’", "")
    return re.findall(r"[^\W_]+", plain)


def _holds_any(spoken: str, phrases: tuple[str, ...]) -> bool:
    return any(f" {phrase} " in spoken for phrase in phrases)


def _without(spoken: str, phrases: tuple[str, ...]) -> str:
    # Longest first: "all right" before "right", "no thanks" before "no".
    for phrase in sorted(phrases, key=len, reverse=True):
        while f" {phrase} " in spoken:
            spoken = spoken.replace(f" {phrase} ", " | ")
    return spoken.replace("|", " ")
