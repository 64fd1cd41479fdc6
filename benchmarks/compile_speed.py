"""Speed of the compiler: what it takes to compile and to certify, by chips and by extent.

Prints processor seconds of each step, the most memory that the process had, seconds on the clock,
and processor time for each stage of the program, which must not grow. Each point is measured in a
process of its own, and each figure is the least of several rounds.
"""

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import shardwright as sw
from compiler.check import check

TILE = 8
ROUNDS = 3
TITLES = ("product", "chips", "", "stages", "compile", "certify", "clock", "memory", "stage")


@dataclass(frozen=True)
class Case:
    """A product and the chips that it is spread over."""

    m: int
    n: int
    k: int
    chips: int
    reduce: str = "tree"


CASES = (
    Case(64, 64, 2048, 16),
    Case(64, 64, 2048, 64),
    Case(64, 64, 8192, 256),
    Case(64, 64, 8192, 256, "star"),
    Case(64, 64, 8192, 1024),
    Case(64, 64, 3200, 400, "star"),
    Case(1024, 1024, 1024, 16),
    Case(4096, 4096, 4096, 16),
    Case(65536, 65536, 65536, 16),
)


def measured(case: Case) -> dict[str, float]:
    """Stages; seconds to compile and to certify once more, and on the clock; megabytes."""
    target = sw.targets.get("token-mesh", tile=TILE, link_ports=512, memory_bytes=2**40)
    spec = sw.MatmulSpec(case.m, case.n, case.k)
    plan = sw.ShardPlan(case.chips, case.reduce)
    begin, clock = time.process_time(), time.perf_counter()
    program = sw.compile(spec, target, plan)
    compiled, clock = time.process_time(), time.perf_counter() - clock
    certificate = check(program)
    certified = time.process_time()
    assert certificate == program.certificate
    return {
        "stages": len(program.stages),
        "compile": compiled - begin,
        "certify": certified - compiled,
        "clock": clock,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_a_process(case: Case) -> dict[str, float]:
    """The figures of a case from a process that does nothing else."""
    command = [sys.executable, __file__, json.dumps(asdict(case))]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(finished.stdout)


def main() -> None:
    """Print the figures of all cases; of one alone, if it is stated."""
    if len(sys.argv) > 1:
        print(json.dumps(measured(Case(**json.loads(sys.argv[1])))))
        return
    print("{:>19}  {:>5} {:4}  {:>6}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}".format(*TITLES))
    for case in CASES:
        rounds = [in_a_process(case) for _ in range(ROUNDS)]
        least = {name: min(figures[name] for figures in rounds) for name in rounds[0]}
        seconds = "  ".join(f"{least[name]:5.2f} s" for name in ("compile", "certify", "clock"))
        product = f"{case.m}x{case.n}x{case.k}"
        print(
            f"{product:>19}  {case.chips:5} {case.reduce:4}  {least['stages']:6.0f}  {seconds}  "
            f"{least['memory']:4.0f} MB  {1000 * least['compile'] / least['stages']:4.1f} ms"
        )


if __name__ == "__main__":
    main()
