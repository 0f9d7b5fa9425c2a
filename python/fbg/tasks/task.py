"""A task: a method of `Model` that is written as steps, so that others can drive it, too.

class Model(ClassifyMethods, …)          model.classify(…): its steps are run in this thread
class AsyncModel                         await m.classify(…): its work goes to a queue
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from fbg.runtime.steps import Steps, run_steps
from fbg.tasks.context import TaskContext


class TaskMethods:
    """A base of the classes whose methods are tasks of `Model`."""

    _context: TaskContext


P = ParamSpec("P")
Result = TypeVar("Result")


def task(method: Callable[P, Steps[Result]]) -> Callable[P, Result]:
    """Let a method that is written as steps run them and return their result. A decorator."""

    @functools.wraps(method)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        steps, model = method(*args, **options), cast(TaskMethods, args[0])
        return run_steps(steps, model._context.num_threads)

    returned = method.__annotations__["return"]
    method.__annotations__["return"] = returned.removeprefix("Steps[").removesuffix("]")
    return run


def steps_of(method: Callable[..., Result]) -> Callable[..., Steps[Result]]:
    """Return what gives the steps of a task, for the arguments of the method."""
    steps: Callable[..., Steps[Result]] = inspect.unwrap(method)
    return steps
