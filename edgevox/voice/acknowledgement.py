"""What is said when a reply lets itself be waited for: a few words, and their sound made beforehand."""

from __future__ import annotations

from collections import defaultdict, deque
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
    """The phrases of a language in turn. Each is synthesized once, when nobody waits for it."""

    def __init__(self, mouth: Mouth) -> None:
        self._mouth = mouth
        self._made: defaultdict[str, deque[Audio]] = defaultdict(deque)
        """By language, the next one first, as loud as the synthesizer makes them."""

    async def prepare(self, language: str) -> None:
        """Make one more, as long as there are more. Raises EngineFailed."""
        made = self._made[language]
        count = len(made)
        for phrase in PHRASES.get(language, ())[count : count + 1]:
            sound = await self._mouth.voice.sound_of(phrase, language)
            if len(made) == count:  # nobody else has made it meanwhile
                made.appendleft(sound)

    def take(self, language: str) -> Audio | None:
        """The next one, as loud as the voice is now; None where none is ready."""
        made = self._made[language]
        if not made:
            return None
        made.rotate(-1)
        return self._mouth.as_loud_as_voice(made[-1])
