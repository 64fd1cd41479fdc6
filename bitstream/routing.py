"""Place and route from several seeds, by the next router where one does not end."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitstream.build_plan import BuildPlan
from bitstream.router import routers
from bitstream.stages import Attempt, route
from bitstream.tool_errors import FpgaToolEndlessError

SPARE_SEEDS = 2
"""Seeds that are tried beyond those that were asked for, if none of them came to an end."""


@dataclass(frozen=True)
class GivenUp:
    """An attempt that did not come to its end, and why."""

    attempt: Attempt
    why: str


@dataclass(frozen=True)
class Routed:
    """What came of the seeds: nextpnr's report of each attempt that ended, and the others."""

    reports: tuple[tuple[Attempt, dict[str, Any]], ...] = ()
    given_up: tuple[GivenUp, ...] = ()


NOTHING_ROUTED = Routed()


def route_seeds(
    plan: BuildPlan,
    folder: Path,
    *,
    seeds: int,
    router: str,
    limit_seconds: float,
    told: Callable[[str], object] = lambda _: None,
) -> Routed:
    """Place and route from each seed.

    Parameters
    ----------
    router : str
        The router, or ``auto``: from each seed the next one, if the one before does not end.
    limit_seconds : float
        Time of each attempt.
    told : callable
        Told what is tried, and how far it is.

    Raises
    ------
    FpgaToolEndlessError
        If no attempt ended, from spare seeds neither.
    BuildError
        If nextpnr is not there or fails.
    """
    reports: list[tuple[Attempt, dict[str, Any]]] = []
    given_up: list[GivenUp] = []
    endless: list[FpgaToolEndlessError] = []
    for seed in range(1, seeds + SPARE_SEEDS + 1):
        if seed > seeds and reports:
            break
        for name in routers(router):
            attempt = Attempt(seed, name)
            tried = f"seed {seed} of {max(seed, seeds)} by {name}"
            told(tried)
            try:
                report = route(
                    plan,
                    folder,
                    attempt,
                    limit_seconds=limit_seconds,
                    told=lambda left, tried=tried: told(f"{tried}, {left}"),
                )
            except FpgaToolEndlessError as error:
                given_up.append(GivenUp(attempt, error.why))
                endless.append(error)
            else:
                reports.append((attempt, report))
                break
    if not reports:
        raise endless[-1].tried_in_vain(tuple(each.why for each in given_up))
    return Routed(tuple(reports), tuple(given_up))
