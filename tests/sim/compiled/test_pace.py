"""The number of threads, chosen by the time that each choice takes."""

import pytest

from sim.compiled import pace as module
from sim.compiled.pace import Pace


class Clock:
    """Time as spans of given lengths take it."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)

    def chosen(self, pace: Pace, seconds: dict[int, float], spans: int) -> list[int]:
        taken = []
        for _ in range(spans):
            with pace.measured() as threads:
                self.now += seconds[threads]
            taken.append(threads)
        return taken


def test_every_choice_is_tried_at_first(monkeypatch):
    assert Clock(monkeypatch).chosen(Pace((1, 4)), {1: 1.0, 4: 1.0}, 2) == [1, 4]


@pytest.mark.parametrize(("slow", "fast"), [(1, 4), (4, 1)])
def test_the_faster_choice_is_taken_nearly_always(monkeypatch, slow, fast):
    taken = Clock(monkeypatch).chosen(Pace((1, 4)), {slow: 2.0, fast: 1.0}, 100)
    assert taken.count(fast) >= 90


def test_threads_that_gain_little_are_left_to_others(monkeypatch):
    taken = Clock(monkeypatch).chosen(Pace((1, 4)), {1: 1.0, 4: 0.95}, 100)
    assert taken.count(1) >= 80


def test_a_choice_that_has_become_faster_is_found(monkeypatch):
    clock, pace = Clock(monkeypatch), Pace((1, 4))
    assert clock.chosen(pace, {1: 1.0, 4: 3.0}, 50).count(1) >= 45
    assert clock.chosen(pace, {1: 1.0, 4: 0.4}, 200).count(4) >= 100


def test_a_single_choice_is_no_choice(monkeypatch):
    assert Clock(monkeypatch).chosen(Pace((3,)), {3: 1.0}, 3) == [3, 3, 3]
