"""`python -m bench`: run the benchmarks, print their ratios."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bench import generation, labels, report, search, solver, training, web

BENCHMARKS = {
    "search": search.searches,
    "rollouts": search.steps,
    "solver": solver.solver,
    "generation": generation.generation,
    "training": training.training,
    "web": web.web,
    "costs": labels.costs,
    "labels": labels.frontier,
    "ablations": labels.ablations,
    "nodes": labels.solving,
    "labels-0.1": labels.quality,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here, too")
    options = parser.parse_args()
    unknown = set(options.names) - BENCHMARKS.keys()
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: there is {', '.join(BENCHMARKS)}")
    facts = report.machine()
    print(f"{facts['processor']}, {facts['cores']} cores, {facts['date']}\n")
    tables = []
    for name in options.names or BENCHMARKS:
        for table in BENCHMARKS[name]():
            print(table.text(), end="\n\n", flush=True)
            tables.append(table)
    if options.json:
        options.json.write_text(json.dumps(report.as_json(tables), indent=2) + "\n")


main()
