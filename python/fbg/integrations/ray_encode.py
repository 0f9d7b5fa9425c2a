"""Shards of a corpus on a Ray cluster: an actor for each CPU, a shard at a time. Needs ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fbg.errors import needed
from fbg.integrations.shards import Done, ShardEncoder, ShardJob

with needed("shards on a cluster"):
    import ray

__all__ = ["encode_shards"]

# A shard that has ended its actor's process this often causes the failure itself.
RETRIES = 5


def encode_shards(
    job: ShardJob,
    shards: Sequence[str],
    *,
    address: str | None = None,
    actors: int | None = None,
    advance: Callable[[Done], object] = lambda done: None,
) -> list[Done]:
    """Embed shards on a cluster; return the result for each, in the order of `shards`.

    address: of the cluster, as for `ray.init`; None starts one on this machine, unless this process
    has one. actors: processes, of one CPU and one thread each; None: as many as the cluster has
    CPUs. advance: called with each shard that is complete.

    An actor that dies is started again and its shard repeated. Nothing but the actors needs a CPU
    of the cluster, so that they cannot wait for each other. Raises the error of a shard that cannot
    be read or written.

    >>> shards = find_shards("texts/", "rows/")  # doctest: +SKIP
    >>> encode_shards(ShardJob("path/to/model", "rows/", "int8"), shards)  # doctest: +SKIP
    """
    with _cluster(address):
        cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        count = max(1, min(actors or cpus, cpus, len(shards)))
        kind = ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(ShardEncoder)
        free = [kind.remote(job) for _ in range(count)]
        waiting, running = list(shards)[::-1], dict[Any, tuple[Any, str]]()
        done: dict[str, Done] = {}
        while waiting or running:
            while waiting and free:
                actor, shard = free.pop(), waiting.pop()
                running[actor.encode.remote(shard)] = (actor, shard)
            (ready,), _ = ray.wait(list(running))
            actor, shard = running.pop(ready)
            done[shard] = _result(ready)
            advance(done[shard])
            free.append(actor)
        return [done[shard] for shard in shards]


def _result(reference: Any) -> Done:
    try:
        result: Done = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause or error) from None  # the error of the actor, without its traceback
    return result


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"address": address} if address else {"include_dashboard": False}
    if address is None:
        options["_node_ip_address"] = "127.0.0.1"
    ray.init(log_to_driver=False, logging_level="error", **options)
    try:
        yield
    finally:
        ray.shutdown()
