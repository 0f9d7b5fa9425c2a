"""Threads that call the library at the same time."""

import threading


def call_together(count, call):
    """Run `call(0)` to `call(count - 1)` on threads that begin together; raise what one raised."""
    start, errors = threading.Barrier(count), []

    def run(n):
        try:
            start.wait()
            call(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
