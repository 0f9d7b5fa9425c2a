"""Kills, interrupts and forks processes at random times, and looks at what is left.

    python -m faults.kills KIND [--count N] [--seed S]      (in tests/)

encode, quantize, network, shards: a child writes a file of embeddings, a saved model or network
over another one, or a file for each shard, and is killed by SIGKILL. The output is the old one or
the new one, whole; a job that goes on afterwards ends with the bytes of one that was never
disturbed.
serve: a server is killed while it answers. Whatever answer has arrived is whole.
interrupt: a child gets SIGINT while it loads, encodes and multiplies. It sees KeyboardInterrupt and
can go on.
fork, exit: a child forks or ends while its threads multiply. Both end in time.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from random import Random

import numpy as np

import fbg
from faults.files import write_net
from fbg.integrations.shards import ShardEncoder, ShardJob
from fbg.text.embedding_files import EmbeddingFile
from helpers import tiny_bert
from helpers.forks import start_child, wait_for

SECONDS = 240  # in which a child must have ended, also on a machine that is busy with other things
WAIT = 20
IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 0, 0]]
TEXTS = [f"the dog {n} and the fox" for n in range(64)]


class Problem(AssertionError):
    """What is wrong with what is left."""


def in_child(work):
    """Start a child that does some work in time; return its id."""
    return start_child(work, SECONDS)


def require(condition, what):
    if not condition:
        raise Problem(what)


class Sweep:
    """The models and references of all kinds, made once."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        self.checkpoint = tiny_bert.write_checkpoint(folder / "checkpoint")
        self.model = fbg.load(self.checkpoint, dtype="int8", num_threads=1)
        self.old = fbg.load(self.checkpoint, dtype="float32", num_threads=1)
        self.rows = self.model.encode(TEXTS)
        self.hidden = self.model.forward(IDS).last_hidden_state.tobytes()
        self.killed = 0  # children that had not ended before

    def kill_after(self, child, seconds, number=signal.SIGKILL):
        """Send a signal after a random part of `seconds`; return how the child ended."""
        time.sleep(self.rng.random() * seconds)
        os.kill(child, number)
        code = wait_for(child)
        self.killed += code != 0 or number == signal.SIGINT
        return code

    def seconds_of(self, work):
        """Return how long work takes, in a child."""
        begin = time.perf_counter()
        require(wait_for(in_child(work)) == 0, "the work fails undisturbed")
        return time.perf_counter() - begin

    # --- Kinds: each makes a function that does one round ---------------------------------------

    def encode(self):
        kinds = ("npy", "parquet")
        seconds = {}

        def write(path):
            with EmbeddingFile(path, self.rows.shape[1], {"job": 1}) as file:
                for begin in range(file.rows, len(TEXTS), 4):
                    file.append(self.model.encode(TEXTS[begin : begin + 4]))
                file.finish()

        def read(path):
            if path.suffix == ".npy":
                return np.load(path)
            import pyarrow.parquet as pq

            return np.array(pq.read_table(path)["embedding"].to_pylist(), np.float32)

        def once():
            kind = self.rng.choice(kinds)
            path = self.folder / f"emb.{kind}"
            path.unlink(missing_ok=True)
            if kind not in seconds:
                seconds[kind] = self.seconds_of(lambda: write(path))
                path.unlink()
            for _ in range(self.rng.randint(1, 3)):  # kills of the same job
                self.kill_after(in_child(lambda: write(path)), 1.1 * seconds[kind])
                if path.exists():
                    require(np.array_equal(read(path), self.rows), f"{path} is not whole")
                    break
            else:
                write(path)
            require(np.array_equal(read(path), self.rows), f"{path} differs after it was resumed")
            require(not list(self.folder.glob("emb*.partial*")), "parts of a finished job are left")
            for rest in self.folder.glob(".emb*.tmp"):  # of the killed; never taken for an output
                rest.unlink()

        return once

    def quantize(self):
        return self._replaced(
            self.old, self.model, lambda m: m.forward(IDS).last_hidden_state.tobytes()
        )

    def network(self):
        old, new = (fbg.load(write_net(self.folder, width)) for width in (3000, 5000))
        return self._replaced(old, new, lambda net: net(np.ones((2, 4), np.float32)).tobytes())

    def _replaced(self, old, new, result):
        """Kills of what is saved over another of its kind."""
        target = self.folder / "saved"
        old.save(target)
        seconds = self.seconds_of(lambda: new.save(target, overwrite=True))

        def once():
            old.save(target, overwrite=True)
            work = in_child(lambda: new.save(target, overwrite=True))
            self.kill_after(work, 1.2 * seconds)
            found = result(fbg.load(target, num_threads=1))
            require(
                found in (result(old), result(new)),
                "what is left is neither the old model nor the new one",
            )
            for rest in self.folder.glob(".saved*"):
                shutil.rmtree(rest)

        return once

    def shards(self):
        """Kills of a job that has a file for each of its inputs."""
        output, sources = self.folder / "rows", []
        for n in range(3):
            sources.append(self.folder / f"texts{n}.txt")
            sources[n].write_text("\n".join(TEXTS[n::3]))

        def work():
            encoder = ShardEncoder(ShardJob(str(self.checkpoint), str(output)))
            for source in sources:
                encoder.encode(str(source))

        def rows():
            return {path.name: path.read_bytes() for path in output.glob("*.parquet")}

        seconds = self.seconds_of(work)
        whole = rows()

        def once():
            shutil.rmtree(output)
            self.kill_after(in_child(work), 1.1 * seconds)
            require(rows().items() <= whole.items(), "a shard that is there is not whole")
            require(wait_for(in_child(work)) == 0, "the job cannot go on")
            require(rows() == whole, "the rows differ after the job went on")
            output.mkdir(exist_ok=True)

        return once

    def interrupt(self):
        ready = self.folder / "ready"

        def work():
            seen = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
            ready.touch()
            try:
                while True:
                    model = fbg.load(self.checkpoint, dtype="int8", num_threads=1)
                    model.encode(TEXTS)
                    fbg.linear(np.ones((64, 64), np.float32), fbg.PackedB(np.eye(64, dtype="f4")))
            except KeyboardInterrupt:
                seen = True
            require(seen, "no KeyboardInterrupt")
            again = self.model.forward(IDS).last_hidden_state.tobytes()
            require(again == self.hidden, "other results after an interruption")

        def once():
            ready.unlink(missing_ok=True)
            child = in_child(work)
            while not ready.exists():
                time.sleep(0.001)
            code = self.kill_after(child, 0.06, signal.SIGINT)
            require(code == 0, f"a child that was interrupted ended with {code}")

        return once

    def _busy_threads(self, stop):
        def multiply():
            while not stop.is_set():
                self.model.forward(IDS)

        for _ in range(3):
            threading.Thread(target=multiply, daemon=True).start()

    def fork(self):
        """Forks of this process, whose threads multiply meanwhile."""
        fbg.set_num_threads(2)
        self._busy_threads(threading.Event())

        def work():
            result = self.model.forward(IDS).last_hidden_state.tobytes()
            require(result == self.hidden, "other results in a child")
            fbg.load(self.checkpoint, dtype="int8")

        def once():
            time.sleep(self.rng.random() * 0.004)
            code = wait_for(in_child(work))
            self.killed += 1
            require(code == 0, f"the child of a fork ended with {code}")

        return once

    def exit(self):
        """Children whose main thread ends while other threads multiply."""

        def child():
            fbg.set_num_threads(2)
            self._busy_threads(threading.Event())
            time.sleep(self.rng.random() * 0.01)

        def once():
            self.rng.random()
            pid = os.fork()
            if pid == 0:
                signal.alarm(SECONDS)
                child()
                os.kill(os.getpid(), 0)
                sys.exit(0)  # the ordinary end: threads, atexit, module teardown
            code = wait_for(pid)
            self.killed += 1
            require(code == 0, f"the interpreter ended with {code}")

        return once

    def spawn(self):
        """New interpreters that compute and end."""
        code = (
            "import sys, threading, numpy as np, fbg\n"
            "w = fbg.PackedB(np.eye(64, dtype='f4'))\n"
            "x = np.ones((64, 64), 'f4')\n"
            "def go():\n while True: fbg.linear(x, w)\n"
            "[threading.Thread(target=go, daemon=True).start() for _ in range(2)]\n"
            "fbg.linear(x, w)\n"
        )

        def once():
            result = subprocess.run([sys.executable, "-c", code], timeout=SECONDS, check=False)
            self.killed += 1
            require(result.returncode == 0, f"an interpreter ended with {result.returncode}")

        return once

    def serve(self):
        import httpx

        from helpers.serving import RunningServer

        rows = self.model.encode(TEXTS[:8])

        def once():
            arguments = (f"text={self.checkpoint}", "--dtype", "int8", "--threads", "1")
            server = RunningServer(list(arguments), {})
            try:
                kill = threading.Timer(self.rng.random() * 0.5, server.signal, (signal.SIGKILL,))
                server.wait_ready()
                kill.start()
                with contextlib.suppress(httpx.TransportError):
                    while True:
                        body = {"inputs": TEXTS[:8]}
                        answer = httpx.post(f"{server.url}/embed", json=body, timeout=WAIT)
                        require(answer.status_code == 200, f"status {answer.status_code}")
                        got = np.array(answer.json(), np.float32)
                        require(np.array_equal(got, rows), "an answer is not whole")
                self.killed += 1
            finally:
                server.stop()

        return once


KINDS = ("encode", "quantize", "network", "shards", "interrupt", "fork", "exit", "spawn", "serve")


@contextlib.contextmanager
def _folder():
    made = os.getpid()
    folder = Path(tempfile.mkdtemp(prefix="fbg-faults-"))
    try:
        yield folder
    finally:
        if os.getpid() == made:  # not in a child that ends
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    faulthandler.enable()  # in children, too: says what each thread did when one crashed
    with _folder() as folder:
        sweep = Sweep(folder, Random(given.seed))
        once = getattr(sweep, given.kind)()
        wrong = 0
        for number in range(given.count):
            try:
                once()
            except Problem as problem:
                wrong += 1
                print(f"  round {number}: {problem}", flush=True)
        print(f"{given.kind}: {given.count} rounds, {sweep.killed} disturbed, {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
