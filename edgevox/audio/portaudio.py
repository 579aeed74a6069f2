"""The door to PortAudio: where the library is missing, a message and not a traceback."""

from __future__ import annotations

import importlib
import threading
from types import ModuleType
from typing import Any

from edgevox.errors import DeviceUnavailable

# PortAudio's own lists have no lock: streams are opened and closed by one thread at a time.
stream_lock = threading.Lock()


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


def look_again() -> None:
    """Have PortAudio list its devices anew, which it else does once; no stream may be open."""
    sounddevice = portaudio()
    with stream_lock:
        sounddevice._terminate()
        sounddevice._initialize()
