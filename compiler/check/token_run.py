"""The token graph, run page by page with the program's own depths until it repeats itself.

Every stage, link and operation takes a beat in the first cycle in which its operands, its own
register and room downstream are there. A stage can pass a page once it is known when the pages that
it takes are there, and when the slots that it fills come free. So the pages of a component pass
like tokens, in any order in which all of that is known; if nobody can go on, the tokens are stuck.

All stages of a component keep to the same round. What a round does depends on nothing but the times
that the rounds before it have left behind: when each stage, link and operation passed its last
beat, and when the slots of each buffer came free. Once all of these are what they were some rounds
ago, but for a number of cycles by which all have moved on, every later round does what the round
that many rounds before it did, so many cycles later. Until then every round is run, and all of them
if that never happens.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import chain

from compiler.check.held import ROOM, Held, Waits
from compiler.check.repeating_pages import MOST_PERIOD, RepeatingPages
from compiler.check.token_stages import TokenStage, token_stages
from compiler.flow.components import Component
from compiler.ir.program import Program
from compiler.latencies import FIFO_CYCLES

MOST_SAID = 8
"""Stages in a circle of which it is said what they wait for."""


@dataclass
class TokenRun:
    """Times of a run of one component.

    Parameters
    ----------
    bounded : bool
        Whether depths count. If not, there is room for every page.

    Attributes
    ----------
    end : int
        The cycle in which the last beat is stored.
    sent : dict
        Cycles of the first and the last beat of each stage; a load's are those that its product
        makes it keep.
    waited : dict
        By buffer, the cycles for which its room was waited for in the rounds that were run.
    rounds_run : int
        Rounds that were run one by one.
    stuck : str
        Who waits for what, if nobody can go on.
    """

    program: Program
    part: Component
    bounded: bool = True
    end: int = 0
    sent: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    waited: dict[str, int] = field(default_factory=dict[str, int])
    rounds_run: int = 0
    stuck: str = ""

    def __post_init__(self) -> None:
        self._waits = Waits(self.sent, self.waited)
        self._held: dict[str, Held] = {}
        for name, share in self.part.share.items():
            buffer = self.program.buffer_by_name[name]
            depth = self.part.rounds * share
            if self.bounded:
                depth = min(buffer.depth_pages or 0, depth)
            through = 0 if buffer.fall_through else FIFO_CYCLES
            beats = buffer.page.beats
            self._held[name] = Held(name, depth, share, beats=beats, through=through)
        self._stages = token_stages(self.program, self.part, self._held, self._waits)

    def run(self) -> "TokenRun":
        """Run the component and return this run."""
        reach = max(map(self._reach, chain.from_iterable(s.outs for s in self.part.stages)))
        repeating = RepeatingPages(reach)
        lasts: deque[dict[str, int]] = deque(maxlen=MOST_PERIOD + 1)
        for _ in range(self.part.rounds):
            before = self.end
            self.stuck = self._round()
            if self.stuck:
                break
            self.end = max(last for _, last in self.sent.values())
            self.rounds_run += 1
            lasts.append({stage: last for stage, (_, last) in self.sent.items()})
            period = repeating.period(self._times_since(before))
            if period is not None:
                self._go_on(list(lasts)[-1 - period :])
                break
        return self

    def _reach(self, name: str) -> int:
        """Rounds over which a slot of a buffer is used again."""
        depth = self.program.buffer_by_name[name].depth_pages or 0
        rounds = -(-depth // self.part.share.get(name, 1))
        return rounds if rounds < self.part.rounds else 1

    def _round(self) -> str:
        """Let every stage pass its pages of a round; say who waits for whom if they cannot."""
        waiting: list[TokenStage] = self._stages
        for stage in waiting:
            stage.left = stage.pages_in_round
        while waiting:
            before = sum(stage.left for stage in waiting)
            for stage in waiting:
                while stage.left and stage.waits_for() is None:
                    stage.move()
                    stage.left -= 1
            waiting = [stage for stage in waiting if stage.left]
            if waiting and sum(stage.left for stage in waiting) == before:
                return self._circle(waiting)
        return ""

    def _circle(self, waiting: list[TokenStage]) -> str:
        """Stages that wait for each other.

        Whoever is waited for waits too: its page of this round, or of one before, has not passed.
        """
        fills = {held.name: stage for stage in waiting for held in stage.outs}
        takes = {held.name: stage for stage in waiting for held in stage.ins}
        waits: dict[str, str] = {}
        stage = waiting[0]
        while stage.name not in waits:
            missing = stage.waits_for()
            assert missing is not None
            waits[stage.name] = f"{stage.name} waits for {missing}"
            stage = (takes if missing.what == ROOM else fills)[missing.buffer]
        names = list(waits)
        circle = [waits[name] for name in names[names.index(stage.name) :]]
        rest = f", and {len(circle) - MOST_SAID} more" if len(circle) > MOST_SAID else ""
        return f"no stage can go on: {', '.join(circle[:MOST_SAID])}{rest}"

    def _times_since(self, cycle: int) -> list[int]:
        """What the last round has left behind for those after it to wait for."""
        left = (beats for held in self._held.values() for beats in held.last_taken())
        passed = (stage.passed() for stage in self._stages)
        return [time - cycle for time in chain(*left, *passed, (self.end,))]

    def _go_on(self, history: list[dict[str, int]]) -> None:
        """Repeat the rounds behind the first of ``history`` up to the last round of the run."""
        period = len(history) - 1
        turns, rest = divmod(self.part.rounds - self.rounds_run, period)
        for stage, (first, last) in self.sent.items():
            moved = (last - history[0][stage]) * (turns + 1)
            self.sent[stage] = (first, history[rest][stage] + moved)
        self.end = max(last for _, last in self.sent.values())
