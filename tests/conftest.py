"""What the tests share: a hypothesis profile, and fixtures for the settings of a process."""

import asyncio
import gc
import inspect
import os

import pytest
from hypothesis import HealthCheck, settings

import fbg

# What was tuned on this machine is none of the tests' business.
os.environ["FBG_TUNING_CACHE"] = "off"

# Fixtures here only set the process-wide ISA, which holds for all examples of a test alike.
settings.register_profile(
    "fbg", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.register_profile("ci", settings.get_profile("fbg"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "fbg")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage neither while thousands of tests are collected, nor among them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine in a loop of its own, for a minute at most."""
    test, names = pyfuncitem.obj, pyfuncitem._fixtureinfo.argnames
    if not inspect.iscoroutinefunction(test):
        return None

    async def bounded():
        await asyncio.wait_for(test(**{name: pyfuncitem.funcargs[name] for name in names}), 60)

    asyncio.run(bounded())
    return True


@pytest.fixture(params=fbg.isa.supported())
def isa(request):
    """Run the test once under each ISA that this machine has."""
    with fbg.isa.limit(request.param):
        assert fbg.isa.active() == request.param
        yield request.param


@pytest.fixture
def keep_settings():
    """For what sets the number of threads or the ISA: both are as before afterwards."""
    threads, limit = fbg.get_num_threads(), fbg._fbg.isa_limit()
    yield
    fbg.set_num_threads(threads)
    fbg._fbg.set_isa_limit(limit)


@pytest.fixture
def tuning_cache(tmp_path, monkeypatch):
    """The file of what was tuned, which is not there yet; measurements take little time."""
    from fbg.tuning import trials
    from fbg.tuning.store import store

    file = tmp_path / "cache" / "tuning.json"
    monkeypatch.setenv("FBG_TUNING_CACHE", str(file))
    for name, value in (("PRODUCT_BUDGET", 0.0), ("CONV_BUDGET", 0.0), ("ROUNDS", (1, 1))):
        monkeypatch.setattr(trials, name, value)
    store.forget()
    yield file
    monkeypatch.undo()
    store.forget()
