"""Pages of docs/guide whose examples are run as they stand there.

A block whose first line is a comment with a file's name is that file; what the reader types is in `sh`. What
is indented is not run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.command import BOUND_S, environment

_ROOT = Path(__file__).resolve().parents[1]
_FOLDER = _ROOT / "docs" / "guide"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"# (\w[\w/.-]*\.\w+)\n")
_PART = re.compile(r"^## ", re.MULTILINE)


def play(page: str, home: Path, *, part: str = "", bound_s: float = BOUND_S, **variables: str) -> str:
    """What the reader sees who follows a page, or the `part` below that heading, in the folder `home`."""
    told = []
    for language, block in _BLOCK.findall(_text(page, part)):
        if language == "sh":
            told.append(_typed(block, home, bound_s, variables))
        elif (name := _FILE_NAME.match(block)) is not None:
            file = home / name[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block, encoding="utf-8")
    assert told, f"{page} has no commands"
    return "".join(told)


def _text(page: str, part: str) -> str:
    text = (_FOLDER / page).read_text(encoding="utf-8")
    if not part:
        return text
    [found] = [one for one in _PART.split(text) if one.startswith(f"{part}\n")]
    return found


def _typed(commands: str, home: Path, bound_s: float, variables: dict[str, str]) -> str:
    """Commands stop at the first that fails."""
    ours = "".join(
        f'{name}() {{ "{sys.executable}" {words}"$@"; }}\n'
        for name, words in (("edgevox", "-m edgevox "), ("python", ""), ("pytest", "-m pytest "))
    )
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    result = subprocess.run(
        ["/bin/sh", "-e", "-c", ours + commands],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=home,
        env=environment(home, PATH=path, PYTHONPATH=str(_ROOT), **variables),
        timeout=bound_s,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def file_of(page: str, name: str) -> str:
    """The text of the block that is the file `name`."""
    [block] = [block for _language, block in _BLOCK.findall(_text(page, "")) if block.startswith(f"# {name}\n")]
    return str(block)
