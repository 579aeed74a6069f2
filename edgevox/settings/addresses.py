"""Addresses of servers on other machines, checked before anybody asks there."""

from __future__ import annotations

import ipaddress
import json
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator

_TCP = "tcp://"


def checked_url(url: str) -> str:
    """The address of an HTTP server, without a slash at its end. Raises ValueError."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{url} is no address: {error}") from None
    if "@" in parts.netloc:  # it would stand in logs and messages; so it is not repeated here either
        raise ValueError("a key does not belong in an address: name a file in llm.remote_key_file")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{url} is no address such as http://localhost:8080/v1")
    return url.rstrip("/")


def checked_tcp(address: str) -> str:
    """The address of a Wyoming server, as tcp://host:port. Raises ValueError."""
    written = address if "://" in address else _TCP + address
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{address} is no address: {error}") from None
    extra = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme != "tcp" or not parts.hostname or not port or extra:
        raise ValueError(f"{address} is no address such as tcp://localhost:10300")
    return written.rstrip("/")


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of a checked address of a Wyoming server."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def checked_network(written: str) -> str:
    """An address or a range of them. Raises ValueError."""
    try:
        ipaddress.ip_network(written)
    except ValueError as error:
        raise ValueError(f"{written} is no address of a machine, nor a network: {error}") from None
    return written


def checked_json_object(text: str) -> str:
    """Raises ValueError where the text is no JSON object."""
    try:
        is_object = isinstance(json.loads(text), dict)
    except ValueError as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not is_object:
        raise ValueError('this is no JSON object, such as {"top_k": 20}')
    return text


HttpUrl: TypeAlias = Annotated[str, AfterValidator(checked_url)]
TcpAddress: TypeAlias = Annotated[str, AfterValidator(checked_tcp)]
JsonText: TypeAlias = Annotated[str, AfterValidator(checked_json_object)]
Network: TypeAlias = Annotated[str, AfterValidator(checked_network)]
