"""Which voice speaks which language, and what is said of a choice that cannot be."""

from __future__ import annotations

import pytest

from edgevox.config import TtsSettings
from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.models import Manifest, load_manifest
from edgevox.tts.engines import choose_tts

ENGLISH = "hibari-en_US-heart"
GERMAN = "piper-de_DE-thorsten-medium"
FRENCH = "piper-fr_FR-siwis-medium"


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load_manifest()


def test_by_default_there_is_one_voice_for_english(manifest: Manifest) -> None:
    assert choose_tts(TtsSettings(), manifest).voices == {"en": ENGLISH}


def test_the_default_voice_comes_first_whatever_it_speaks(manifest: Manifest) -> None:
    tts = TtsSettings(voice=GERMAN, voices={"en": ENGLISH, "fr": FRENCH})
    assert list(choose_tts(tts, manifest).voices.items()) == [("de", GERMAN), ("en", ENGLISH), ("fr", FRENCH)]


def test_a_voice_named_for_the_default_voices_language_takes_its_place(manifest: Manifest) -> None:
    own = manifest.entry(ENGLISH).model_copy(update={"id": "my-voice", "language": None})
    both = manifest.joined_with(Manifest(models=(own,)))
    assert choose_tts(TtsSettings(voices={"en": "my-voice"}), both).voices == {"en": "my-voice"}


def test_a_voice_of_ones_own_that_does_not_say_its_language_speaks_what_the_settings_say(manifest: Manifest) -> None:
    own = manifest.entry(ENGLISH).model_copy(update={"id": "my-voice", "language": None})
    both = manifest.joined_with(Manifest(models=(own,)))
    assert choose_tts(TtsSettings(voices={"da": "my-voice"}), both).voices == {"en": ENGLISH, "da": "my-voice"}


def test_a_voice_that_nobody_has_gets_the_nearest(manifest: Manifest) -> None:
    with pytest.raises(ModelMissing, match="unknown model") as caught:
        choose_tts(TtsSettings(voices={"de": "piper-de_DE-thorsten"}), manifest)
    assert GERMAN in caught.value.hint


def test_a_voice_for_another_language_is_refused(manifest: Manifest) -> None:
    with pytest.raises(ConfigError, match=r"tts\.voices\.de: .*siwis.* speaks French, not German"):
        choose_tts(TtsSettings(voices={"de": FRENCH}), manifest)


def test_what_is_no_voice_is_refused(manifest: Manifest) -> None:
    with pytest.raises(ConfigError, match=r"tts\.voice: whisper-base is no voice"):
        choose_tts(TtsSettings(voice="whisper-base"), manifest)
