"""Tables of calls that must be refused, by their errors and messages."""

from __future__ import annotations

import pytest


def refusals(*, type_errors, value_errors):
    """Run a test once for each call; its argument `refuse` checks the error and its message.

    A message stands for one call, or for several that are refused alike.
    """

    def refusal(error, message, call):
        def refuse():
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
