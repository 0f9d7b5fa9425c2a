"""What a model holds in memory, and what its plans say about it."""

import re
import weakref
from pathlib import Path

import pytest

import fbg
from fbg.checkpoints.checkpoint import Checkpoint
from fbg.runtime.reports import PlanReport
from helpers import tiny_bert, tiny_models
from helpers.fresh_python import run_python
from helpers.safetensors_files import read_header
from helpers.saved_models import WEIGHTS, results

TESTS = Path(__file__).parent.parent

# --- Memory ---------------------------------------------------------------------------------------


def test_quantizing_keeps_no_float32_weights(checkpoint, monkeypatch):
    read = Checkpoint.tensor
    tensors = {}

    def watched(self, name, *shape, **options):
        tensor = read(self, name, *shape, **options)
        tensors[name] = weakref.ref(tensor)
        return tensor

    monkeypatch.setattr(Checkpoint, "tensor", watched)
    model = fbg.load(checkpoint, dtype="int8")
    alive = {name for name, tensor in tensors.items() if tensor() is not None}
    assert alive  # the tables of embeddings and the norms
    assert not {name for name in alive if "dense" in name and name.endswith("weight")}
    assert not {name for name in alive if "self" in name}
    assert model.memory_report().packed_weights > 0


def test_a_process_holds_int8_weights_only(checkpoint, tmp_path):
    geometry = tiny_bert.Geometry(512, 4, 8, 2048, vocab_size=99)  # 48 MiB, 12 in int8
    tiny_bert.write_checkpoint(tmp_path, geometry)
    code = f"""
import ctypes, gc, fbg
def resident():
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what is free goes back to the system
    return int(open("/proc/self/statm").read().split()[1]) * 4096
fbg.load({str(checkpoint)!r}, dtype="int8").encode("a")
before = resident()
model = fbg.load({str(tmp_path)!r}, dtype="int8", num_threads=1)
print(resident() - before, model.memory_report().total)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    grown, reported = map(int, result.stdout.split())
    assert reported < 16 << 20
    assert grown < reported + (8 << 20)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8"])
def test_each_weight_is_packed_once(checkpoint, dtype):
    before = fbg.pack_count()
    model = fbg.load(checkpoint, dtype=dtype, smooth=False)
    layers = 4 * model.config.num_layers
    assert fbg.pack_count() - before == layers + 1  # and the pooler


def test_smoothing_packs_each_weight_once_more_in_float32(checkpoint, tmp_path):
    before = fbg.pack_count()
    model = fbg.load(checkpoint, dtype="int8")
    assert fbg.pack_count() - before == 2 * 4 * model.config.num_layers + 1

    path = tiny_models.write_tiny(tmp_path, "albert")  # its layers share their weights
    before = fbg.pack_count()
    network = fbg.load(path, dtype="int8").network
    distinct = {id(layer) for layer in network.layers}
    assert len(distinct) < len(network.layers)
    assert fbg.pack_count() - before == 2 * (4 * len(distinct) + 1) + 1


def test_quantizing_holds_one_layer_of_float32_weights(tmp_path):
    geometry = tiny_bert.Geometry(256, 24, 4, 1024, vocab_size=99)  # 72 MiB in float32
    tiny_bert.write_checkpoint(tmp_path, geometry)
    code = f"""
import resource, fbg
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
fbg.load({str(tmp_path)!r}, dtype="int8", smooth=False)  # imports, and the size of the result
before = peak()
fbg.load({str(tmp_path)!r}, dtype="int8")
print(peak() - before)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 40 << 20


LONGEST = 4096
LENGTHS = [round(8 * 512 ** (n / 63)) for n in range(64)]  # from 8 to LONGEST tokens


def test_texts_take_memory_by_the_length_of_the_longest(tmp_path):
    """Attention holds no scores of all pairs, and of a list no more than its longest text needs."""
    geometry = tiny_bert.Geometry(1024, 1, 16, 1024, 99, max_position_embeddings=LONGEST)
    tiny_bert.write_checkpoint(tmp_path, geometry)

    def grown(lengths, threads):
        result = run_python(f"""
import sys
sys.path.append({str(TESTS)!r})
import fbg
from helpers.peak_memory import peak
model = fbg.load({str(tmp_path)!r}, num_threads={threads})
model.encode("a")
texts = ["a " * (length - 2) for length in {lengths}]
before = peak(reset=True)
model.encode(texts, truncation=False)
print(peak() - before)
""")
        assert result.returncode == 0, result.stderr
        return int(result.stdout)

    for threads in (1, 2):
        alone = grown([LONGEST], threads)
        assert alone < 4.4 * grown([LONGEST // 4], threads)
        assert grown(LENGTHS, threads) < 1.1 * alone


def test_memory_report_adds_up(original, saved):
    model = fbg.load(saved)
    fresh, owned = model.memory_report(), original.memory_report()
    assert fresh.mapped and not owned.mapped
    assert fresh.arenas == fresh.owned == 0
    assert (fresh.packed_weights, fresh.embeddings, fresh.vectors) == (
        owned.packed_weights,
        owned.embeddings,
        owned.vectors,
    )
    assert fresh.embeddings == 99 * (48 + 8) + 4 * 48 * (40 + 2)
    entries = read_header(saved / WEIGHTS)
    del entries["__metadata__"]
    assert fresh.total == max(entry["data_offsets"][1] for entry in entries.values())
    results(model)
    after = model.memory_report()
    assert after.arenas == model.plan(tokens=10).arena_bytes > 0
    assert after.owned == after.arenas
    for part in ("packed weights", "embeddings", "norms and biases", "arenas", "mapped", "total"):
        assert part in str(after)


# --- Plans ----------------------------------------------------------------------------------------


def test_a_plan_names_ops_kernels_and_memory(original, isa):
    report = original.plan(tokens=30)
    text = str(report)
    linears = [op for op in report.ops if op.name.startswith("linear")]
    assert len(linears) == 2 * 4 + 1
    assert [op.name for op in report.ops[:2]] == ["embedding", "layer_norm"]
    assert report.ops[2].name.startswith("linear int8 48x144")
    # What a limit allows may be more than what a family of kernels makes use of.
    isas = {isa, *fbg.isa.supported()[: fbg.isa.supported().index(isa) + 1]}
    for op in linears:
        assert op.kernel.startswith("gemm_")
        assert any(f"_{name}" in op.kernel for name in isas), op.kernel
        assert op.kernel in text
    assert not any(op.kernel for op in report.ops if op not in linears)
    for op in report.ops:
        assert op.name in text
        for offset, size in ((op.offset, op.bytes), (op.scratch_offset, op.scratch_bytes)):
            assert offset % 64 == 0 or not size
            assert offset + size <= report.arena_bytes


def test_kernels_of_a_plan_are_those_that_were_generated(original):
    if fbg.isa.active() == "generic":
        pytest.skip("the portable kernel is not generated")
    generated = {kernel.name for kernel in fbg.kernels()}
    for tokens in (1, 100, 1024):
        kernels = {op.kernel for op in original.plan(tokens).ops} - {""}
        generated |= {kernel.name for kernel in fbg.kernels()}
        assert kernels <= generated


@pytest.mark.parametrize("tokens", [1, 2, 5, 13, 30, 200])
def test_kernels_of_a_plan_are_those_of_its_number_of_tokens(original, isa, tokens):
    """A plan serves all numbers up to its capacity, and names the tiles of the one asked for."""
    for threads in (1, 2):
        for op in PlanReport.of(
            original._hidden_states.runner.plan(tokens, threads), tokens, 1
        ).ops:
            if op.kernel:
                (rows,) = re.findall(r"_(\d+)x\d+_", op.kernel)
                assert 1 <= int(rows) <= tokens
                assert tokens < 200 or int(rows) > 1


def test_outputs_and_scratch_of_a_plan_never_overlap(original):
    for op in original.plan(tokens=64).ops:
        if op.bytes and op.scratch_bytes:
            first, second = sorted([(op.offset, op.bytes), (op.scratch_offset, op.scratch_bytes)])
            assert first[0] + first[1] <= second[0]


@pytest.mark.parametrize(
    ("tokens", "error"), [(0, ValueError), (1025, ValueError), (1.5, TypeError), ("3", TypeError)]
)
def test_a_plan_of_an_impossible_size_is_refused(original, tokens, error):
    with pytest.raises(error, match="plan: tokens must be"):
        original.plan(tokens)
