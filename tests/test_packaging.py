"""The Debian package and the container recipe, as far as they can be checked without privileges."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.cli.command import find_commands, whole_parser
from edgevox.config import Settings

_ROOT = Path(__file__).resolve().parents[1]
_BOUND_S = 120.0

needs_debian = pytest.mark.skipif(
    shutil.which("dpkg-deb") is None or not Path("/usr/bin/python3").exists(), reason="no Debian tools"
)


def _minor(python: str) -> str:
    program = "import sys; print(sys.version_info[:2])"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout


@needs_debian
def test_the_debian_package_has_command_unit_manual_page_and_completion(tmp_path: Path) -> None:
    if _minor("/usr/bin/python3") != _minor(sys.executable):
        pytest.skip("the system's Python has another version")
    for name in ("edgevox", "LICENSE", "NOTICE", "CHANGELOG.md"):
        (tmp_path / name).symlink_to(_ROOT / name)
    shutil.copytree(_ROOT / "script", tmp_path / "script")  # it writes to dist beside its folder
    site = tmp_path / "site"
    site.mkdir()
    env = os.environ | {"PYTHON": sys.executable, "EDGEVOX_DEB_SITE": str(site), "PYTHONPATH": str(_ROOT)}
    built = subprocess.run(
        [tmp_path / "script" / "deb"], env=env, capture_output=True, text=True, timeout=_BOUND_S, check=True
    )
    package, root = tmp_path / built.stdout.strip(), tmp_path / "root"
    subprocess.run(["dpkg-deb", "-x", package, root], check=True, timeout=_BOUND_S)
    control = subprocess.run(["dpkg-deb", "-f", package], capture_output=True, text=True, check=True).stdout
    assert "Package: edgevox-assistant\n" in control
    assert "libportaudio2" in control
    assert (root / "usr/bin/edgevox").readlink() == Path("/opt/edgevox/bin/edgevox")
    assert "ExecStart=" in (root / "usr/lib/systemd/user/edgevox.service").read_text()
    assert "models" in (root / "usr/share/bash-completion/completions/edgevox").read_text()
    page = gzip.decompress((root / "usr/share/man/man1/edgevox.1.gz").read_bytes()).decode()
    assert not [
        name for name in find_commands() if f"edgevox {name}" not in page.replace("\\fR", "").replace("\\fB", "")
    ]
    # The link of the environment leads to the system's Python, which takes the folder for its own.
    program = [str(root / "opt/edgevox/bin/python3"), "-c", "import sys; print(sys.prefix)"]
    told = subprocess.run(program, capture_output=True, text=True, check=True, timeout=_BOUND_S)
    assert told.stdout.strip() == str(root / "opt/edgevox")


def _steps() -> list[tuple[str, str]]:
    """The instructions of the recipe with their arguments, continuation lines joined."""
    text = (_ROOT / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def test_the_steps_of_the_container_lead_to_files_commands_and_ports_that_exist() -> None:
    steps = _steps()
    assert {name for name, _ in steps} <= {"FROM", "COPY", "WORKDIR", "RUN", "USER", "VOLUME", "ENV", "EXPOSE", "CMD"}
    stages = {rest.split(" AS ")[1] for name, rest in steps if name == "FROM"}
    assert {"server", "desktop"} <= stages
    for name, rest in steps:
        match name:
            case "CMD":
                command = json.loads(rest)
                assert command[0] == "edgevox"
                assert whole_parser().parse_args(command[1:]).run
            case "COPY" if "--from=" in rest:
                assert re.search(r"--from=(\w+)", rest)[1] in stages  # type: ignore[index]
            case "COPY":
                assert (_ROOT / rest.split()[0]).exists()
            case "EXPOSE":
                assert int(rest) == Settings().server.port
            case "RUN" if rest.startswith("script/"):
                assert os.access(_ROOT / rest, os.X_OK)
            case _:
                pass


def test_the_variables_of_the_container_are_those_of_the_folders() -> None:
    [folders] = [rest for name, rest in _steps() if name == "ENV" and "EDGEVOX" in rest]
    names = {pair.partition("=")[0] for pair in folders.split()}
    assert names == {"EDGEVOX_CONFIG_DIR", "EDGEVOX_STATE_DIR", "EDGEVOX_MODELS_DIR"}
    assert all(pair.partition("=")[2].startswith("/data/") for pair in folders.split())
