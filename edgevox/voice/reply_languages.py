"""Which language a reply is in: the one that was spoken, where the model and a voice speak it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from edgevox.languages import ENGLISH


class ReplyLanguages:
    """`model` are the languages that the model speaks, None for all; `voices` those of the voices.

    The first voice is the default. Without voices the reply is only read, and can be in any language.
    `expected` is the language that is always spoken, where the settings say so.
    """

    def __init__(
        self,
        *,
        model: Collection[str] | None = None,
        voices: Sequence[str] = (ENGLISH,),
        expected: str | None = None,
    ) -> None:
        self._model = model
        self._voices = voices
        self._expected = expected

    def reply_to(self, spoken: str) -> str:
        """The language of a reply; `spoken` is "" where that is not known, as in what was typed."""
        spoken = spoken or self._expected or ""
        if spoken and self._is_known(spoken) and (not self._voices or spoken in self._voices):
            return spoken
        return next((language for language in self._voices if self._is_known(language)), ENGLISH)

    def to_be_told(self, spoken: str) -> str | None:
        """The language that the model has to be told to answer in; None where it will do so by itself."""
        reply = self.reply_to(spoken)
        if not spoken or (reply == ENGLISH and (spoken == ENGLISH or not self._is_known(spoken))):
            return None
        return reply

    def _is_known(self, language: str) -> bool:
        return self._model is None or language in self._model
