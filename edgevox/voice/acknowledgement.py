"""What is said when a reply lets itself be waited for: a few words, and their sound made beforehand."""

from __future__ import annotations

from collections.abc import Mapping

from edgevox.types import Audio
from edgevox.voice.mouth import Mouth

# Short: the reply may be ready the moment one begins. In a language that is not here nothing is said.
PHRASES: Mapping[str, tuple[str, ...]] = {
    "en": ("One moment.", "Just a second.", "Let me check."),
    "de": ("Einen Moment.", "Kleinen Augenblick.", "Moment, bitte."),
    "fr": ("Un instant.", "Une seconde.", "Un petit moment."),
    "es": ("Un momento.", "Un segundo.", "Déjame ver."),
    "it": ("Un momento.", "Un attimo.", "Un secondo."),
    "nl": ("Een moment.", "Momentje.", "Even kijken."),
}


class Acknowledgement:
    """The phrases of the voice's language in turn. Each is synthesized once, when nobody waits for it."""

    def __init__(self, mouth: Mouth) -> None:
        self._mouth = mouth
        self._sounds: dict[tuple[str, str], Audio] = {}
        """By language and phrase, as loud as the synthesizer makes them."""
        self._taken = 0

    async def prepare(self) -> None:
        """Have the next one ready. Raises EngineFailed."""
        key = self._next()
        if key is not None and key not in self._sounds:
            self._sounds[key] = await self._mouth.voice.sound_of(key[1], key[0])

    def take(self) -> Audio | None:
        """The next one, as loud as the voice is now; None where it is not ready."""
        sound = self._sounds.get(key) if (key := self._next()) else None
        if sound is None:
            return None
        self._taken += 1
        return self._mouth.as_loud_as_voice(sound)

    def _next(self) -> tuple[str, str] | None:
        language = self._mouth.voice.language
        phrases = PHRASES.get(language[:2].lower())
        return (language, phrases[self._taken % len(phrases)]) if phrases else None
