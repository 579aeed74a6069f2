"""The server with a certificate of its own: https, and a clear word about one that cannot be used."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest

from edgevox.config import ServerSettings
from edgevox.core.errors import ConfigError
from edgevox.server.app import create_app
from edgevox.server.http.listener import Certificate, certificate_of, http_listener
from tests.server.harness import TOKENS, model, talking


@pytest.fixture
def signed_itself(tmp_path: Path) -> Certificate:
    certificate = Certificate(tmp_path / "house.pem", tmp_path / "house.key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-out", str(certificate.chain), "-keyout", str(certificate.key)],
        check=True,
        capture_output=True,
        timeout=60,
    )  # fmt: skip
    return certificate


async def test_the_page_is_served_over_https(signed_itself: Certificate) -> None:
    app = create_app(talking(model([])), ServerSettings(), TOKENS)
    trusting = ssl.create_default_context(cafile=str(signed_itself.chain))
    async with (
        http_listener(app, "127.0.0.1", 0, signed_itself) as url,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
        session.get(url.replace("127.0.0.1", "localhost"), ssl=trusting) as response,
    ):
        assert url.startswith("https://")
        assert (response.status, response.content_type) == (200, "text/html")


def test_the_one_of_the_settings_is_used(signed_itself: Certificate) -> None:
    settings = ServerSettings(tls_certificate=signed_itself.chain, tls_key=signed_itself.key)
    assert certificate_of(settings) == signed_itself
    assert certificate_of(ServerSettings()) is None


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_one_that_cannot_be_used_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "house.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"house\.pem") as refused:
        certificate_of(ServerSettings(tls_certificate=path))
    assert "server.tls_key" in refused.value.hint
