"""Exceptions of the package, and messages about unknown and missing arguments and packages.

Everything else is a plain TypeError or ValueError.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, TypeVar, cast

# The extra of pyproject.toml that brings a package, by the name under which it is imported.
EXTRAS = {
    **dict.fromkeys(
        ("tokenizers", "huggingface_hub", "ml_dtypes", "jinja2", "markupsafe"), "models"
    ),
    **dict.fromkeys(("click", "tqdm", "pyarrow"), "cli"),
    "matplotlib": "plot",
    **dict.fromkeys(("onnx", "google", "onnxruntime"), "onnx"),
    **dict.fromkeys(("starlette", "uvicorn", "msgspec", "prometheus_client"), "server"),
    "PIL": "vision",
    "semantic_text_splitter": "chunks",
    "opentelemetry": "tracing",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}


Public = TypeVar("Public", bound=Callable[..., Any])  # a class or a function

TAKES_OPTIONS = 0x08  # inspect.CO_VARKEYWORDS, from a module that is slow to import


class ModelError(ValueError):
    """A model, a network or a file of it cannot be used, or a model cannot do what is asked.

    The message names the file and the tensor, node or key, or what the model lacks.
    """


class OverloadedError(RuntimeError):
    """More work waits than a queue may hold; the same call may succeed a moment later."""


class BusyError(RuntimeError):
    """Other runs keep the threads busy, so that nothing can be measured."""


class ClosedError(RuntimeError):
    """A queue was closed and takes no more work."""


def require_known(where: str, options: Iterable[str], *takers: Callable[..., Any]) -> None:
    """Raise TypeError for the first of the options that none of the functions takes by name.

    Every function that passes ``**options`` on calls this first: what takes them in the end has
    another name than what the user called, or says something else about an argument it lacks.

    >>> def pack(x, *, scale, zero_point=0): ...
    >>> require_known("prepare", {"zero_pont": 3}, pack)
    Traceback (most recent call last):
    TypeError: prepare: unknown argument 'zero_pont'; did you mean zero_point?
    """
    known = [name for taker in takers for name in _names(taker)]
    for name in options:
        if name not in known:
            raise TypeError(f"{where}: unknown argument {name!r}; {advice(name, known)}")


def require_given(where: str, options: Iterable[str], taker: Callable[..., Any], name: str) -> None:
    """Raise TypeError for the first option that `taker` needs and that is not given.

    name: the user's name of `taker`.

    >>> def pack(x, *, scale, zero_point=0): ...
    >>> require_given("prepare", {"zero_point": 3}, pack, "PackAWithRowOffset")
    Traceback (most recent call last):
    TypeError: prepare: PackAWithRowOffset needs the argument scale
    """
    from inspect import Parameter, signature

    for parameter in signature(taker).parameters.values():
        needs = parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty
        if needs and parameter.name not in options:
            raise TypeError(f"{where}: {name} needs the argument {parameter.name}")


# The names in messages of functions that compute for another function.
_BELOW = ("gemm", "conv", "convolution", "prepare", "PreparedConv")


def named(error: Exception, function: str) -> Exception:
    """Return an error of the computing function, renamed after the function that the user called.

    >>> named(ValueError("gemm: K = 70000 exceeds 65793"), "linear")
    ValueError('linear: K = 70000 exceeds 65793')
    >>> named(TypeError("pipeline: ReLU does not accept acc"), "conv")
    TypeError('conv: pipeline: ReLU does not accept acc')
    """
    speaker, _, rest = str(error).partition(": ")
    if speaker in _BELOW:
        return type(error)(f"{function}: {rest}")
    return type(error)(f"{function}: {error}") if speaker == "pipeline" else error


def named_arguments(public: Public) -> Public:
    """Let a function, or a class and all its methods, speak of wrong arguments as `require_known`
    does. A decorator.

    Python would name the class that defines a method, of which users may know nothing, and would
    not say what may have been meant. It takes about 0.1 us of a call: `gemm` and what is called as
    often take ``**unknown`` instead.
    """
    if not isinstance(public, type):
        assert isinstance(public, FunctionType)
        return cast(Public, _naming(public, public.__name__, public.__name__, 0))
    methods = {name: f for base in reversed(public.__mro__) for name, f in vars(base).items()}
    for name, method in methods.items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(public, name, _naming(method, f"{public.__name__}.{name}", name, 1))
    made = methods["__init__"]
    if isinstance(made, FunctionType):
        type.__setattr__(public, "__init__", _naming(made, public.__name__, public.__name__, 1))
    return public


def _naming(method: FunctionType, qualified: str, name: str, bound: int) -> Callable[..., Any]:
    """Return a function that raises TypeError, with advice, for an argument that it does not have.

    bound: how many of its arguments users do not give.
    """
    own = FunctionType(
        method.__code__, method.__globals__, name, method.__defaults__, method.__closure__
    )
    own.__kwdefaults__, own.__qualname__ = method.__kwdefaults__, qualified
    asked: FunctionType = getattr(method, "__wrapped__", method)  # set by another decorator
    count = asked.__code__.co_argcount + asked.__code__.co_kwonlyargcount
    known = asked.__code__.co_varnames[bound:count]
    names, takes_any = frozenset(known), bool(asked.__code__.co_flags & TAKES_OPTIONS)

    @functools.wraps(method)
    def checked(*given: Any, **options: Any) -> Any:
        if not takes_any and not options.keys() <= names:
            wrong = next(option for option in options if option not in names)
            raise TypeError(f"{name}: unknown argument {wrong!r}; {advice(wrong, known)}")
        return own(*given, **options)

    checked.__qualname__ = own.__qualname__
    return checked


@functools.lru_cache(maxsize=64)
def _names(taker: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters that may or must be given by name, without `self`, `x` and the like."""
    from inspect import Parameter, signature

    return tuple(
        parameter.name
        for parameter in signature(taker).parameters.values()
        if parameter.kind is Parameter.KEYWORD_ONLY
        or (
            parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
            and parameter.default is not Parameter.empty
        )
    )


def advice(name: str, known: Iterable[str]) -> str:
    """Say which of the known names may have been meant, or what they are."""
    from difflib import get_close_matches

    names = list(dict.fromkeys(known))
    close = get_close_matches(name, names, 1)
    if close:
        return f"did you mean {close[0]}?"
    return f"it takes {', '.join(names)}" if names else "it takes no options"


def install_line(package: str | None) -> str:
    """Return the command that installs a package, perhaps with others that belong to it."""
    name = (package or "").partition(".")[0]
    extra = EXTRAS.get(name)
    return f"pip install {name}" if extra is None else f"pip install 'fbg[{extra}]'"


@contextmanager
def needed(what: str) -> Iterator[None]:
    """Import packages in the block that fbg can do without.

    what: a subject in the plural that needs them. Raises ModuleNotFoundError that says how to
    install the first one that is missing.

    >>> with needed("examples"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: examples need no_such_package: pip install no_such_package
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "fbg":
            raise
        message = f"{what} need {name}: {install_line(name)}"
        raise ModuleNotFoundError(message, name=name) from None
