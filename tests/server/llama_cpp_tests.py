"""Runs llama.cpp's own server tests against `edgevox serve`: `python -m tests.server.llama_cpp_tests [FOLDER]`.

FOLDER is a checkout of llama.cpp; without one, its newest tests are fetched into build/llama.cpp. Which tests apply,
and why the others do not, is in llama_cpp_tests.toml. The server has the preset smollm2-135m under the names that the
tests ask for, without tools of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgevox.core.files import data_path
from edgevox.testing.serve import edgevox_serve
from tests.cli.command import TALKING_PRESET, environment

_ROOT = Path(__file__).resolve().parents[2]
_LISTS = Path(__file__).with_suffix(".toml")
_SOURCE = "https://github.com/ggml-org/llama.cpp"
_PRESET = "llama-cpp-tests"
_NAMES = ("test", "test-model", "gpt-3.5-turbo", "gpt-3.5-turbo-instruct", "gpt-4.1", "text-embedding-3-small")
_TOKEN = "sk-this-is-the-secret-key"  # of their tests
# Their helper would start llama-server; a class property keeps it at our port, whatever a test sets.
_PLUGIN = """
import os
import utils

utils.ServerProcess.server_port = property(lambda self: int(os.environ["PORT"]), lambda self, port: None)
"""


@dataclass(frozen=True, slots=True)
class Lists:
    """The tests by whether they apply."""

    applies: tuple[str, ...]
    not_applicable: Mapping[str, str]
    """A reason for each name."""
    files: Mapping[str, str]

    @classmethod
    def read(cls) -> Lists:
        data: dict[str, Any] = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
        reasons = {name: reason for reason, names in data["reasons"].items() for name in names}
        return cls(tuple(data["applies"]), reasons, data["files"])

    def sorted(self, tests: Sequence[str]) -> tuple[list[str], dict[str, str], list[str]]:
        """Return those that apply, those that do not with their reasons, and those in no list."""
        applying, others, unlisted = [], dict[str, str](), []
        for test in tests:
            # The longest name is the most exact one.
            best = max(
                (name for name in (*self.applies, *self.not_applicable) if _names(name, test)), key=len, default=""
            )
            if best in self.applies:
                applying.append(test)
            elif best:
                others[test] = self.not_applicable[best]
            else:
                unlisted.append(test)
        return applying, others, unlisted


def _names(name: str, test: str) -> bool:
    is_beginning = name.endswith("*") and test.startswith(name[:-1])
    return is_beginning or test == name or test.startswith(f"{name}[")


def fetched() -> Path:
    """The newest tests, without the rest of llama.cpp."""
    folder = _ROOT / "build" / "llama.cpp"
    if not folder.exists():
        options = ("--quiet", "--depth=1", "--filter=blob:none", "--sparse")
        subprocess.run(["git", "clone", *options, _SOURCE, folder], check=True)
        subprocess.run(["git", "-C", folder, "sparse-checkout", "set", "tools/server/tests"], check=True)
    return folder


@contextmanager
def served(home: Path) -> Iterator[str]:
    """The port of `edgevox serve`."""
    presets = home / "config" / "presets"
    presets.mkdir(parents=True)
    names = ", ".join(f'"{name}"' for name in _NAMES)
    preset = (data_path("presets") / f"{TALKING_PRESET}.toml").read_text(encoding="utf-8")
    (presets / f"{_PRESET}.toml").write_text(f"aliases = [{names}]\n{preset}", encoding="utf-8")
    tokens = home / "config" / "server_tokens.toml"
    tokens.touch(mode=0o600)
    tokens.write_text(f'[page]\ntoken = "{_TOKEN}"\nscopes = ["*"]\n', encoding="utf-8")
    env = environment(home, EDGEVOX_PRESET=_PRESET, EDGEVOX_TOOLS__ENABLED="false", PYTHONPATH=str(_ROOT))
    with edgevox_serve(env, "--no-audio") as server:
        yield server.address.rpartition(":")[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="a checkout of llama.cpp")
    args = parser.parse_args()
    lists = Lists.read()
    with tempfile.TemporaryDirectory() as scratch:
        modules = Path(scratch) / "modules"
        modules.mkdir()
        (modules / "wget.py").touch()  # downloads the models of llama-server
        (modules / "edgevox_port.py").write_text(_PLUGIN, encoding="utf-8")
        with served(Path(scratch)) as port:
            environ = {**os.environ, "DEBUG_EXTERNAL": "1", "PORT": port, "PYTHONPATH": str(modules)}
            tests = (args.folder or fetched()) / "tools" / "server" / "tests"

            def pytest(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
                command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *words]
                path = os.pathsep.join((str(modules), str(tests.resolve())))
                return subprocess.run(
                    command, cwd=tests, env={**environ, "PYTHONPATH": path}, text=True, check=False, **more
                )

            ignored = [f"--ignore=unit/{name}" for name in lists.files]
            collected = pytest("--collect-only", "-m", "not slow", *ignored, "unit", stdout=subprocess.PIPE).stdout
            found = [line.removeprefix("unit/") for line in collected.splitlines() if line.startswith("unit/")]
            applying, others, unlisted = lists.sorted(found)
            result = pytest(
                *("-p", "edgevox_port", "--tb=short", "--show-capture=no", "--timeout=120"),
                *(f"unit/{test}" for test in applying),
            )
    for test, reason in others.items():
        print(f"does not apply: {test}: {reason}")
    for name, reason in lists.files.items():
        print(f"does not apply: {name}: {reason}")
    for test in unlisted:
        print(f"in no list: {test}")
    print(
        f"{len(applying)} apply, {len(others)} tests and {len(lists.files)} files do not, {len(unlisted)} are unlisted"
    )
    raise SystemExit(result.returncode or (1 if unlisted else 0))


if __name__ == "__main__":
    main()
