"""What the guided setup does to this machine: sound, speech, downloads, the home's connection and the service."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Protocol

from edgevox.app import service_unit
from edgevox.app.control.protocol import SimpleRequest
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.io.devices import Device, list_devices
from edgevox.cli.assistant import open_runtime
from edgevox.cli.commands.ask import collect_speech
from edgevox.cli.commands.config import PresetChoice, preset_choices
from edgevox.cli.commands.control import send_request
from edgevox.cli.commands.home import connect_home_assistant, connect_mqtt
from edgevox.cli.commands.serve import install_service
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.sound_check import play_sounds, record_with_meter
from edgevox.core.errors import NotRunning
from edgevox.core.events import EngineName
from edgevox.core.types import Audio
from edgevox.models import ModelEntry, open_store


class Machine(Protocol):
    """The effects of the setup beside the settings file; each raises EdgevoxError where it fails."""

    def devices(self) -> Sequence[Device]: ...

    def record(self, context: Context, device: Device) -> Audio: ...

    def play(self, context: Context, device: Device, sounds: Sequence[Audio]) -> None: ...

    def speech(self, context: Context, text: str, language: str) -> Sequence[Audio]:
        """The audio of a text in the voice of that language, which is downloaded first."""

    def missing_models(self, context: Context, engines: Collection[EngineName]) -> Sequence[ModelEntry]:
        """The models that the settings need and that are not downloaded."""

    def download(self, context: Context, engines: Collection[EngineName]) -> None: ...

    def presets(self, context: Context) -> Sequence[PresetChoice]: ...

    def connect_home_assistant(self, context: Context) -> None:
        """Ask for URL and token, and save them if they work."""

    def connect_mqtt(self, context: Context, address: str, username: str | None, *, tls: bool) -> None:
        """Ask for the password, and save the connection if it works."""

    def has_service(self) -> bool: ...

    def install_service(self, context: Context) -> None:
        """Install and enable the service without starting it."""

    def remove_service(self) -> None: ...

    def start_service(self) -> None: ...

    def starts_at_boot(self) -> bool | None:
        """Whether services of this user start without a login; None if that is unknown."""

    def start_at_boot(self) -> None: ...

    def reload(self, context: Context) -> bool:
        """Make the running assistant use the new settings; False if none runs."""


class LocalMachine:
    """The real one."""

    def devices(self) -> Sequence[Device]:
        return list_devices()

    def record(self, context: Context, device: Device) -> Audio:
        return record_with_meter(device, context.err)

    def play(self, context: Context, device: Device, sounds: Sequence[Audio]) -> None:
        play_sounds(device, sounds, lead_in_ms=context.settings.audio.lead_in_ms)

    def speech(self, context: Context, text: str, language: str) -> Sequence[Audio]:
        runtime = open_runtime(context, ["tts"])
        with context.err.status("preparing the voice …"):
            return run_until_done(collect_speech(runtime, text, language))

    def missing_models(self, context: Context, engines: Collection[EngineName]) -> Sequence[ModelEntry]:
        store = open_store(context.folders)
        needed = AssistantRuntime(context.settings, context.folders, store, engines).models.needed()
        return [store.manifest.entry(model) for model in dict.fromkeys(needed) if not store.has(model)]

    def download(self, context: Context, engines: Collection[EngineName]) -> None:
        open_runtime(context, engines)

    def presets(self, context: Context) -> Sequence[PresetChoice]:
        return preset_choices(context)

    def connect_home_assistant(self, context: Context) -> None:
        connect_home_assistant(context, None)

    def connect_mqtt(self, context: Context, address: str, username: str | None, *, tls: bool) -> None:
        connect_mqtt(context, address, username=username, tls=tls, ca_file=None)

    def has_service(self) -> bool:
        return sys.platform != "darwin" and service_unit.unit_path().exists()

    def install_service(self, context: Context) -> None:
        install_service(context, start=False)

    def remove_service(self) -> None:
        service_unit.uninstall()

    def start_service(self) -> None:
        service_unit.systemctl("restart", service_unit.UNIT)

    def starts_at_boot(self) -> bool | None:
        return service_unit.lingers()

    def start_at_boot(self) -> None:
        service_unit.enable_linger()

    def reload(self, context: Context) -> bool:
        with suppress(NotRunning):
            run_until_done(send_request(context, SimpleRequest(do="reload")))
            return True
        return False
