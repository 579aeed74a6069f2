"""Who gets in: hosts, pages, tokens, sizes; and every refusal in the form that clients know."""

from __future__ import annotations

import logging
import stat
import tomllib
from collections.abc import Mapping
from typing import Any

import aiohttp
import pytest

from edgevox.config.secrets import write_secret
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.server.http.tokens import SCOPES, Tokens, add_token, page_token, scopes_now, token_file
from edgevox.tools.policy import Caller
from tests.server.harness import OWNER, READER, TALKER, model, served, talking

OPENAI_FIELDS = {"message", "type", "param", "code"}


async def asked(
    url: str, path: str = "/v1/models", *, method: str = "GET", headers: dict[str, str] | None = None, **more: Any
) -> tuple[int, dict[str, Any], Mapping[str, str]]:
    """Status, body and headers of one request."""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
        session.request(method, url + path, headers=headers, **more) as response,
    ):
        return response.status, await response.json(), response.headers


async def refused(**more: Any) -> tuple[int, str]:
    """Status and code of a request that is refused."""
    settings = more.pop("settings", {})
    async with served(talking(model([])), **settings) as url:
        status, body, _headers = await asked(url, **more)
    assert body["error"].keys() == OPENAI_FIELDS
    return status, body["error"]["code"]


# --- hosts and pages


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8790", "127.0.0.1.evil.example", "", "[::1", "10.0.0.7"]
)
async def test_a_rebound_name_is_refused(host: str) -> None:
    assert await refused(headers={"Host": host}) == (403, "host_not_allowed")


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8790", "LOCALHOST", "house.lan"])
async def test_our_own_names_are_served(host: str) -> None:
    async with served(talking(model([])), allowed_hosts=["house.lan"]) as url:
        token = {"Authorization": f"Bearer {OWNER}"}
        status, _body, _headers = await asked(url, headers={"Host": host, **token})
    assert status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1:1"]
)
async def test_a_foreign_page_is_refused(origin: str) -> None:
    assert await refused(headers={"Origin": origin}) == (403, "origin_not_allowed")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_request_that_a_browser_calls_foreign_is_refused(site: str) -> None:
    assert await refused(headers={"Sec-Fetch-Site": site}) == (403, "origin_not_allowed")


async def test_a_page_of_the_settings_is_served_and_told_so() -> None:
    page = "http://panel.lan:8080"
    async with served(talking(model([])), allowed_origins=[page]) as url:
        status, _body, headers = await asked(url, headers={"Origin": page})
        other, _body, _headers = await asked(url, headers={"Origin": "http://panel.lan:8081"})
        async with aiohttp.ClientSession() as browser:
            for method in ("POST", "PATCH", "DELETE"):
                before = {"Origin": page, "Access-Control-Request-Method": method}
                async with browser.options(f"{url}/v1/responses/1", headers=before) as preflight:
                    assert preflight.ok, method
    assert (status, headers["access-control-allow-origin"], other) == (200, page, 403)
    assert "Retry-After" in headers["access-control-expose-headers"]


# --- tokens


async def test_on_this_machine_models_need_no_token() -> None:
    async with served(talking(model([]))) as url:
        status, body, _headers = await asked(url, headers={"Authorization": "Bearer EMPTY"})
    assert (status, [one["id"] for one in body["data"]]) == (200, ["scripted"])


@pytest.mark.parametrize(
    "far", [{"Host": "house.lan"}, {"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}]
)
async def test_from_elsewhere_everything_needs_a_token(far: dict[str, str]) -> None:
    settings = {"allowed_hosts": ["house.lan"]}
    for path in ("/v1/models", "/healthz"):
        assert await refused(settings=settings, path=path, headers=far) == (401, "missing_api_key")
    wrong = {**far, "Authorization": "Bearer nonsense"}
    assert await refused(settings=settings, headers=wrong) == (401, "invalid_api_key")
    narrow = {**far, "Authorization": f"Bearer {READER}"}
    assert await refused(settings=settings, headers=narrow) == (403, "token_scope_insufficient")
    async with served(talking(model([])), **settings) as url:
        for known in ({"Authorization": f"bearer {TALKER}"}, {"x-api-key": OWNER}):
            status, _body, _headers = await asked(url, headers={**far, **known})
            assert status == 200


async def test_a_token_can_be_demanded_on_this_machine_too() -> None:
    assert await refused(settings={"always_token": True}) == (401, "missing_api_key")


async def test_a_wrong_key_is_refused_where_none_is_needed() -> None:
    wrong = {"Authorization": "Bearer sk-nonsense"}
    assert await refused(headers=wrong) == (401, "invalid_api_key")
    body = {"model": "default", "messages": [{"role": "user", "content": "?"}], "tool_choice": "none"}
    chat: dict[str, Any] = {"method": "POST", "path": "/v1/chat/completions", "json": body}
    assert await refused(headers=wrong, **chat) == (401, "invalid_api_key")


def tokens_by_name(folders: Folders) -> dict[str, str]:
    return {name: entry["token"] for name, entry in tomllib.loads(token_file(folders).read_text()).items()}


def test_the_first_start_makes_a_token_for_the_page_and_one_for_programs(folders: Folders) -> None:
    known = Tokens.open(folders)
    assert stat.S_IMODE(token_file(folders).stat().st_mode) == 0o600
    tokens = tokens_by_name(folders)
    page, program = (known.caller(tokens[name]) for name in ("page", "program"))
    assert page is not None
    assert program is not None
    assert page.may("confirm")
    assert page.may("home.locks")
    assert {scope for scope in SCOPES if not program.may(scope)} == {
        *("home.locks", "confirm", "history", "settings", "people")
    }
    assert known.has_other(program, "confirm")
    assert known.caller(tokens["page"][:-1]) is None
    assert page_token(token_file(folders)) == tokens["page"]


def test_the_single_token_of_an_older_version_keeps_its_rights(folders: Folders) -> None:
    write_secret(token_file(folders), '[owner]\ntoken = "edgevox-of-an-older-version"\nscopes = ["*"]')
    owner = Tokens.open(folders).caller("edgevox-of-an-older-version")
    assert owner is not None
    assert all(map(owner.may, SCOPES))
    assert page_token(token_file(folders)) == "edgevox-of-an-older-version"


def test_a_new_token_works_and_a_deleted_one_does_not_without_a_restart(folders: Folders) -> None:
    known, path = Tokens.open(folders), token_file(folders)
    before = path.read_text()
    token = add_token(path, "panel", ("chat",))
    assert known.caller(token) == Caller("panel", frozenset({"chat"}), has_token=True)
    write_secret(path, before)
    assert known.caller(token) is None


def test_the_scopes_of_a_stored_caller_shrink_with_its_token_and_end_with_it(folders: Folders) -> None:
    path = token_file(folders)
    stored = Caller("panel", frozenset({"act", "home.*"}), has_token=True)
    for scopes, left in (
        ('["act", "home.locks", "confirm"]', {"act", "home.locks"}),
        ('["*"]', {"act", "home.*"}),
        ('["read"]', set()),
    ):
        write_secret(path, f'[panel]\ntoken = "edgevox-of-a-panel"\nscopes = {scopes}')
        now = scopes_now(path, stored)
        assert now is not None
        assert now.scopes == left
    write_secret(path, '[other]\ntoken = "edgevox-of-another"\nscopes = ["*"]')
    assert scopes_now(path, stored) is None
    write_secret(path, "[half")
    assert scopes_now(path, stored) is None
    assert scopes_now(path, Caller("wyoming", frozenset({"act"}))) == Caller("wyoming", frozenset({"act"}))


def test_a_change_that_cannot_be_read_leaves_the_tokens_as_they_were(folders: Folders) -> None:
    known, path = Tokens.open(folders), token_file(folders)
    page = tokens_by_name(folders)["page"]
    write_secret(path, "[half")
    assert known.caller(page) is not None


@pytest.mark.parametrize(("name", "scopes"), [("page", ["chat"]), ("a b", ["chat"]), ("x", ["Chat!"])])
def test_a_token_that_cannot_be_added_leaves_the_file_as_it_was(folders: Folders, name: str, scopes: list[str]) -> None:
    Tokens.open(folders)
    before = token_file(folders).read_text()
    with pytest.raises(ConfigError):
        add_token(token_file(folders), name, scopes)
    assert token_file(folders).read_text() == before


@pytest.mark.parametrize(
    "text",
    [
        "[a]\ntoken = 'short'\nscopes = []",
        "[a]\nscopes = []",
        "[a",
        "a = 1",
        "[a]\ntoken='0123456789abcdef'\nscopes=[]\n[b]\ntoken='0123456789abcdef'\nscopes=[]",
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_told_without_a_token(folders: Folders, text: str) -> None:
    folders.config.mkdir()
    token_file(folders).write_text(text)
    token_file(folders).chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        Tokens.open(folders)
    assert "0123456789abcdef" not in caught.value.message + caught.value.hint


def test_a_file_of_tokens_that_others_can_read_is_refused(folders: Folders) -> None:
    Tokens.open(folders)
    token_file(folders).chmod(0o644)
    with pytest.raises(ConfigError, match="other users"):
        Tokens.open(folders)


async def test_no_token_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    caplog.set_level(logging.DEBUG)
    async with served(talking(model([]))) as url:
        await asked(url, headers={"Authorization": f"Bearer {OWNER}"})
        await asked(url, f"/v1/models?api_key={OWNER}", headers={"x-api-key": OWNER})
        await asked(url, "/nowhere", headers={"Authorization": f"Bearer {OWNER}"})
    printed = capfd.readouterr()
    assert OWNER not in caplog.text + printed.out + printed.err


# --- sizes and paths


async def test_a_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    settings = {"max_body_bytes": 1000}
    more: dict[str, Any] = {"settings": settings, "method": "POST", "path": "/v1/chat/completions"}
    assert await refused(data=b" " * 1001, **more) == (413, "request_too_large")


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/nowhere", (404, "unknown_url")),
        ("POST", "/v1/models", (405, "method_not_allowed")),
        ("GET", "/v1/models/gpt-99", (404, "model_not_found")),
        ("GET", "/v1/models/../../../../etc/passwd", (404, "unknown_url")),
        ("GET", "/v1/models/..%2f..%2fetc%2fpasswd", (404, "model_not_found")),
        ("GET", "//etc/passwd", (404, "unknown_url")),
    ],
)
async def test_what_is_not_there_is_told_in_openais_form(method: str, path: str, expected: tuple[int, str]) -> None:
    assert await refused(method=method, path=path) == expected


async def test_health_tells_of_the_engines() -> None:
    async with served(talking(model([]))) as url:
        assert (await asked(url, "/healthz"))[:2] == (200, {"status": "ok", "engines": {}})
