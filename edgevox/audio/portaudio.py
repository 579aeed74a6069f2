"""The door to PortAudio: where the library is missing, a message and not a traceback."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from edgevox.errors import DeviceUnavailable


def portaudio() -> Any:  # noqa: ANN401  (sounddevice has no types)
    """The sounddevice module. Raises DeviceUnavailable where PortAudio is not installed."""
    try:
        # Importing sounddevice starts PortAudio, which fails on a machine without it: not at the top.
        module: ModuleType = importlib.import_module("sounddevice")
    except OSError as error:
        raise DeviceUnavailable(
            "PortAudio is not installed, so there is no microphone and no loudspeaker",
            hint="sudo apt-get install libportaudio2",
        ) from error
    return module
