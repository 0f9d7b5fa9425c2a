"""Tables of calls that must be refused, by their errors and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

Call = Callable[[], object]
Calls = Mapping[str, Call | Sequence[Call]]  # by message
Refusal = Callable[[], None]


def refusals(*, type_errors: Calls, value_errors: Calls) -> pytest.MarkDecorator:
    """Run a test once for each call; its argument `refuse` checks the error and its message.

    A message stands for one call, or for several that are refused alike.
    """

    def refusal(error: type[Exception], message: str, call: Call) -> Refusal:
        def refuse() -> None:
            with pytest.raises(error, match=message):
                call()

        return refuse

    return pytest.mark.parametrize(
        "refuse",
        [
            pytest.param(refusal(error, message, call), id=message)
            for error, calls in ((TypeError, type_errors), (ValueError, value_errors))
            for message, given in calls.items()
            for call in ([given] if callable(given) else given)
        ],
    )
