"""How people say yes and no, language by language. What can mean anything else is in no list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from edgevox.languages import ENGLISH


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """Phrases in small letters and without marks: "d'accord" is "daccord"."""

    yes: tuple[str, ...]
    no: tuple[str, ...]
    polite: tuple[str, ...]
    """They may stand beside a yes, and are none alone: "merci" is often a no."""
    idioms: tuple[str, ...]
    """They hold a no, or a yes, and are neither."""


_WORDS = {
    ENGLISH: AnswerWords(
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
        idioms=(
            *("no problem", "no doubt", "no worries", "why not", "not sure", "dont know", "do not know"),
        ),
    ),
    "de": AnswerWords(
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
    "fr": AnswerWords(
        yes=("oui", "daccord", "bien sûr", "vas y", "allez y", "fais le", "faites le", "je confirme"),
        no=(
            *("non", "pas", "jamais", "arrête", "arrêtez", "annule", "annulez", "attends", "attendez"),
            *("laisse", "laisse tomber", "surtout pas", "bien sûr que non", "pas daccord"),
        ),
        polite=("sil te plaît", "sil vous plaît", "merci", "maintenant", "alors", "et"),
        idioms=("pourquoi pas", "sais pas", "pas sûr", "pas sûre", "pas de problème", "pas de souci"),
    ),
    "es": AnswerWords(
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
    "it": AnswerWords(
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
    "nl": AnswerWords(
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
def answer_words(language: str) -> AnswerWords:
    """How somebody answers who speaks that language: in it, or in English, as the question was."""
    english, own = _WORDS[ENGLISH], _WORDS.get(language)
    if own is None or own is english:
        return english
    return AnswerWords(
        english.yes + own.yes, english.no + own.no, english.polite + own.polite, english.idioms + own.idioms
    )
