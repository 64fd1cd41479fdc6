"""The untimed interpreter: pages of numbers through bounded buffers, in numpy.

It is the third opinion beside numpy and the hardware. Every stage is a process that takes and puts
whole pages and waits when a buffer is empty or full; a page is its beats, so a product multiplies
columns by rows whatever they were meant to be; sums wrap where their type ends, as they do in the
hardware. So it also shows what a broken program would do.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle, repeat

import numpy as np

from compiler.ir.body import Body, fold_up
from compiler.ir.dtype import INT64, DType
from compiler.ir.edge import Barrier, Edge
from compiler.ir.program import Program
from compiler.ir.stage import (
    Copy,
    Fold,
    Load,
    Map,
    MatmulTiles,
    Merge,
    Recv,
    Split,
    Stage,
    Store,
)
from compiler.ir.tensor import Tensor
from sim.binding import Inputs, bind
from sim.errors import ElementTypeError, InterpreterDeadlockError
from sim.exact import exact, wrapped
from sim.images import beats_of, matrix_of_beats
from sim.parts import assembled

Wait = str
Process = Iterator[Wait]


@dataclass
class PageQueue:
    """A buffer at run time. A slot is reserved before its page is there."""

    name: str
    depth_pages: int
    pages: deque[np.ndarray] = field(default_factory=deque)
    reserved: int = 0
    pushed: int = 0
    popped: int = 0

    def has_room(self) -> bool:
        """Whether a slot can be reserved."""
        return self.reserved - self.popped < self.depth_pages

    def push(self, page: np.ndarray) -> None:
        """Put a page into a slot that was reserved for it."""
        self.pushed += 1
        self.pages.append(page)

    def pop(self) -> np.ndarray:
        """Take the oldest page."""
        self.popped += 1
        return self.pages.popleft()


@dataclass(frozen=True)
class Interpretation:
    """What the interpreter computed.

    Attributes
    ----------
    stored : dict
        Contents of each stored tensor, by its name.
    queues : dict
        Every buffer by its name, with its counts.
    """

    program: Program
    stored: dict[str, np.ndarray]
    queues: dict[str, PageQueue]

    @cached_property
    def outputs(self) -> dict[str, np.ndarray]:
        """Every output of the program by its name, put together from what chips have stored."""
        program = self.program
        return {name: assembled(program, self.stored, name) for name in program.graph.outputs}

    @property
    def c(self) -> np.ndarray:
        """The one output of a program of one product."""
        (output,) = self.outputs.values()
        return output


def interpret(
    program: Program, *arrays: np.ndarray | None, inputs: Inputs | None = None
) -> Interpretation:
    """Run a program on its inputs without time.

    Parameters
    ----------
    *arrays : array or None
        Inputs in the order of ``program.graph.inputs``; ``None`` where the program holds them.
    inputs : mapping, optional
        Inputs by name.

    Raises
    ------
    OperandError, ExactError
        If the inputs do not fit the program.
    ElementTypeError
        If pages hold elements of a type that the machine does not compute with.
    InterpreterDeadlockError
        If no process can go on before all are at their end; it names them and what they wait on.
    """
    program = program.canonical
    return _Machine(program, bind(program, *arrays, inputs=inputs)).run()


class _Machine:
    def __init__(self, program: Program, contents: dict[str, np.ndarray]):
        self.program = program
        for buffer in program.buffers:
            dtype = buffer.page.dtype
            if not dtype.is_summed:
                raise ElementTypeError(what=f"buffer {buffer.name!r}", dtype=str(dtype))
        self.memory = {
            tensor.name: _pages(contents.get(tensor.name), tensor) for tensor in program.tensors
        }
        self.queues = {
            buffer.name: PageQueue(buffer.name, buffer.depth_pages or 0)
            for buffer in program.buffers
        }

    def run(self) -> Interpretation:
        """Step all processes in turn until none can go on."""
        processes = {stage.name: self._process(stage) for stage in self.program.stages}
        waits: dict[str, Wait] = {}
        before = None
        while before != self._progress():
            before = self._progress()
            for name, process in list(processes.items()):
                wait = next(process, None)
                if wait is None:
                    del processes[name]
                    waits.pop(name, None)
                else:
                    waits[name] = wait
        ends = [s.name for s in self.program.stages if isinstance(s.kind, Load | Store)]
        if any(name in processes for name in ends):
            for name in self._at_rest(set(processes)):
                waits.pop(name, None)
            raise InterpreterDeadlockError(
                waits=tuple(f"{name} waits for {wait}" for name, wait in waits.items())
            )
        return Interpretation(self.program, self._stored(), self.queues)

    def _at_rest(self, unfinished: set[str]) -> set[str]:
        """Stages that have done all that could ever come to them, and so wait for nothing."""
        resting: set[str] = set()
        moving = {s.name: s for s in self.program.stages if not isinstance(s.kind, Load | Store)}
        known = -1
        while known < len(resting):
            known = len(resting)
            for stage in moving.values():
                edges = self.program.edges_by_destination.get(stage.name, ())
                ended = all(e.source in resting or e.source not in unfinished for e in edges)
                empty = not any(self.queues[edge.buffer].pages for edge in edges)
                whole = all(self.queues[n].reserved == self.queues[n].pushed for n in stage.outs)
                if ended and empty and whole:
                    resting.add(stage.name)
        return resting

    def _progress(self) -> tuple[int, ...]:
        return tuple(
            count
            for queue in self.queues.values()
            for count in (queue.reserved, queue.pushed, queue.popped)
        )

    def _stored(self) -> dict[str, np.ndarray]:
        stored = {s.kind.tensor for s in self.program.stages if isinstance(s.kind, Store)}
        return {
            tensor.name: matrix_of_beats(self.memory[tensor.name], tensor)
            for tensor in self.program.tensors
            if tensor.name in stored
        }

    # --- Processes: each yields what it waits for, and ends when it has no more to do ------------

    def _process(self, stage: Stage) -> Process:
        match stage.kind:
            case Load(tensor, walk):
                assert walk is not None
                return self._load(self.memory[tensor], walk.pages(), *stage.outs)
            case MatmulTiles(block_count):
                return self._multiply(block_count or 0, *stage.ins, *stage.outs)
            case Recv():
                (edge,) = self.program.edges_by_destination[stage.name]
                return self._receive(edge, *stage.outs)
            case Fold(body) | Map(body):
                (out,) = stage.outs
                return self._combine(body, stage.ins, out)
            case Copy():
                (source,) = stage.ins
                return self._copy(source, stage.outs)
            case Merge(turns):
                (out,) = stage.outs
                return self._switch((stage.ins[i] for i in cycle(turns)), repeat(out))
            case Split(turns):
                (source,) = stage.ins
                return self._switch(repeat(source), (stage.outs[i] for i in cycle(turns)))
            case Store(tensor, walk):
                assert walk is not None
                return self._store(self.memory[tensor], walk.pages(), *stage.ins)

    def _load(self, memory: np.ndarray, walk: Iterator[int], out: str) -> Process:
        for page in walk:
            yield from self._reserve(out)
            self.queues[out].push(memory[page])

    def _multiply(self, block_count: int, a: str, b: str, out: str) -> Process:
        dtype = self.program.buffer_by_name[out].page.dtype
        while True:
            yield from self._await_pages((a, b))
            yield from self._reserve(out)
            total = np.zeros((self.program.tile, self.program.tile), dtype=np.int64)
            for _ in range(block_count):
                yield from self._await_pages((a, b))
                columns, rows = self.queues[a].pop(), self.queues[b].pop()
                total += columns.T @ rows
            self.queues[out].push(wrapped(total, dtype))

    def _receive(self, edge: Edge, landing: str) -> Process:
        """Carry pages over a link: the sender keeps a page until the receiver has a slot."""
        while True:
            yield from self._await_pages((edge.buffer,))
            if isinstance(edge.handoff, Barrier):
                yield from self._await_round(edge)
            yield from self._reserve(landing)
            self.queues[landing].push(self.queues[edge.buffer].pop())

    def _await_round(self, edge: Edge) -> Process:
        """Wait until every receiver of the barrier has a slot for the page of this round."""
        round_index = self.queues[edge.buffer].popped
        for other in self.program.edges:
            if other.handoff == edge.handoff:
                (landing,) = self.program.stage_by_name[other.destination].outs
                queue = self.queues[landing]
                while queue.popped + queue.depth_pages <= round_index:
                    yield f"the barrier: {landing} has no slot for page {round_index}"

    def _combine(self, body: Body, ins: tuple[str, ...], out: str) -> Process:
        dtype = self.program.buffer_by_name[out].page.dtype
        while True:
            yield from self._await_pages(ins)
            yield from self._reserve(out)
            pages = [self.queues[name].pop() for name in ins]
            self.queues[out].push(wrapped(evaluate(body, pages, dtype), dtype))

    def _copy(self, source: str, outs: tuple[str, ...]) -> Process:
        while True:
            yield from self._await_pages((source,))
            for out in outs:
                yield from self._reserve(out)
            page = self.queues[source].pop()
            for out in outs:
                self.queues[out].push(page)

    def _switch(self, sources: Iterator[str], outs: Iterator[str]) -> Process:
        """Hand pages on, each from the source and to the output whose turn it is."""
        for source, out in zip(sources, outs, strict=False):
            yield from self._await_pages((source,))
            yield from self._reserve(out)
            self.queues[out].push(self.queues[source].pop())

    def _store(self, memory: np.ndarray, walk: Iterator[int], source: str) -> Process:
        for page in walk:
            yield from self._await_pages((source,))
            memory[page] = self.queues[source].pop()

    def _await_pages(self, names: tuple[str, ...]) -> Process:
        for name in names:
            while not self.queues[name].pages:
                yield f"a page in {name}"

    def _reserve(self, name: str) -> Process:
        while not self.queues[name].has_room():
            yield f"room in {name}"
        self.queues[name].reserved += 1


def evaluate(body: Body, pages: list[np.ndarray], dtype: DType) -> np.ndarray:
    """The value of an expression over pages; all in it wraps where ``dtype`` ends."""

    def literal(constant: int) -> np.ndarray:
        held = wrapped(np.array(constant, dtype=object), dtype)
        return np.full_like(pages[0], int(held))

    return fold_up(
        body,
        operand=lambda index: pages[index],
        literal=literal,
        add=lambda left, right: wrapped(left + right, dtype),
        maximum=np.maximum,
    )


def _pages(array: np.ndarray | None, tensor: Tensor) -> np.ndarray:
    """A matrix as the pages of its memory, each of them its beats."""
    held = np.zeros((tensor.rows, tensor.cols), np.int64) if array is None else array
    beats = beats_of(exact(held, INT64, tensor.name), tensor)
    return beats.reshape(-1, tensor.tile, tensor.tile)
