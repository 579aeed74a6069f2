"""Runs llama.cpp's own server tests against `edgevox serve`: `python -m tests.server.llama_cpp_tests [FOLDER]`.

FOLDER is a checkout of llama.cpp, or its sources in the folder vendor/llama.cpp of llama-cpp-python's source package;
without one, the tests of the commit that the lists were made with are fetched into build/llama.cpp. Which tests apply,
and why the others do not, is in llama_cpp_tests.toml. The server has the preset smollm2-135m under the names that the
tests ask for, without tools of its own. `--json FILE` keeps the counts of each file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from benchmarks.hardware import describe
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
    read_at: str
    """The commit that the lists were made with."""

    @classmethod
    def read(cls) -> Lists:
        data: dict[str, Any] = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
        reasons = {name: reason for reason, names in data["reasons"].items() for name in names}
        return cls(tuple(data["applies"]), reasons, data["files"], data["read_at"])

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


def fetched(commit: str) -> Path:
    """The tests at that commit, without the rest of llama.cpp."""
    folder = _ROOT / "build" / "llama.cpp"
    if not folder.exists():
        # No tree but that of the commit: a shallow clone has the newest commit only.
        options = ("--quiet", "--filter=tree:0", "--no-checkout")
        subprocess.run(["git", "clone", *options, _SOURCE, folder], check=True)
    subprocess.run(["git", "-C", folder, "sparse-checkout", "set", "tools/server/tests"], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", commit], check=True)
    return folder


def counts(applying: Sequence[str], others: Sequence[str], report: Path) -> dict[str, dict[str, int]]:
    """Of each file: how many tests apply, how many of these passed, and how many do not apply."""
    failed = Counter(
        case.get("classname", "").rpartition(".")[2] + ".py"
        for case in ET.parse(report).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    )
    apply, do_not = (Counter(test.partition("::")[0] for test in tests) for tests in (applying, others))
    return {
        name: {"apply": apply[name], "passed": apply[name] - failed[name], "do_not_apply": do_not[name]}
        for name in sorted(apply | do_not)
    }


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
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the counts of each file")
    parser.add_argument("--source", default="a local copy", help="what FOLDER is, for the result")
    args = parser.parse_args()
    lists = Lists.read()
    if args.folder is not None and not (args.folder / "tools" / "server" / "tests").is_dir():
        parser.error(f"{args.folder} has no tools/server/tests: it is no checkout of llama.cpp")
    with tempfile.TemporaryDirectory() as scratch:
        modules, report = Path(scratch) / "modules", Path(scratch) / "report.xml"
        modules.mkdir()
        (modules / "wget.py").touch()  # downloads the models of llama-server
        (modules / "edgevox_port.py").write_text(_PLUGIN, encoding="utf-8")
        with served(Path(scratch)) as port:
            environ = {**os.environ, "DEBUG_EXTERNAL": "1", "PORT": port, "PYTHONPATH": str(modules)}
            tests = (args.folder or fetched(lists.read_at)) / "tools" / "server" / "tests"

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
                *(f"--junit-xml={report}", *(f"unit/{test}" for test in applying)),
            )
        by_file = counts(applying, [*others], report)
    for test, reason in others.items():
        print(f"does not apply: {test}: {reason}")
    for name, reason in lists.files.items():
        print(f"does not apply: {name}: {reason}")
    for test in unlisted:
        print(f"in no list: {test}")
    print(
        f"{len(applying)} apply, {len(others)} tests and {len(lists.files)} files do not, {len(unlisted)} are unlisted"
    )
    if args.json:
        kept = {
            "hardware": describe(),
            "source": f"llama.cpp {lists.read_at}" if args.folder is None else args.source,
            "apply": len(applying),
            "passed": sum(count["passed"] for count in by_file.values()),
            "do_not_apply": len(others),
            "files_that_do_not_apply": len(lists.files),
            "unlisted": unlisted,
            "files": by_file,
        }
        args.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(result.returncode or (1 if unlisted else 0))


if __name__ == "__main__":
    main()
