"""Virtual audio devices: PulseAudio null sinks on a private server."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np

from edgevox.audio.files import write_wav
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.platform import suspended
from edgevox.core.types import Audio

_COMMAND_S = 60.0
_WAIT_S = 10.0
_POLL_S = 0.02
_RECORD_HZ = 44_100
# Would otherwise point to the socket, state and cookie of the user's own server.
_PULSE_PATH_VARIABLES = ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "PULSE_RUNTIME_PATH", "PULSE_STATE_PATH")

# Limits PortAudio to the devices of this server.
_ALSA = """\
pcm.!default { type pulse }
ctl.!default { type pulse }
pcm.pulse { type pulse }
ctl.pulse { type pulse }
"""


class NullSinks:
    """A private PulseAudio server: the sink `spk` is the loudspeaker, and the source `mic` records `micsink`.

    Both are the default devices of a process with the variables in `environment`. The user's own sound server
    is not touched. Raises DeviceUnavailable if PulseAudio is not installed or does not start.
    """

    def __init__(self) -> None:
        self._programs = {name: _program(name) for name in ("pulseaudio", "pactl", "paplay", "parec")}
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that make PortAudio and the PulseAudio tools use these sinks."""
        return {
            "PULSE_SERVER": f"unix:{self._folder / 'native'}",
            "PULSE_COOKIE": str(self._folder / "cookie"),
            "ALSA_CONFIG_PATH": str(self._folder / "asound.conf"),
        }

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="edgevox-sinks-"))
        (self._folder / "asound.conf").write_text(_ALSA)
        try:
            self.start_server()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._server is not None:
            _end(self._server)
            self._server = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def speak(self, wav: Path, sink: str = "micsink") -> None:
        """Play a WAV file to the microphone and wait for its end."""
        self._run("paplay", f"--device={sink}", str(wav))

    def add_devices(self, name: str) -> None:
        """Add a loudspeaker `NAME_spk` and a source `NAME_mic` that records `NAME_micsink`."""
        for words in _devices(f"{name}_"):
            self.control("load-module", *words.split())

    def starve(self, seconds: float) -> None:
        """Suspend the server, as on an overloaded machine; audio is lost."""
        assert self._server is not None
        with suspended(self._server):
            time.sleep(seconds)

    @contextmanager
    def record(self, wav: Path) -> Iterator[None]:
        """Record the loudspeaker during the block, including silence, to a WAV file."""
        raw = self._folder / f"{wav.stem}.raw"
        command = [self._programs["parec"], "--device=spk.monitor", "--raw", "--latency-msec=10"]
        command += ["--format=s16le", "--channels=1", f"--rate={_RECORD_HZ}"]
        with raw.open("wb") as file, subprocess.Popen(command, stdout=file, env=self._variables) as parec:
            try:
                _wait_until(lambda: _recorded_s(raw) > 0, "parec records nothing")
                begun_s = time.monotonic() - _recorded_s(raw)
                yield
                heard_s = time.monotonic() - begun_s
                _wait_until(lambda: _recorded_s(raw) >= heard_s, "parec has stopped recording")
            finally:
                _end(parec)
        samples = np.fromfile(raw, dtype="<i2").astype(np.float32) / np.float32(32_768)
        write_wav(wav, [Audio(samples, _RECORD_HZ)])

    @contextmanager
    def echo(self, *, delay_ms: int = 40) -> Iterator[None]:
        """Loop the loudspeaker back to the microphone at full level during the block."""
        module = self.control(
            "load-module",
            "module-loopback",
            "source=spk.monitor",
            "sink=micsink",
            f"latency_msec={delay_ms}",
            "adjust_time=0",
        )
        yield
        self.control("unload-module", module.strip())

    def control(self, *words: str) -> str:
        """Run `pactl`: `control("unload-module", "module-remap-source")` unplugs the microphone."""
        return self._run("pactl", *words)

    def kill_server(self) -> None:
        """Kill the sound server, as in a crash."""
        assert self._server is not None
        self._server.kill()
        self._server.wait()

    @property
    def _variables(self) -> dict[str, str]:
        return dict(os.environ) | self.environment

    def _run(self, program: str, *words: str) -> str:
        command = [self._programs[program], *words]
        done = subprocess.run(
            command, env=self._variables, capture_output=True, text=True, timeout=_COMMAND_S, check=True
        )
        return done.stdout

    def start_server(self) -> None:
        """Start the sound server, again after `kill_server`. Raises DeviceUnavailable."""
        own = {name: str(self._folder) for name in _PULSE_PATH_VARIABLES}
        command = [self._programs["pulseaudio"], "-n", "--daemonize=no", "--use-pid-file=no"]
        command += ["--exit-idle-time=-1", "--disable-shm=yes", "--log-target=stderr"]
        for module in (
            # Anonymous access instead of the user's cookie: the folder is private anyway.
            f"module-native-protocol-unix auth-anonymous=1 socket={self._folder / 'native'}",
            *_devices(""),
        ):
            command += ["-L", module]
        log = self._folder / "pulseaudio.log"
        with log.open("wb") as file:
            self._server = subprocess.Popen(command, env=dict(os.environ) | own, stdout=file, stderr=file)
        try:
            _wait_until(self._answers, f"PulseAudio does not start: {log}")
        except TimeoutError as error:
            raise DeviceUnavailable(
                "PulseAudio does not start", hint=log.read_text(errors="replace").strip()[-500:]
            ) from error
        self.control("set-default-sink", "spk")
        self.control("set-default-source", "mic")

    def _answers(self) -> bool:
        try:
            return "mic" in self.control("list", "short", "sources")
        except subprocess.CalledProcessError:
            return False


def _devices(prefix: str) -> tuple[str, ...]:
    # A sink with rewinds plays up to two seconds ahead, and its monitor gets that in bursts.
    return (
        f"module-null-sink sink_name={prefix}spk norewinds=1",
        f"module-null-sink sink_name={prefix}micsink norewinds=1",
        f"module-remap-source source_name={prefix}mic master={prefix}micsink.monitor",
    )


def _recorded_s(raw: Path) -> float:
    return raw.stat().st_size / 2 / _RECORD_HZ


def _wait_until(condition: Callable[[], bool], message: str) -> None:
    give_up_s = time.monotonic() + _WAIT_S
    while not condition():
        if time.monotonic() > give_up_s:
            raise TimeoutError(message)
        time.sleep(_POLL_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_WAIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise DeviceUnavailable(
            f"{name} is not installed",
            hint="sudo apt-get install pulseaudio pulseaudio-utils libasound2-plugins libportaudio2",
        )
    return path
