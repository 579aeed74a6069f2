"""The server's certificate: with one it speaks https, and browsers elsewhere lend it their microphone."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from edgevox.errors import ConfigError
from edgevox.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class Certificate:
    """Files in PEM form; without `key`, the key is in the file of the chain."""

    chain: Path
    key: Path | None = None


def certificate_of(settings: ServerSettings) -> Certificate | None:
    """The one of the settings; None where there is none. Raises ConfigError when it cannot be used."""
    if settings.tls_certificate is None:
        return None
    certificate = Certificate(settings.tls_certificate, settings.tls_key)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate.chain, certificate.key)
    except OSError as error:  # ssl.SSLError is one
        raise ConfigError(
            f"the certificate {certificate.chain} cannot be used: {error.strerror or error}",
            hint="server.tls_certificate and server.tls_key name files in PEM form that belong together",
        ) from None
    return certificate
