"""A real mosquitto on a free port, with a password and optionally TLS."""

from __future__ import annotations

import getpass
import shutil
import signal
import subprocess
from pathlib import Path

from edgevox.config.secrets import Secret
from edgevox.home.backends.mqtt import Broker
from edgevox.testing.serve import free_port

USER = "edgevox"
PASSWORD = "corr3ct-h0rse"


class Mosquitto:
    """The process; `stop` and `start` are a broker that is killed and comes back, with nothing kept."""

    def __init__(self, folder: Path, *, tls: bool = False, acl: str = "") -> None:
        self.port = free_port()
        self.ca_file = _certificates(folder) if tls else None
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        passwords = folder / "passwords"
        _run("mosquitto_passwd", "-b", "-c", str(passwords), USER, PASSWORD)
        lines = [
            f"user {getpass.getuser()}",
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous false",
            f"password_file {passwords}",
            "persistence false",
            "set_tcp_nodelay true",
            "log_dest stderr",
        ]
        if tls:
            lines += [f"certfile {folder / 'server.pem'}", f"keyfile {folder / 'server.key'}"]
        if acl:
            (folder / "acl").write_text(acl)
            lines.append(f"acl_file {folder / 'acl'}")
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")

    def broker(self, *, password: str = PASSWORD) -> Broker:
        return Broker(
            "localhost",
            self.port,
            username=USER,
            password=Secret(password),
            tls=self.ca_file is not None,
            ca_file=self.ca_file,
        )

    def start(self) -> None:
        self._process = subprocess.Popen(
            [_program("mosquitto"), "-c", str(self._folder / "mosquitto.conf")], stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        said = []
        for line in self._process.stderr:
            said.append(line)
            if " running" in line:
                break
        else:
            raise AssertionError("".join(said))

    def freeze(self) -> None:
        """It keeps its connections, and says nothing more."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate(timeout=10)
            self._process = None


def _program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    assert found, f"{name} is missing: install the package mosquitto (script/setup --dev does)"
    return found


def _run(name: str, *arguments: str) -> None:
    subprocess.run([_program(name), *arguments], check=True, capture_output=True, timeout=30)


def _certificates(folder: Path) -> Path:
    """A certificate authority of our own, and a certificate for localhost that it has signed."""
    ca, ca_key = folder / "ca.pem", folder / "ca.key"
    request, key, extensions = folder / "server.csr", folder / "server.key", folder / "san"
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    _run("openssl", "req", "-x509", *new_key, "-keyout", str(ca_key), "-out", str(ca), "-subj", "/CN=Test CA")
    _run("openssl", "req", *new_key, "-keyout", str(key), "-out", str(request), "-subj", "/CN=localhost")
    extensions.write_text("subjectAltName=DNS:localhost\n")
    _run(
        "openssl", "x509", "-req", "-in", str(request), "-CA", str(ca), "-CAkey", str(ca_key),
        "-CAcreateserial", "-days", "2", "-extfile", str(extensions), "-out", str(folder / "server.pem"),
    )  # fmt: skip
    return ca
