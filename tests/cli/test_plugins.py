"""`edgevox plugins`, and what doctor says of plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.cli.main import main
from edgevox.tools.plugins.manager import Plugins
from edgevox.tools.plugins.sources import package_sources
from edgevox.tools.registry import ToolRegistry
from tests.cli.command import BOUND_S, edgevox, environment


@pytest.fixture(autouse=True)
def plugins_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "config" / "plugins"


def write_plugin(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, mode=0o755, exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    return path


def passed(test_path: Path, cwd: Path) -> str:
    """What pytest says of the tests, run as their author would."""
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test_path)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=BOUND_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


# --- new


@pytest.mark.parametrize("name", ["weather", "my-hub"])
def test_a_new_plugin_works_and_its_tests_pass_as_they_are(
    plugins_folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["plugins", "new", name]) == 0
    said = capsys.readouterr().out
    tool = f"{name.replace('-', '_')}_greet"
    test = plugins_folder / "tests" / f"test_{name.replace('-', '_')}.py"
    assert f"python -m pytest {test}" in said
    assert main(["tools", "call", tool, '{"who": "Mara"}']) == 0
    assert capsys.readouterr().out == "Hello, Mara!\n"
    assert "3 passed" in passed(test, plugins_folder)


@pytest.mark.parametrize(("found", "said"), [(True, "-m pytest"), (False, "its test, for pytest:")])
def test_pytest_is_named_as_a_command_only_where_it_is_installed(
    found: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("edgevox.cli.commands.extensions.find_spec", lambda _name: object() if found else None)
    assert main(["plugins", "new", "weather"]) == 0
    shown = capsys.readouterr().out
    assert said in shown
    assert ("-m pytest" in shown) is found


def test_a_new_plugin_is_trusted_whatever_the_users_mask(plugins_folder: Path) -> None:
    mask = os.umask(0)
    try:
        assert main(["plugins", "new", "weather"]) == 0
    finally:
        os.umask(mask)
    assert plugins_folder.stat().st_mode & 0o022 == 0
    assert (plugins_folder / "weather.py").stat().st_mode & 0o022 == 0


def test_a_new_package_can_be_installed_and_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plugins", "new", "my-hub", "--package"]) == 0
    folder = tmp_path / "edgevox-my-hub"
    assert f"pip install {folder}" in capsys.readouterr().out
    assert "3 passed" in passed(folder / "tests", folder)
    target = tmp_path / "installed"
    installed = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--target", str(target), str(folder)),
        ],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    monkeypatch.syspath_prepend(str(target))
    registry = ToolRegistry()
    (report,) = Plugins(registry, package_sources()).reports()
    assert (report.name, report.place, report.tools) == ("my-hub", "edgevox-my-hub 0.1.0", ("my_hub_greet",))


def test_a_new_plugin_never_replaces_a_file(plugins_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_plugin(plugins_folder, "weather", "# mine\n")
    assert main(["plugins", "new", "weather"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "# mine\n"


@pytest.mark.parametrize("name", ["../evil", "9lives", "", "a b", "x" * 41])
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["plugins", "new", name]) == 2
    assert "is not a valid plugin name" in capsys.readouterr().err
    assert not (tmp_path / "config").exists()


def test_a_folder_that_others_can_write_to_is_told_at_once(
    plugins_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugins_folder.mkdir(parents=True)
    plugins_folder.chmod(0o777)
    assert main(["plugins", "new", "weather"]) == 2
    assert f"chmod go-w {plugins_folder}" in capsys.readouterr().err


# --- list


def test_without_plugins_the_list_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "list"]) == 0
    assert "edgevox plugins new NAME" in capsys.readouterr().out


def test_the_list_says_what_each_brings_and_why_one_is_disabled(
    plugins_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["plugins", "new", "weather"])
    write_plugin(plugins_folder, "bad", "import nonsense_package")
    (plugins_folder.parent / "config.toml").write_text("[plugins.off]\nenabled = false\n")
    write_plugin(plugins_folder, "off", "import nonsense_package")
    capsys.readouterr()
    assert main(["plugins", "list"]) == 0
    shown = capsys.readouterr().out
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    assert rows["weather"][1:3] == ["on", "weather_greet"]
    assert rows["off"][1] == "off"
    assert rows["bad"][1] == "disabled"
    assert "bad: ModuleNotFoundError: No module named 'nonsense_package' (bad.py, line 1)" in shown
    assert "→ install nonsense_package" in shown


def test_the_list_as_json(plugins_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_plugin(plugins_folder, "bad", "x = 1")
    assert main(["plugins", "list", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["name"], report["place"], report["status"]) == ("bad", str(path), "disabled")
    assert report["reason"] == "it has no function register(host)"


def test_a_start_that_failed_is_still_known_afterwards(
    plugins_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plugin(
        plugins_folder,
        "hub",
        "from edgevox import tool\n"
        "@tool\n"
        "def hub_state() -> str:\n"
        "    'How the hub is.'\n"
        "    return 'fine'\n"
        "def unplugged():\n"
        "    raise OSError('unplugged')\n"
        "def register(host):\n"
        "    host.add_tool(hub_state)\n"
        "    host.on_start(unplugged)\n",
    )
    assert main(["tools", "call", "hub_state"]) == 1
    capsys.readouterr()
    assert main(["plugins", "list"]) == 0
    shown = capsys.readouterr().out
    assert "hub was disabled during its last run: its start failed: OSError: unplugged" in shown
    assert "enabled = false under [plugins.hub]" in shown


# --- doctor


def test_doctor_says_why_a_plugin_is_disabled_and_how_to_mend_it(plugins_folder: Path, tmp_path: Path) -> None:
    write_plugin(plugins_folder, "fine", "def register(host): pass")
    path = write_plugin(plugins_folder, "open", "def register(host): pass")
    path.chmod(0o666)
    result = edgevox("doctor", "--quick", env=environment(tmp_path))
    assert result.returncode == 1
    assert "plugins  fine" in result.stdout
    assert f"plugin open  disabled: other users can write to {path}" in result.stdout
    assert f"→ chmod go-w {path}" in result.stdout


@pytest.mark.parametrize("engine", ["llguidance", "llama.cpp"])
def test_doctor_says_what_holds_tool_calls_to_their_form(tmp_path: Path, engine: str) -> None:
    result = edgevox("doctor", "--quick", env=environment(tmp_path, EDGEVOX_LLM__CONSTRAINT_ENGINE=engine))
    (line,) = [line for line in result.stdout.splitlines() if "constraints" in line]
    assert engine in line


def test_doctor_names_settings_of_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text('[plugins.gone]\n[tools]\ndisabled = ["brodcast"]\n')
    result = edgevox("doctor", "--quick", env=environment(tmp_path))
    assert "plugin gone  not installed" in result.stdout
    assert "unknown tools in the settings: brodcast" in result.stdout
