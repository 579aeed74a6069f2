"""The catalogue of the setup's sentences: the English text is the key, messages.toml has the other languages."""

from __future__ import annotations

from collections.abc import Mapping

from edgevox.core.files import packaged_toml


class Messages:
    """The sentences of one language; those that it lacks are English."""

    def __init__(self, language: str) -> None:
        self._table: Mapping[str, str] = packaged_toml("cli/ui/messages.toml").get(language, {})

    def __call__(self, text: str, **values: object) -> str:
        """The sentence, with its values filled in: "Which {language} voice?"."""
        translated = self._table.get(text, text)
        return translated.format(**values) if values else translated
