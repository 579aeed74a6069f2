"""Names and addresses in the headers of a request: who was asked, and from which page.

A page of the web can be led here by its own name (DNS rebinding), or can send a request across: the first
shows in Host, the second in Origin and Sec-Fetch-Site.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

_LOCALHOST = "localhost"
_ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104  (these are compared with, not bound to)
_SAME = ("same-origin", "none")


class HostRule:
    """Which names the server answers to, and which pages may use it."""

    def __init__(
        self, bound_host: str, allowed_hosts: Collection[str], allowed_origins: Collection[str]
    ) -> None:
        named = () if bound_host in _ANY_ADDRESS else (bound_host,)
        self._hosts = {host_name(host) for host in (*named, *allowed_hosts)}
        self._origins = {origin.rstrip("/").casefold() for origin in allowed_origins}

    def allows_host(self, host: str) -> bool:
        """Whether a request with this Host header means us."""
        name = host_name(host)
        return bool(name) and (is_loopback_name(name) or name in self._hosts)

    def allows_origin(self, origin: str | None, fetch_site: str | None, host: str) -> bool:
        """Whether the page, if it is one, may ask: our own, or one that the settings name."""
        if origin is not None:
            return origin.casefold() in self._origins or urlsplit(origin).netloc.casefold() == host.casefold()
        return fetch_site is None or fetch_site in _SAME


def host_name(host: str) -> str:
    """The name in a Host header, without its port; "" for what is none."""
    try:
        return (urlsplit(f"//{host.strip()}").hostname or "").rstrip(".").casefold()
    except ValueError:
        return ""


def is_loopback_name(name: str) -> bool:
    if name == _LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
