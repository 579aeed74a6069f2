"""What a browser gets when it asks for the page: those files, those rules, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
from html.parser import HTMLParser

import aiohttp
import pytest

from edgevox.server.web.static_files import START, page_files
from tests.server.harness import model, served, talking

OUTSIDE = re.compile(r"""(?:https?:)?//(?!www\.w3\.org/2000/svg)[a-z0-9]""")


async def got(path: str, **headers: str) -> aiohttp.ClientResponse:
    """The answer to one request, read to its end."""
    async with (
        served(talking(model([])), always_token=True) as url,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
        session.get(url + path, headers=headers) as response,
    ):
        await response.read()
        return response


class Markup(HTMLParser):
    """What stands in the page's HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style") and data.strip():
            self.inline.append(data)


def texts() -> dict[str, str]:
    return {name: file.decode() for name, file in page_files().items() if not name.endswith(".png")}


def markup() -> Markup:
    return Markup(texts()[START])


async def test_the_page_needs_no_token_and_is_held_to_a_strict_policy() -> None:
    response = await got("/")
    assert (response.status, response.content_type) == (200, "text/html")
    policy = dict(rule.split(" ", 1) for rule in response.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[kind] for kind in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
    assert {policy[kind] for kind in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("name", "content_type"), [("main.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")]
)
async def test_its_parts_have_the_types_that_browsers_insist_on(name: str, content_type: str) -> None:
    response = await got(f"/page/{name}")
    assert (response.status, response.content_type) == (200, content_type)


@pytest.mark.parametrize(
    "path", ["/page/routes.py", "/page/../app.py", "/page/%2e%2e/app.py", "/page/", "/page/a/main.js", "/page"]
)
async def test_nothing_else_is_served(path: str) -> None:
    assert (await got(path)).status == 404


async def test_it_is_sent_compressed_to_those_who_can_read_that() -> None:
    file = page_files()["page.css"]
    lengths = []
    async with (
        served(talking(model([])), always_token=True) as url,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
    ):
        for encoding in ("identity", "gzip"):
            async with session.get(f"{url}/page/page.css", headers={"Accept-Encoding": encoding}) as response:
                assert await response.read() == file
                lengths.append(int(response.headers["Content-Length"]))
    assert lengths[0] == len(file)
    assert lengths[1] < len(file) / 3


async def test_what_has_not_changed_is_not_sent_again() -> None:
    first = await got("/page/main.js")
    again = await got("/page/main.js", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.headers["Cache-Control"]) == (304, "no-cache")


async def test_another_page_cannot_take_its_parts() -> None:
    assert (await got("/page/main.js", **{"Sec-Fetch-Site": "cross-site"})).status == 403


async def test_a_link_on_another_site_leads_to_the_page_and_to_nothing_else() -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await got("/", **followed)).status == 200
    assert (await got("/v1/home", **followed)).status == 403
    assert (await got("/", **followed | {"Sec-Fetch-Dest": "iframe"})).status == 403


async def test_a_browser_that_opens_a_refused_address_gets_a_page_that_says_what_to_do() -> None:
    async with (
        served(talking(model([])), always_token=True) as url,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10), headers={"Accept": "text/html,*/*"}) as session,
    ):
        async with session.get(url, headers={"Host": "kitchen.local:8790"}) as refused:
            assert (refused.status, refused.content_type) == (403, "text/html")
            assert "allowed_hosts = [&quot;kitchen.local&quot;]" in await refused.text()
        async with session.get(f"{url}/v1/home") as unknown:
            assert (unknown.status, unknown.content_type) == (401, "text/html")
            assert "edgevox open" in await unknown.text()


def test_all_of_it_is_small() -> None:
    # A browser loads the texts of one language, and the icons when the page is installed.
    walk = [file for name, file in page_files().items() if name != "texts-en.js" and not name.endswith(".png")]
    assert sum(len(gzip.compress(file)) for file in walk) < 75_000


def test_it_can_be_installed() -> None:
    manifest = json.loads(texts()["manifest.webmanifest"])
    assert manifest["display"] == "standalone"
    icons = [icon for icon in manifest["icons"] if icon["src"].removeprefix("/page/") in page_files()]
    assert {icon["sizes"] for icon in icons} == {"any", "192x192", "512x512"}
    assert "maskable" in {icon.get("purpose") for icon in icons}


def test_nothing_is_inline() -> None:
    page = markup()
    assert page.inline == []
    assert [tag for tag, given in page.tags if tag == "script" and not given.get("src")] == []
    assert [given for _, given in page.tags if any(key == "style" or key.startswith("on") for key in given)] == []


def test_nothing_comes_from_elsewhere() -> None:
    for name, file in texts().items():
        assert OUTSIDE.findall(re.sub(r"^\s*//.*$", "", file, flags=re.MULTILINE)) == [], name


def test_every_part_that_is_named_is_there() -> None:
    known = page_files()
    for name, file in texts().items():
        for wanted in re.findall(r"""["'](?:/page/|\./)([\w.-]+)["']""", file):
            assert wanted in known, f"{name} wants {wanted}"
    assert "/page/" in texts()[START]
