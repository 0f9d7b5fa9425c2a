"""Children that are forked from the process of a test."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import signal
import sys


def start_child(work, seconds):
    """Start a child that ends with 0 unless its work raises or takes so long; return its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def wait_for(child):
    """Return how a child ended, as subprocess tells it: negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_in_child(work, seconds=30):
    """Return how a child ended that did some work."""
    return wait_for(start_child(work, seconds))


def found_by_child(work, seconds=30):
    """Return what a child finds, in order, until something or the time ends it; its stderr is lost.

    A runtime that is compared with may loop forever where a tensor is empty.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        faulthandler.disable()  # that the process ends is what the caller expects
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writer, "wb") as pipe:
            for found in work():
                pickle.dump(found, pipe)
                pipe.flush()
        os._exit(0)
    os.close(writer)
    results = []
    with os.fdopen(reader, "rb") as pipe, contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            results.append(pickle.load(pipe))
    os.waitpid(child, 0)
    return results
