"""What is said when an engine failed and a turn was lost: one sentence, its sound made beforehand.

The voice may be what has failed, so the sentence cannot be left to it at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping

from edgevox.types import Audio
from edgevox.voice.mouth import Mouth

# In a language that is not here a tone says it.
PHRASES: Mapping[str, str] = {
    "en": "Sorry, something went wrong. Please say that again.",
    "de": "Entschuldigung, da ist etwas schiefgegangen. Bitte sag das noch einmal.",
    "fr": "Désolé, quelque chose n'a pas marché. Peux-tu répéter, s'il te plaît ?",
    "es": "Perdona, algo ha fallado. Repítelo, por favor.",
    "it": "Scusa, qualcosa non ha funzionato. Ripeti, per favore.",
    "nl": "Sorry, er ging iets mis. Zeg dat nog eens, alsjeblieft.",
}


class Apology:
    """The sentence of each language, synthesized once, when nobody waits for it."""

    def __init__(self, mouth: Mouth) -> None:
        self._mouth = mouth
        self._made: dict[str, Audio] = {}
        """As loud as the synthesizer makes them."""

    async def prepare(self, language: str) -> None:
        """Have it ready in that language. Raises EngineFailed."""
        if language not in self._made and (phrase := PHRASES.get(language)):
            self._made[language] = await self._mouth.voice.sound_of(phrase, language)

    def sound(self, language: str) -> Audio | None:
        """The sentence, as loud as the voice is now; None where it is not ready."""
        made = self._made.get(language)
        return self._mouth.as_loud_as_voice(made) if made else None
