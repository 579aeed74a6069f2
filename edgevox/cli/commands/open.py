"""`edgevox open` and `tokens`: opens the web page in a browser or as a QR code; lists and adds tokens of clients.

Other users can read command lines, so the browser gets a one-time URL that redirects to the URL with the token.
"""

from __future__ import annotations

import argparse
import http.client
import ipaddress
import os
import secrets
import socket
import ssl
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import quote

import segno

from edgevox.cli.command import JSON, Command, argument, setting
from edgevox.cli.context import Context, folded, left, plain_table
from edgevox.config import ServerSettings
from edgevox.core.errors import ConfigError, NotRunning
from edgevox.server.http.listener import is_exposed
from edgevox.server.http.middleware import is_loopback_name
from edgevox.server.http.tokens import PROGRAM_SCOPES, Tokens, add_token, page_token, token_file, token_scopes
from edgevox.server.web.static_files import CONTENT_SECURITY_POLICY

_REDIRECT_TIMEOUT_S = 20.0
_REDIRECT_POLL_S = 0.2


def open_via_redirect(url: str, open_browser: Callable[[str], bool], *, within_s: float = _REDIRECT_TIMEOUT_S) -> bool:
    """Open `url` in a browser; returns False if no browser requests it. `open_browser` may block."""
    path = f"/{secrets.token_urlsafe(24)}"
    with _RedirectServer(path, url) as server:
        has_failed = threading.Event()

        def start() -> None:
            if not open_browser(f"http://127.0.0.1:{server.server_port}{path}"):
                has_failed.set()

        threading.Thread(target=start, daemon=True).start()
        until_s = time.monotonic() + within_s
        while not server.is_done and not has_failed.is_set() and time.monotonic() < until_s:
            server.handle_request()
        return server.is_done


class _RedirectServer(HTTPServer):
    timeout = _REDIRECT_POLL_S

    def __init__(self, path: str, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _RedirectHandler)
        self.path = path
        self.url = url
        self.is_done = False


class _RedirectHandler(BaseHTTPRequestHandler):
    timeout = 2.0  # a browser opens connections that it never uses

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _RedirectServer)
        if server.is_done or not secrets.compare_digest(self.path, server.path):
            self.send_error(404)
            return
        server.is_done = True
        self.send_response(303)
        self.send_header("Location", server.url)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        """Log nothing: the path is a secret."""


_ANSWER_WITHIN_S = 5.0
_LOCAL = "127.0.0.1"
# A documentation address (RFC 5737): connecting a datagram socket to it sends nothing.
_ELSEWHERE = ("192.0.2.1", 9)
_MICROPHONE_HINT = (
    "Without https, the phone can only type and watch: browsers allow the microphone only on https pages.\n"
    "Set server.tls_certificate (docs/guide/page.md)."
)


@Command(
    "open",
    "Open the web page in a browser or on a phone",
    argument("--print", action="store_true", dest="only_print", help="print the URL instead of opening it"),
    argument("--phone", action="store_true", help="show the URL for a phone as a QR code"),
    argument("--as", dest="name", metavar="NAME", help="use the token with this name"),
    setting("--port", "server.port", "N", "port of the server"),
)
def open_page(args: argparse.Namespace, context: Context) -> None:
    settings = context.settings.server
    Tokens.open(context.folders)  # creates the file if there is none
    token = page_token(token_file(context.folders), args.name)
    if settings.port == 0:
        raise ConfigError(
            "server.port is 0 (any free port)", hint="give the port that the server printed: edgevox open --port N"
        )
    if args.phone:
        _show_phone(settings, token, context)
        return
    _check_served(settings)
    url = page_url(settings, _local_host(settings.host), token)
    if args.only_print:
        context.write(url)
    elif not _has_display():
        context.note("No display. Open this URL on another machine:")
        context.write(url)
    elif not open_via_redirect(url, webbrowser.open):
        context.note("No browser opened the page. Its URL:")
        context.write(url)


def page_url(settings: ServerSettings, host: str, token: str) -> str:
    """Return the URL of the page with the token in the fragment, which browsers do not send."""
    scheme = "https" if settings.tls_certificate else "http"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{settings.port}/#token={quote(token, safe='')}"


def _show_phone(settings: ServerSettings, token: str, context: Context) -> None:
    address = _lan_address()
    host = next((name for name in settings.allowed_hosts if not is_loopback_name(name)), address)
    if not is_exposed(settings.host) or host not in (*settings.allowed_hosts, settings.host):
        raise ConfigError(
            "a phone cannot reach the server: it only accepts connections from this machine",
            hint=f'in {context.folders.config_file}, under [server]: host = "0.0.0.0" and '
            f'allowed_hosts = ["{address}"]; then restart it',
        )
    _check_served(settings)
    url = page_url(settings, host, token)
    segno.make(url, error="m", micro=False).terminal(out=sys.stdout, border=2, compact=True)
    context.write(url)
    context.note("Anyone with this URL has the rights of its token.", style="yellow")
    if settings.tls_certificate is None:
        context.note(_MICROPHONE_HINT)


def _check_served(settings: ServerSettings) -> None:
    """Raises NotRunning if the page is not served there."""
    host, port = _local_host(settings.host), settings.port
    with closing(_connection(host, port, is_https=settings.tls_certificate is not None)) as connection:
        try:
            # Without the token, in case another program listens there.
            connection.request("GET", "/")
            is_page = connection.getresponse().getheader("Content-Security-Policy") == CONTENT_SECURITY_POLICY
        except (OSError, http.client.HTTPException):
            is_page = False
    if not is_page:
        raise NotRunning(
            f"no EdgeVox server on {host}, port {port}",
            hint="start it with edgevox serve, or with edgevox run and server.enabled = true",
        )


def _connection(host: str, port: int, *, is_https: bool) -> http.client.HTTPConnection:
    if not is_https:
        return http.client.HTTPConnection(host, port, timeout=_ANSWER_WITHIN_S)
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE  # only a probe: no secret is sent
    return http.client.HTTPSConnection(host, port, timeout=_ANSWER_WITHIN_S, context=unverified)


def _local_host(host: str) -> str:
    """Return the address by which this machine reaches a server that listens on `host`."""
    try:
        return _LOCAL if ipaddress.ip_address(host).is_unspecified else host
    except ValueError:
        return host


def _lan_address() -> str:
    """Return this machine's address in its network, or the loopback address without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError:
            return _LOCAL
        return str(probe.getsockname()[0])


def _has_display() -> bool:
    is_desktop_os = sys.platform in ("darwin", "win32")
    return is_desktop_os or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


TOKENS = Command("tokens", "List the tokens of the server's clients, or add one")


@TOKENS.action("list", "list the names and scopes, without the tokens", JSON)
def _list_tokens(args: argparse.Namespace, context: Context) -> None:
    Tokens.open(context.folders)
    scopes = {name: sorted(one) for name, one in token_scopes(token_file(context.folders)).items()}
    if args.json:
        context.write_json(scopes)
        return
    table = plain_table(left("name"), folded("scopes"))
    for name, listed in scopes.items():
        table.add_row(name, ", ".join(listed))
    context.out.print(table)
    context.note(f"the tokens are in {token_file(context.folders)}; delete a table there to withdraw one")


@TOKENS.action(
    "add",
    "add a client, and print its token; it works at once",
    argument("name", help="name of the client, such as panel"),
    argument(
        "--scopes",
        metavar="A,B",
        default=",".join(PROGRAM_SCOPES),
        help="what it may do, separated by commas (default: %(default)s); docs/guide/server.md lists them",
    ),
)
def _add_token(args: argparse.Namespace, context: Context) -> None:
    Tokens.open(context.folders)
    scopes = [scope.strip() for scope in args.scopes.split(",") if scope.strip()]
    context.write(add_token(token_file(context.folders), args.name, scopes))
