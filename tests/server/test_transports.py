"""Unix sockets, and TLS."""

from __future__ import annotations

import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

from fbg.server.settings import ModelSource, Settings
from helpers.serving import running

MESSAGE = {"inputs": ["the dog"]}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for this machine, signed by itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("certificate")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, "-out", cert, "-keyout", key], check=True, capture_output=True)
    return cert, key


@contextmanager
def at_socket(path, *arguments):
    command = [sys.executable, "-m", "fbg", "serve", *arguments, "--uds", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(str(path)) == 0:
                    break
            time.sleep(0.05)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def ready(client):
    for _ in range(1200):
        if client.get("/health").status_code == 200:
            return
        time.sleep(0.05)
    raise AssertionError("the server does not get ready")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_unix_socket_answers_and_goes_with_the_server(workers, directories, tmp_path, client):
    path = tmp_path / "fbg.sock"
    arguments = (f"text={directories['text']}", "--dtype", "int8", "--workers", workers)
    with (
        at_socket(path, *arguments),
        httpx.Client(
            transport=httpx.HTTPTransport(uds=str(path)), base_url="http://fbg", timeout=30
        ) as local,
    ):
        ready(local)
        wanted = client.post("/embed", json=MESSAGE).json()
        for _ in range(5):
            assert local.post("/embed", json=MESSAGE).json() == wanted
    assert not path.exists()


def test_a_server_leaves_the_socket_of_its_successor(directories, tmp_path):
    path = tmp_path / "fbg.sock"
    served = f"text={directories['text']}"
    with at_socket(path, served):
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://f") as c:
            ready(c)
        path.unlink()
        with socket.socket(socket.AF_UNIX) as successor:
            successor.bind(str(path))
            mine = path.stat().st_ino
    assert path.stat().st_ino == mine
    with pytest.raises(ValueError, match="uds must be the path of a socket, got ''"):
        Settings(models=(ModelSource("m", "m"),), uds="")


def test_a_file_at_the_place_of_a_socket_stays(directories, tmp_path):
    path = tmp_path / "fbg.sock"
    path.write_text("mine")
    command = [sys.executable, "-m", "fbg", "serve", str(directories["text"]), "--uds", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (
        ended.returncode == 1 and f"cannot listen at {path}: Address already in use" in ended.stderr
    )
    assert path.read_text() == "mine"


def test_tls_answers_whom_the_certificate_convinces(certificate, directories, client):
    cert, key = map(str, certificate)
    arguments = (f"text={directories['text']}", "--dtype", "int8")
    with running(*arguments, "--ssl-certfile", cert, "--ssl-keyfile", key, ready=False) as server:
        trust = ssl.create_default_context(cafile=cert)
        address = server.url.replace("http:", "https:")
        with httpx.Client(verify=trust, base_url=address, timeout=30) as secure:
            ready(secure)
            wanted = client.post("/embed", json=MESSAGE).json()
            assert secure.post("/embed", json=MESSAGE).json() == wanted
            closing = {"connection": "close"}
            assert secure.post("/embed", json=MESSAGE, headers=closing).json() == wanted
            big = secure.post("/embed", content=b"x" * 4_000_000)
            assert big.status_code == 413
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/health")
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/health")


def test_certificates_are_checked_before_anything_is_loaded(certificate, directories, tmp_path):
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    for files in (["--ssl-certfile", str(wrong)], ["--ssl-certfile", str(certificate[0])]):
        command = [sys.executable, "-m", "fbg", "serve", str(directories["text"]), *files]
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == 1 and f"{files[1]}: no certificate with its key" in ended.stderr
    with pytest.raises(ValueError, match="ssl_keyfile must come with ssl_certfile"):
        Settings(models=(ModelSource("m", "m"),), ssl_keyfile="key.pem")


@pytest.mark.parametrize("what", ["fresh", "idle", "413"])
def test_tls_ends_as_soon_as_any_server(what, certificate, directories):
    """Clients that keep their connections open need not answer the end of TLS."""
    cert, key = map(str, certificate)
    files = ("--ssl-certfile", cert, "--ssl-keyfile", key)
    with running(f"text={directories['text']}", *files, ready=False) as server:
        for _ in range(1200):
            if any(entry["message"] == "listening" for entry in server.entries()):
                break
            time.sleep(0.05)
        port = int(server.url.rpartition(":")[2])
        raw = socket.create_connection(("127.0.0.1", port), 20)
        with ssl.create_default_context(cafile=cert).wrap_socket(
            raw, server_hostname="127.0.0.1"
        ) as connection:
            length = {"fresh": 0, "idle": 14, "413": 99_999_999}[what]
            head = f"POST /embed HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"
            if what != "fresh":
                connection.sendall(head.encode() + b'{"inputs":"a"}')
                assert connection.recv(100).startswith(b"HTTP/1.1 ")
            begin = time.monotonic()
            server.signal(signal.SIGTERM)
            assert server.process.wait(20) == 0
            assert time.monotonic() - begin < 3
