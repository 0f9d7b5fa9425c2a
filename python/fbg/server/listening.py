"""Where the server listens: at an address or a Unix socket, with a certificate or without."""

from __future__ import annotations

import os
import socket
import ssl
from typing import Any

from fbg.server.settings import Settings


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens; raises OSError that names the address."""
    if settings.uds is not None:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        return _bound(listening, settings.uds, settings.uds)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return _bound(listening, (settings.host, settings.port), f"{settings.host}:{settings.port}")


def identity(path: str | None) -> tuple[int, int] | None:
    """Return what tells a socket in the file system from another one at its path; None for none."""
    try:
        status = None if path is None else os.stat(path)
    except OSError:
        return None
    return None if status is None else (status.st_dev, status.st_ino)


def _bound(listening: socket.socket, address: Any, name: str) -> socket.socket:
    try:
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)  # of a path that is too long
        raise OSError(error.errno, f"cannot listen at {name}: {reason}") from None
    return listening


def address_of(listening: socket.socket) -> dict[str, object]:
    """Return where a socket listens, for the log."""
    if listening.family == socket.AF_UNIX:
        return {"uds": listening.getsockname()}
    host, port = listening.getsockname()[:2]
    return {"host": host, "port": port}


def require_certificate(settings: Settings) -> None:
    """Raise OSError unless the files of TLS, if there are any, fit each other."""
    if settings.ssl_certfile is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.ssl_certfile, settings.ssl_keyfile, password="")
    except OSError as error:
        reason = f"{settings.ssl_certfile}: no certificate with its key: {error.strerror or error}"
        raise OSError(error.errno, reason) from None
