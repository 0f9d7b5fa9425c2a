"""Ray Serve: a deployment of one model, whose replicas batch as `fbg serve` does. Needs ray[serve].

A replica is an AsyncModel: requests that wait for it share batches, and Ray adds replicas when too
many wait.
"""

from __future__ import annotations

from typing import Any

from ray import serve

from fbg.model.async_model import TASKS, AsyncModel
from fbg.model.load import load_encoder

__all__ = ["deploy"]


class Replica:
    """A model in a process of Ray Serve. A call names one of TASKS, a method of `Model`."""

    def __init__(self, path: str, dtype: str | None, num_threads: int) -> None:
        self._runs = AsyncModel(load_encoder(path, dtype, num_threads))

    async def __call__(self, task: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of the method of `Model` named `task` for the arguments.

        Raises ValueError for another name, and the errors of the task.
        """
        if task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
        return await getattr(self._runs, task)(*arguments, **options)

    async def check_health(self) -> None:
        """Raise an error if the model does not run; Ray then replaces the replica."""
        await self._runs.encode("ready")


def deploy(
    path: str,
    dtype: str | None = None,
    num_threads: int = 1,
    *,
    min_replicas: int = 1,
    max_replicas: int = 4,
    requests_per_replica: int = 32,
    **options: Any,
) -> Any:
    """Return an application for `ray.serve.run`; its handle is called as handle.remote(task, …).

    path, dtype: as for `fbg.load`, on every machine of the cluster. num_threads: for a replica,
    which takes as many CPUs. min_replicas, max_replicas: how many; Ray starts another one
    while a replica has more than `requests_per_replica` at a time. options: others of a deployment.

    >>> handle = serve.run(deploy("path/to/model", "int8"))  # doctest: +SKIP
    >>> handle.remote("encode", ["a text", "another"]).result().shape  # doctest: +SKIP
    (2, 384)
    """
    settings: dict[str, Any] = {
        "name": "fbg",
        "ray_actor_options": {"num_cpus": num_threads},
        "max_ongoing_requests": 16 * requests_per_replica,
        "autoscaling_config": {
            "min_replicas": min_replicas,
            "max_replicas": max_replicas,
            "target_ongoing_requests": requests_per_replica,
        },
    }
    return serve.deployment(Replica, **{**settings, **options}).bind(path, dtype, num_threads)
