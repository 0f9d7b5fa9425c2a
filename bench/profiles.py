"""Where the time of encoders goes, as `fbg profile` says: by sub-layer and by module.

python bench/profiles.py --geometry base distilbert --threads 1 2 --json OUT --resume
"""

from __future__ import annotations

import itertools

import ablation
import checkpoints
import comparison
import timing

from fbg.reports.profiling import profile

DTYPES = ("int8", "bfloat16", "float32")
ROUNDS = 5  # each of which runs the network four times


def main() -> None:
    arguments = ablation.parser(__doc__.splitlines()[0], DTYPES).parse_args()
    report = timing.Report("profiles", arguments)
    for geometry, dtype in itertools.product(arguments.geometry, arguments.dtype):
        case = {"geometry": geometry, "dtype": dtype}
        if not report.rows(case):
            checkpoint = checkpoints.random_exports(geometry, arguments.cache).checkpoint
            found = profile(
                checkpoint,
                arguments.tokens,
                num_threads=arguments.threads,
                dtype=dtype,
                rounds=min(timing.rounds(arguments), ROUNDS),
            )
            rows = found.to_dict()["profiles"]
            for row in rows:
                del row["layers"]  # alike in these models
            report.put(case, [case | row for row in rows])
        print(comparison.text(report.rows(case)), flush=True)


if __name__ == "__main__":
    main()
