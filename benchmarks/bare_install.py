"""From a bare Debian to the first answer, each way of installing: `python -m benchmarks.bare_install` (as root).

debootstrap makes one userland per release, once: a minimal system with git, make and certificates. Each measurement has
an overlay over it, with a clone of this commit, and ends when the question on standard input is answered; what lies in
the overlay then is what the way took. Nothing is cached: no packages, no compiled files, no models. The machine's
package mirrors, proxies, certificates and package index are used.

With `--compiled` llama.cpp is compiled once per release: later results say that theirs was not.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchmarks.hardware import describe

ROOT = Path(__file__).resolve().parents[1]
RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
QUESTION = "Turn on the kitchen light."
ANSWER = re.compile(r"kitchen light", re.IGNORECASE)
BOUND_S = 3600.0
_CLONE = "/srv/edgevox"
_PIP_LOG = "/var/log/pip.log"
_WHEELS = "/mnt/wheels"
_VARIABLES = re.compile(r"(?i).*_proxy|PIP_(INDEX_URL|EXTRA_INDEX_URL|CERT|DEFAULT_TIMEOUT)|.*_CA_BUNDLE|SSL_CERT_\w+")
_FILES = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of the guide, and the part of the time that its beginning is counted under."""

    part: str
    line: str


WAYS = {
    "make run": (Command("apt", f'echo "{QUESTION}" | make run'),),
    "deb": (
        Command("apt", "make deb"),
        Command("apt", "apt-get install -y ./dist/edgevox-assistant_*.deb"),
        Command("models", f'cd && echo "{QUESTION}" | edgevox run'),
    ),
    "pipx": (
        Command("apt", "make wheel"),
        Command("apt", "apt-get update && apt-get install -y libportaudio2 g++ pipx"),
        Command("downloads", 'CMAKE_ARGS="$(script/llama-cmake-args)" pipx install dist/edgevox_assistant-*.whl'),
        Command("models", f'cd && echo "{QUESTION}" | ~/.local/bin/edgevox run'),
    ),
}

# What begins when a line is printed, or written to the log of pip.
_SHOWN = (
    (re.compile(r"making a virtual environment|building the wheel|installing Python packages"), "downloads"),
    (re.compile(r"edgevox deb:\S* packing"), "packing"),
    (re.compile(r"edgevox setup:\S* done"), "models"),
    (re.compile(r": complete$"), "answer"),
)
_LOGGED = (
    (re.compile(r"Building wheel for llama.cpp.python .*: started"), "compile"),
    (re.compile(r"Building wheel for llama.cpp.python .*: finished"), "install"),
)
_LOG_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3}) (.*)")


@dataclass
class Transcript:
    """The printed lines with their times, and when each part began."""

    begun: list[tuple[float, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    answer: str = ""
    ended_s: float = 0.0

    def add_log(self, log: Path) -> None:
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else ():
            if match := _LOG_LINE.match(line):
                at = dt.datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S,%f").replace(tzinfo=dt.UTC)
                self.begun += [(at.timestamp(), part) for pattern, part in _LOGGED if pattern.search(match[2])]

    def parts_s(self) -> dict[str, float]:
        """Seconds of each part, in the order in which they came first."""
        begun = sorted(self.begun)
        ends = [at for at, _ in begun[1:]] + [self.ended_s]
        parts: dict[str, float] = {}
        for (at, part), end in zip(begun, ends, strict=True):
            parts[part] = parts.get(part, 0.0) + end - at
        return {part: round(seconds) for part, seconds in parts.items()}


class Userland:
    """A root folder: commands run in it as root, in mount and process namespaces of their own.

    `mounts` are shell commands, in which $0 is the root.
    """

    def __init__(self, root: Path, mounts: Sequence[str] = ()) -> None:
        self.root = root
        self._mounts = mounts

    def run(self, line: str, folder: str, transcript: Transcript, **env: str) -> int:
        """The exit code; adds what it printed to the transcript."""
        own = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        own |= {"HOME": "/root", "PIP_LOG": _PIP_LOG, "TZ": "UTC"}
        own |= {name: value for name, value in os.environ.items() if _VARIABLES.fullmatch(name)} | env
        inside = f"cd {folder} && {line}"
        mount = " && ".join((*self._mounts, 'mount -t proc proc "$0/proc"', 'mount --rbind /dev "$0/dev"'))
        enter = f'{mount} && exec chroot "$0" /bin/sh -c "$1"'
        process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter, str(self.root), inside],
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        readers = [
            threading.Thread(target=_read, args=(stream, transcript, is_answer))
            for stream, is_answer in ((process.stdout, True), (process.stderr, False))
        ]
        for reader in readers:
            reader.start()
        try:
            code = process.wait(BOUND_S)
        finally:
            process.kill()
            for reader in readers:
                reader.join()
            transcript.ended_s = time.time()
        return code


def _read(stream: IO[str], transcript: Transcript, is_answer: bool) -> None:
    for line in stream:
        now_s, text = time.time(), line.rstrip()
        print(f"  {text}", file=sys.stderr, flush=True)
        transcript.lines.append(text)
        transcript.begun += [(now_s, part) for pattern, part in _SHOWN if pattern.search(text)]
        if is_answer and ANSWER.search(text):
            transcript.answer = text


def make_userland(release: str, folder: Path) -> Path:
    """The root folder of a bare release, made if it is not there."""
    root = folder / release
    if not (root / "etc/debian_version").exists():
        mirror = _mirror()
        include = "--include=ca-certificates,git,make"
        subprocess.run(["debootstrap", "--variant=minbase", include, release, root, mirror], check=True)
    for name in _FILES:
        if Path("/", name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path("/", name), root / name)
    return root


def _mirror() -> str:
    """The first package mirror of this machine."""
    sources = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for source in sources:
        text = source.read_text(encoding="utf-8") if source.exists() else ""
        if match := re.search(r"^(?:URIs:|deb(?:-src)?(?: \[.*\])?)\s+(\S+/debian)/?\s", text, re.MULTILINE):
            return match[1]
    return "http://deb.debian.org/debian"


@contextlib.contextmanager
def overlay(lower: Path, folder: Path, mounts: Sequence[str]) -> Iterator[tuple[Userland, Path]]:
    """An empty layer over a root folder, and where its files are; both are deleted at the end."""
    upper, work, root = (folder / name for name in ("upper", "work", "root"))
    for path in (upper, work, root):
        path.mkdir(parents=True)
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    try:
        yield Userland(root, [f'mount -t overlay overlay -o "{options}" "$0"', *mounts]), upper
    finally:
        shutil.rmtree(folder)


def _clone(target: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--no-local", "--depth=1", f"file://{ROOT}", target], check=True)


def _cpu_s() -> float:
    """Processor time of the commands so far: what other work on the machine does not change."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _megabytes(path: Path) -> int:
    if not path.exists():
        return 0
    usage = subprocess.run(["du", "-s", "--block-size=1000000", path], capture_output=True, text=True, check=True)
    return int(usage.stdout.split()[0])


def measure(release: str, way: str, folder: Path, *, compiled: bool) -> dict[str, object]:
    """Seconds of each part, megabytes, and the answer. Raises RuntimeError where a command fails or does not answer."""
    lower = make_userland(release, folder)
    load = os.getloadavg()[0]
    wheels = folder / f"{release}-wheels"
    env = {"PIP_FIND_LINKS": _WHEELS} if compiled and wheels.exists() else {}
    mounts = [f'mkdir -p "$0{_WHEELS}" && mount --bind "{wheels}" "$0{_WHEELS}"'] if env else []
    with overlay(lower, folder / f"{release}-{way.replace(' ', '-')}", mounts) as (userland, upper):
        _clone(upper / _CLONE.lstrip("/"))
        clone_mb = _megabytes(upper)
        transcript = Transcript()
        began_s, cpu_began_s = time.time(), _cpu_s()
        for command in WAYS[way]:
            print(f"{release}: {command.line}", file=sys.stderr, flush=True)
            transcript.begun.append((time.time(), command.part))
            if (code := userland.run(command.line, _CLONE, transcript, **env)) != 0:
                raise RuntimeError(f"{release}, {way}: {command.line!r} ended with {code}")
        if not transcript.answer:
            raise RuntimeError(f"{release}, {way}: no answer")
        for log in (_PIP_LOG, f"{_CLONE}/.venv/edgevox-setup.log"):
            transcript.add_log(upper / log.lstrip("/"))
        clone = _CLONE.lstrip("/")
        parts_mb = {
            part: sum(_megabytes(upper / path) for path in paths)
            for part, paths in {
                "system packages": ("usr", "var"),
                "program": ("opt", "root/.local", f"{clone}/.venv"),
                "package": (f"{clone}/dist",),
                "models": ("root/.cache/edgevox",),
                "pip's cache": ("root/.cache/pip",),
            }.items()
        }
        wheels.mkdir(exist_ok=True)
        for wheel in (upper / "root/.cache/pip/wheels").rglob("llama_cpp_python-*.whl"):
            shutil.copy(wheel, wheels)
        return {
            "release": RELEASES[release],
            "way": way,
            "total_s": round(transcript.ended_s - began_s),
            "cpu_s": round(_cpu_s() - cpu_began_s),
            "parts_s": transcript.parts_s(),
            "compiled": not env,
            "added_mb": _megabytes(upper) - clone_mb,
            "parts_mb": parts_mb,
            "load_average": [round(load, 1), round(os.getloadavg()[0], 1)],
            "answer": transcript.answer,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", choices=RELEASES, action="append", help="all of them without it")
    parser.add_argument("--way", choices=WAYS, action="append", help="all of them without it")
    parser.add_argument("--folder", type=Path, default=Path("build/bare"), help="for userlands; 4 GB")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results, beside those that are there")
    parser.add_argument("--compiled", action="store_true", help="compile llama.cpp once per release")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for release in args.release or RELEASES:
        for way in args.way or WAYS:
            result = measure(release, way, args.folder.resolve(), compiled=args.compiled)
            print(json.dumps(result), flush=True)
            if args.json:
                _keep(args.json, result)


def _keep(path: Path, result: dict[str, object]) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    kept = [one for one in kept if (one["release"], one["way"]) != (result["release"], result["way"])]
    results = sorted([*kept, result], key=lambda one: (one["release"], one["way"]))
    path.write_text(json.dumps({"hardware": describe(), "results": results}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
