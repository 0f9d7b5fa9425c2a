"""Net: a network from a file, as a user holds it."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from fbg import _fbg
from fbg.arrays import Array, as_array, require_integer
from fbg.conv.layouts import axes_hint
from fbg.errors import ModelError, install_line
from fbg.graph.graph import Graph
from fbg.importers.backends.base import BackEnd
from fbg.importers.backends.branches import Branches, needs
from fbg.importers.backends.empty import Empty
from fbg.importers.backends.foreign import WrongType
from fbg.importers.backends.native import Native
from fbg.importers.backends.reference import Reference
from fbg.importers.description import UNKNOWN, Network, TensorType
from fbg.importers.feeds import calibration_feeds, sizes_by_name
from fbg.importers.int8.calibrated import quantize_by_feeds
from fbg.importers.int8.kept import Kept
from fbg.importers.net_plan import NetPlan
from fbg.importers.onnx.inference import infer
from fbg.importers.placement.tuned import PlacementTrial, placement_trials
from fbg.importers.products import ProductCount, count_narrow, count_products
from fbg.importers.saved_net import write_saved
from fbg.importers.session import AnyBackEnd, PlacedStep, Session, computing
from fbg.importers.simplification import simplified
from fbg.locks import cached_property
from fbg.saved_file import save_arguments
from fbg.tuning.plan_cache import PlanCache
from fbg.tuning.store import store
from fbg.tuning.trials import ConvTrial

MAX_PLAN_BYTES = 256 << 20  # bytes of plans that are kept

Shapes = tuple[tuple[int, ...], ...]  # of the inputs, in their order


class _Ready(NamedTuple):
    """A run as one call. settings: threads, CPU features and tuning, by which it was prepared."""

    settings: tuple[int, int, int]
    inputs: tuple[Shapes, Mapping[str, Array]]
    call: _fbg.TensorCall


class Net:
    """A network that runs, made by `fbg.load` from a file in the ONNX format.

    dtype: "int8" if it was quantized by calibration; else that of its products of floats, "float32"
    or "bfloat16", whatever the file holds.
    network: its description. num_threads: for every run, or None. int8_error: if it
    was quantized by this load, how far the outputs of the first run of the calibration differ
    from float32, as the ratio of the lengths of vectors; None if no output shows it. kept: which
    nodes stay in float32 for a wanted accuracy, as `print(net.kept)` shows it; None if none was
    wanted.

    A plan is prepared for each set of input shapes when it is first seen, and kept. Several threads
    may run the network at once.
    """

    def __init__(
        self,
        network: Network,
        *,
        shapes: Mapping[str, Sequence[int]] | None = None,
        backends: Sequence[str] | None = None,
        placement: Mapping[str, str] | None = None,
        num_threads: int | None = None,
        calibrate: Iterable[object] | None = None,
        dtype: str | None = None,
        higher_precision: Sequence[str] = (),
        equalize: bool = False,
        accuracy: float | None = None,
        narrow_weights: bool | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.dtype = dtype or ("float32" if calibrate is None else "int8")
        self._backends = _backends(backends, rounds=self.dtype == "bfloat16")
        self._placement = placed = dict(placement or {})
        self._file, self._overridden = network, dict[tuple[str, ...], Net]()
        self.network = network = simplified(network, placed)
        if num_threads is not None:
            num_threads = require_integer(num_threads, "num_threads", 1, _fbg.MAX_THREADS)
        self.num_threads = num_threads
        self._sessions: PlanCache[Session] = PlanCache(lambda session: session.kept_bytes)
        self._shapes = _checked_shapes(network, shapes)
        if any(node.branches for node in network.nodes):
            compute = computing(self._backends, _fbg.active_features())
            inlined = infer(network, self.inputs, {}, placed, compute).network
            self.network = network = simplified(inlined, placed)
        if UNKNOWN in network.outputs.values():  # by the file
            types = infer(network, self.inputs, {}, placed).types
            kinds = {name: types.get(name, kind) for name, kind in network.outputs.items()}
            self.network = network = replace(network, outputs=kinds)
        self._check_placement()
        self.int8_error: float | None = None
        self.kept = kept
        if calibrate is not None:
            feeds = enumerate(calibration_feeds(calibrate, self.inputs))
            found = quantize_by_feeds(
                network,
                (self._checked(feed, f"calibrate[{n}]") for n, feed in feeds),
                partial(Net, num_threads=num_threads),
                untouched=placed,
                higher_precision=higher_precision,
                equalize=equalize,
                accuracy=accuracy,
                narrow_weights=narrow_weights,
            )
            self.network, self.int8_error, self.kept = found.network, found.error, found.kept
        self._bound = _inputs_to_bind(network, self._backends)
        self._last_inputs: tuple[Shapes, Mapping[str, Array]] | None = None
        self._ready: _Ready | None = None
        fixed = [self._type(name, None).fixed for name in network.inputs]
        if not self._bound and None not in fixed:
            self._session(tuple(shape for shape in fixed if shape is not None), {})

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Net cannot be pickled: write it with Net.save and load the directory with fbg.load, "
            "or load the file again"
        )

    # Results do not depend on the state that a net keeps, so a copy is the net itself.
    def __copy__(self) -> Net:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Net:
        return self

    @property
    def inputs(self) -> dict[str, TensorType]:
        """The inputs of a run by name; sizes that are not fixed are None or have a name."""
        return {name: self._type(name, None) for name in self.network.inputs}

    @property
    def outputs(self) -> dict[str, TensorType]:
        """The outputs of a run by name, as the file declares them, or inference finds them."""
        return dict(self.network.outputs)

    @property
    def products(self) -> ProductCount:
        """How many products the network has, and how many of them multiply integers of 8 bits.

        Products are convolutions and products of matrices. Products of an ONNX file that is
        already quantized count as the file describes them.
        """
        return count_products(self.network)

    @cached_property
    def narrow_products(self) -> int:
        """How many products have narrow int8 weights, which CPUs without VNNI multiply faster."""
        return count_narrow(self.network)

    if not TYPE_CHECKING:  # knows the attributes

        def __getattr__(self, name: str) -> NoReturn:
            message = (
                f"'Net' object has no attribute {name!r}: a network takes and returns arrays "
                "(run). Texts are for a Model, which fbg.load makes of a directory with "
                "config.json, tokenizer and weights"
            )
            raise AttributeError(message, name=name, obj=self)

    def prepare(self, feeds: Mapping[str, object]) -> None:
        """Prepare the plan for such inputs before the first run; an existing plan is made anew.

        Raises as `run` does.

        >>> net.prepare({"x": x})  # doctest: +SKIP
        """
        net = self._overriding(feeds)
        net._session(*net._planned_by(net._checked(feeds)), anew=True)

    def run(self, feeds: Mapping[str, object]) -> dict[str, Array]:
        """Return the outputs by name for inputs by name.

        Values for inputs that have an initializer in the file take its place. Raises TypeError for
        a dtype, ValueError for a name or shape that the network does not have.

        >>> net.run({"x": x})["y"]  # doctest: +SKIP
        """
        ready, settings = self._ready, self._settings()
        if ready is not None and ready.settings == settings:
            found = ready.call(feeds)
            if found is not None:
                self._last_inputs = ready.inputs
                return found
        if not isinstance(feeds, Mapping):
            raise TypeError(
                f"run: feeds must be a mapping by name, got {type(feeds).__name__}; arrays without "
                "names are for net(x)"
            )
        net = self._overriding(feeds)
        arrays = net._checked(feeds)
        try:
            session = net._session(*net._planned_by(arrays))
            if net is self and not self._bound:
                self._keep_ready(session, arrays, settings)
            return session.run(arrays)
        except WrongType:  # runtimes go by what they compute, and so does a second plan
            net.network = net.network.undeclared()
            return net._session(*net._planned_by(arrays), anew=True).run(arrays)

    def __call__(self, x: object) -> Array:
        """Return the output of a network with one input and one output."""
        if len(self.network.inputs) != 1 or len(self.network.outputs) != 1:
            raise ValueError(
                f"a call takes a network with one input and one output; this one has "
                f"{len(self.network.inputs)} and {len(self.network.outputs)}: use run()"
            )
        return next(iter(self.run({next(iter(self.network.inputs)): x}).values()))

    @property
    def graph(self) -> Graph:
        """The ops of the last run, or of the next one if all shapes are fixed, made anew.

        `print(net.graph)` shows them as a program, each with the nodes that it was made from.
        """
        return self._current("graph").described()

    def plan(self) -> NetPlan:
        """Return what the last run did, or what the next one will do if all shapes are fixed."""
        session = self._current("plan")
        return self._plan(session, session.steps())

    def trials(self) -> list[ConvTrial]:
        """Return the trials of `fbg.tune`: the convolutions of the last run or of the next one."""
        return self._current("tune").trials

    def _placement_trials(self) -> list[PlacementTrial]:
        """Return the trials of `fbg.tune` that time other back ends, for the inputs of the last run
        or of the next one.
        """
        return placement_trials(self._current("tune"))

    def profile(self, feeds: Mapping[str, object], rounds: int = 15) -> NetPlan:
        """Return the plan of a run on these inputs, with the median time of each step.

        A step of another back end than fbg holds all its ops in a row. Raises as `run` does,
        and ValueError unless there is at least one round.

        >>> print(net.profile({"x": x}))  # doctest: +SKIP
        """
        if rounds < 1:
            raise ValueError(f"profile: rounds must be at least 1, got {rounds}")
        self.run(feeds)
        net = self._overriding(feeds)
        arrays = net._checked(feeds)
        session = net._session(*net._planned_by(arrays))
        steps, samples = session.profile(arrays, rounds)
        return replace(self._plan(session, steps), samples=tuple(map(tuple, samples)))

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a directory that `fbg.load` maps: the network as it runs, quantized or not.

        directory: the directory to create; its parent must exist. It is created completely or not
            at all.
        overwrite: replace a saved model of that name. Networks that were loaded from it keep
            working. Any other directory that is not empty is never replaced.

        A network that is loaded from it returns bit-for-bit the same results; an int8 one needs no
        calibration again. Raises FileExistsError if the directory exists and may not be replaced,
        and OSError if it cannot be written.

        >>> net.save("saved")  # doctest: +SKIP
        """
        target, overwrites = save_arguments(directory, overwrite)
        write_saved(target, self.network, self.dtype, self.kept, overwrites)

    def variant(self, network: Network, placement: Mapping[str, str] | None = None) -> Net:
        """Return another network with the same shapes, back ends and threads."""
        return Net(
            network,
            shapes=self._shapes,
            backends=[backend.name for backend in self._backends if backend.name in BACK_ENDS],
            placement=placement,
            num_threads=self.num_threads,
            dtype=self.dtype,
        )

    def _plan(self, session: Session, steps: list[PlacedStep]) -> NetPlan:
        weights = sum(b.weights.nbytes for b in self._backends if isinstance(b, Native))
        return NetPlan(tuple(steps), session.nbytes, session.tensor_bytes, weights)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind}" for name, kind in self.inputs.items())
        outputs = ", ".join(f"{name}: {kind}" for name, kind in self.outputs.items())
        narrow = self.narrow_products
        told = f"{self.products}{f', narrow weights in {narrow}' * (narrow > 0)}"
        told += ", bfloat16 in the others" if self.dtype == "bfloat16" else ""
        return f"Net({self.network.origin}, {inputs} -> {outputs}, {told})"

    def _overriding(self, feeds: Mapping[str, object]) -> Net:
        """Return the network in which initializers that these feeds override are inputs."""
        names = tuple(name for name in self._file.overridable if name in feeds)
        if not names:
            return self
        if self.dtype == "int8":
            raise ValueError(
                f"run: '{names[0]}' is a constant of this network, which was quantized with it"
            )
        net = self._overridden.get(names)
        if net is None:
            net = self.variant(self._file.overridden(names), self._placement)
            self._overridden = {names: net}  # of many sets of names, the last one is kept
        return net

    def _type(self, name: str, array: Array | None) -> TensorType:
        declared = self.network.inputs[name]
        shape = self._shapes.get(name, declared.shape) if array is None else array.shape
        return TensorType(declared.dtype, shape)

    def _check_placement(self) -> None:
        names = {node.name for node in self.network.nodes}
        known = {backend.name for backend in self._backends}
        for node, backend in self._placement.items():
            if node not in names:
                raise ValueError(f"placement: there is no node '{node}'")
            if backend not in known:
                raise ValueError(
                    f"placement: the back end of node '{node}' must be one of "
                    f"{', '.join(sorted(known))}, got {backend!r}"
                )

    def _checked(self, feeds: Mapping[str, object], where: str = "run") -> dict[str, Array]:
        unknown = [name for name in feeds if name not in self.network.inputs]
        if unknown:
            wanted = ", ".join(self.network.inputs)
            raise ValueError(f"{where}: there is no input '{unknown[0]}'; inputs are {wanted}")
        arrays = {}
        for name, declared in self.network.inputs.items():
            if name not in feeds:
                raise ValueError(f"{where}: input '{name}' is missing")
            array = as_array(feeds[name], f"{where}: input '{name}'")
            if declared.dtype.kind == "O" and array.dtype.kind in "UT":  # texts as NumPy makes them
                array = array.astype(object)
            if array.dtype != declared.dtype:
                hint = f"; pass x.astype(np.{declared.dtype})" if array.dtype.kind in "biuf" else ""
                raise TypeError(
                    f"{where}: input '{name}' must be {declared.dtype}, got {array.dtype}{hint}"
                )
            _check_shape(name, array.shape, declared, where)
            arrays[name] = array
        sizes_by_name({name: x.shape for name, x in arrays.items()}, self.network.inputs, where)
        return arrays

    def _current(self, name: str) -> Session:
        """Return what the last run used, prepared again if tuning has found something since."""
        if self._last_inputs is None:
            raise ValueError(f"{name}: the shapes of the inputs are not known yet: pass shapes=")
        return self._session(*self._last_inputs)

    def _planned_by(self, arrays: Mapping[str, Array]) -> tuple[Shapes, Mapping[str, Array]]:
        """Return what a plan for checked inputs depends on: their shapes, and values of some."""
        shapes = tuple([array.shape for array in arrays.values()])
        return shapes, {name: arrays[name] for name in self._bound}

    def _settings(self) -> tuple[int, int, int]:
        """Return what plans depend on besides the inputs; other threads may change it."""
        threads = self.num_threads or _fbg.num_threads()
        return threads, _fbg.active_features(), store.generation

    def _keep_ready(
        self, session: Session, arrays: Mapping[str, Array], settings: tuple[int, int, int]
    ) -> None:
        """Keep what computes these inputs as one call: the next run is likely to have such ones."""
        call = session.as_call
        if call is None or settings != self._settings():
            self._ready = None
        else:
            self._ready = _Ready(settings, self._planned_by(arrays), call)

    def _session(self, shapes: Shapes, bound: Mapping[str, Array], anew: bool = False) -> Session:
        # Both are read once: another thread may change them while the session is prepared.
        threads = self.num_threads or _fbg.num_threads()
        features = _fbg.active_features()
        values = tuple([value.tobytes() for value in bound.values()])
        self._last_inputs = (shapes, bound)
        if anew:
            self._ready = None

        def prepare() -> Session:
            declared = zip(self.network.inputs.items(), shapes, strict=True)
            types = {name: TensorType(kind.dtype, shape) for (name, kind), shape in declared}
            return Session(
                self.network, types, bound, self._backends, self._placement, threads, features
            )

        key = (shapes, values, threads, features)
        return self._sessions.get(key, prepare, MAX_PLAN_BYTES, anew=anew)


def _check_shape(
    name: str, shape: tuple[int, ...], declared: TensorType, where: str = "run"
) -> None:
    if not declared.takes(shape):
        hint = axes_hint(shape, declared.takes)
        raise ValueError(f"{where}: input '{name}' must be {declared}, got shape {shape}{hint}")


def _checked_shapes(
    network: Network, given: Mapping[str, Sequence[int]] | None
) -> dict[str, tuple[int, ...]]:
    shapes: object = given or {}
    if not isinstance(shapes, Mapping):
        example = f"{{'{next(iter(network.inputs))}': (1, …)}}"
        raise TypeError(f"shapes must be a mapping such as {example}, got {shapes!r}")
    result = {}
    for name, shape in shapes.items():
        if name not in network.inputs:
            wanted = ", ".join(network.inputs)
            raise ValueError(f"shapes: there is no input '{name}'; inputs are {wanted}")
        try:
            sizes = tuple(operator.index(size) for size in shape)
        except TypeError:
            raise TypeError(f"shapes: sizes of '{name}' must be integers, got {shape!r}") from None
        if any(size < 0 for size in sizes):
            raise ValueError(f"shapes: sizes of '{name}' must not be negative, got {sizes}")
        _check_shape(name, sizes, network.inputs[name])
        result[name] = sizes
    named = sizes_by_name(result, network.inputs, "shapes")
    for name, kind in network.inputs.items():
        bound = kind.bound(named).fixed
        if name not in result and bound is not None:
            result[name] = bound
    return result


def _onnxruntime() -> AnyBackEnd:
    from fbg.importers.backends.onnxruntime import OnnxRuntime

    return OnnxRuntime()


# In the order in which a network uses them, unless `backends` has another.
BACK_ENDS: dict[str, Callable[[], AnyBackEnd]] = {
    "fbg": Native,
    "onnxruntime": _onnxruntime,
    "reference": Reference,
}


def _backends(names: Sequence[str] | None, rounds: bool) -> list[AnyBackEnd]:
    """Return the back ends of these names, in this order; None: all that are installed.

    rounds: whether products of floats round to bfloat16.
    """
    chosen = tuple(BACK_ENDS) if names is None else names
    if isinstance(chosen, str) or not chosen:
        raise ValueError(f"backends must be a sequence of names, got {names!r}")
    found: list[AnyBackEnd] = []
    for name in chosen:
        if name not in tuple(BACK_ENDS):  # whatever type it has
            raise ValueError(f"backends: {name!r} is not one of {', '.join(BACK_ENDS)}")
        try:
            found.append(Native(rounds) if name == Native.name else BACK_ENDS[name]())
        except ImportError:
            if names is not None:
                line = install_line(name)
                raise ModelError(f"backends: {name} is not installed: {line}") from None
    found.append(Empty())
    native = [i for i, backend in enumerate(found) if isinstance(backend, Native)]
    if native:  # plans of branches need it
        found.insert(native[0] + 1, Branches(found))
    return found


def _inputs_to_bind(network: Network, backends: Sequence[BackEnd]) -> tuple[str, ...]:
    """Return the inputs that ops use as weights or shapes: a plan depends on their values."""
    needed = needs(network, backends)
    for node in reversed(network.nodes):
        if node.op == "Cast" and node.domain == "" and node.outputs[0] in needed:
            needed.add(node.inputs[0])
    return tuple(name for name in network.inputs if name in needed)
