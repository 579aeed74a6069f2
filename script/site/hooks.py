"""Hooks of MkDocs: pages from outside docs/, links to them, the generated reference, and diagrams as SVG.

A Markdown page keeps the links that work in the repository; here they are led to the page's place on the site. What is
linked and is no page is copied to files/.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from posixpath import normpath, relpath

import mermaidx
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import reference

_ROOT = Path(__file__).resolve().parents[2]
# Pages from outside docs/, and those of docs/ with another place on the site.
_PLACES = {
    "README.md": "index.md",
    "docs/README.md": "pages.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "training/README.md": "training.md",
    "benchmarks/results/README.md": "benchmarks/index.md",
    "docs/adr": "adr/index.md",
    "examples/README.md": "examples/index.md",
    **{
        str(page.relative_to(_ROOT)): f"{folder}/{page.name}"
        for folder, source in (("benchmarks", "benchmarks/results"), ("models", "models"))
        for page in sorted((_ROOT / source).glob("*.md"))
        if page.name != "README.md"
    },
    **{
        str(page.relative_to(_ROOT)): f"examples/{page.parent.name}.md"
        for page in sorted((_ROOT / "examples").glob("*/README.md"))
    },
}
_REFERENCE = {
    "reference/settings.md": reference.settings_page,
    "reference/commands.md": reference.commands_page,
    "reference/http.md": reference.http_page,
    "reference/events.md": reference.events_page,
}
# Guides whose subject the reference lists in full.
_SEE_ALSO = {
    "guide/settings.md": "reference/settings.md",
    "guide/commands.md": "reference/commands.md",
    "guide/server.md": "reference/http.md",
    "guide/voice-socket.md": "reference/events.md",
}
_LANGUAGES = {".py": "python", ".toml": "toml"}
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
_CODE = re.compile(r"^(?:```.*?^```$|(?: {4}|\t).*?$)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"(?:[-*]|\d\.) (?=\S)")
_EXTERNAL = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?https?:|<link\b[^>]*\bhref=["']?https?:""")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, place in _PLACES.items():
        moved = files.get_file_from_path(source.removeprefix("docs/")) if source.startswith("docs/") else None
        if moved is not None:
            files.remove(moved)
        if (_ROOT / source).is_file():
            files.append(File.generated(config, place, abs_src_path=str(_ROOT / source)))
    for place, page in _REFERENCE.items():
        files.append(File.generated(config, place, content=page()))
    files.append(File.generated(config, "adr/index.md", content=_decisions()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    place = page.file.src_uri
    if place in (*_REFERENCE, "adr/index.md"):
        return markdown
    source = next((source for source, other in _PLACES.items() if other == place), f"docs/{place}")
    folder = str(Path(source).parent)

    def led(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        return (
            f"{before}{relpath(_place(normpath(f'{folder}/{target}'), config, files), str(Path(place).parent))}{after}"
        )

    text = _DIAGRAM.sub(lambda match: _drawn(match[1], place, config, files), markdown)
    text = _widened_lists(_outside_code(text, lambda part: _LINK.sub(led, part)))
    if place.startswith("examples/"):
        text += _programs(_ROOT / folder)
    if place in _SEE_ALSO:
        title, _, rest = text.partition("\n")
        text = f"{title}\n\nEverything in one list: [reference](../{_SEE_ALSO[place]}).\n{rest}"
    return text


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    # In a table, GitHub needs a backslash before a bar inside code, and Python-Markdown shows it.
    return re.sub(r"<code>[^<]*</code>", lambda match: match[0].replace("\\|", "|"), html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    if found := _EXTERNAL.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from another server: {found[0]}")
    return output


def _place(source: str, config: MkDocsConfig, files: Files) -> str:
    """The place on the site of a file of the repository; what is no page is copied."""
    for name in (source, f"{source}/README.md"):
        if name in _PLACES:
            return _PLACES[name]
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    path = _ROOT / source
    if path.is_dir():
        names = sorted(inner.name for inner in path.iterdir() if inner.is_file())
        for name in names:
            _place(f"{source}/{name}", config, files)
        items = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        copy = File.generated(config, f"files/{source}/index.html", content=f"<title>{source}</title><ul>{items}</ul>")
    elif path.is_file():
        place = f"files/{source}" if path.suffix else f"files/{source}.txt"
        copy = File.generated(config, place, abs_src_path=str(path))
    else:
        return source  # MkDocs reports it
    if files.get_file_from_path(copy.src_uri) is None:
        files.append(copy)
        copy.copy_file()
    return copy.src_uri


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(text[end:])])


def _widened_lists(text: str) -> str:
    """Indent the contents of list items by four spaces, as Python-Markdown needs; GitHub takes the marker's width."""
    lines: list[str] = []
    width, is_fenced = 0, False
    for line in text.split("\n"):
        is_fenced ^= line.startswith("```")
        marker = None if is_fenced else _ITEM.match(line)
        if marker is not None:
            if width and lines[-1].startswith("    "):  # a second paragraph would swallow the next item
                lines.append("")
            width = len(marker[0])
        elif line and not line.startswith(" " * width):
            width = 0
        lines.append(f"{' ' * (4 - width)}{line}" if width and line and marker is None else line)
    return "\n".join(lines)


def _drawn(diagram: str, place: str, config: MkDocsConfig, files: Files) -> str:
    """An image of the diagram: drawn here, because in the browser it would need a script from another server."""
    name = f"diagrams/{hashlib.sha256(diagram.encode()).hexdigest()[:12]}.svg"
    image = File.generated(config, name, content=_svg(diagram))
    files.append(image)
    image.copy_file()
    # Its lines are dark in the dark theme as well.
    link = relpath(name, str(Path(place).parent))
    return f"[![Diagram]({link}){{style='background: white'}}]({link})"


@cache
def _svg(diagram: str) -> str:
    return str(mermaidx.render(diagram).svg())


def _decisions() -> str:
    lines = ["# Decisions", "", "Why things are as they are: context, decision, figures, alternatives.", ""]
    for path in sorted((_ROOT / "docs" / "adr").glob("0*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines)


def _programs(folder: Path) -> str:
    lines = []
    for path in sorted(folder.iterdir()):
        if path.suffix in _LANGUAGES:
            lines += [
                "",
                f"## {path.name}",
                "",
                f"```{_LANGUAGES[path.suffix]}",
                path.read_text(encoding="utf-8").rstrip(),
                "```",
            ]
    return "\n".join([*lines, ""])
