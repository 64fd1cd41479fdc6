# amaranth: UnusedElaboratable=no
"""The emitted Verilog is proven to be the machine that Amaranth's simulator runs."""

import pytest
from amaranth.hdl import signed
from amaranth.lib import data

from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from compiler.ir.walk import Loop, Walk
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.activity import ActivityCounters
from hw.barrier import BarrierNetwork
from hw.chip import Chip
from hw.copy_unit import CopyUnit
from hw.fold_unit import FoldUnit
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature
from hw.link import LinkReceiver, LinkTransmitter
from hw.link_channel import LinkChannel
from hw.load_unit import LoadUnit
from hw.merge_unit import MergeUnit
from hw.page_fifo import PageFifo
from hw.semaphore_link import SemaphoreReceiver, SemaphoreTransmitter
from hw.split_unit import SplitUnit
from hw.store_unit import StoreUnit
from hw.tensor_memory import OperandMemory, ResultMemory
from hw.tile_unit import TileUnit
from hw.turn_counter import TurnCounter
from hw.walk_counter import WalkCounter
from tests.hw.hand_built import shared_link
from tests.hw.verilog.equivalence import prove_equal
from tests.hw.verilog.random_logic import RandomLogic
from tests.hw.verilog.tools import written_to, yosys_messages
from tests.programs import finished, program_for
from tests.tiers import chosen

pytestmark = pytest.mark.formal

BEAT = data.ArrayLayout(signed(4), 3)
SUM = data.ArrayLayout(signed(7), 3)
WALK = Walk((Loop(2, 0), Loop(3, 2), Loop(2, 1)))
LINK = {"page_beats": 3, "credits": 3}
COMPONENTS = {
    "activity": lambda: ActivityCounters(("one", "other")),
    "barrier": lambda: BarrierNetwork(receivers=3, depth_pages=2),
    "fold": lambda: FoldUnit(BEAT, body=left_fold(3)),
    "fold of maxima": lambda: FoldUnit(BEAT, body=Max(Add(Operand(0), Operand(1)), Operand(2))),
    "map": lambda: FoldUnit(BEAT, body=Max(Operand(0), Literal(-3))),
    "copy": lambda: CopyUnit(BEAT, outputs=3),
    "merge": lambda: MergeUnit(BEAT, inputs=2, turns=(0, 1, 1), page_beats=2),
    "split": lambda: SplitUnit(BEAT, outputs=3, turns=(2, 0, 1, 2), page_beats=3),
    "turns": lambda: TurnCounter((1, 0, 2), page_beats=1),
    "credit channel": lambda: LinkChannel(CreditLinkSignature(5), latency_cycles=3),
    "semaphore channel": lambda: LinkChannel(SemaphoreLinkSignature(5), latency_cycles=1),
    "load": lambda: LoadUnit(BEAT, walk=WALK, page_beats=3, depth_words=18),
    "store": lambda: StoreUnit(BEAT, walk=WALK, page_beats=3, depth_words=18),
    "walk": lambda: WalkCounter(WALK, page_beats=3, depth_words=18),
    "page fifo": lambda: PageFifo(BEAT, page_beats=3, depth_pages=2),
    "committing page fifo": lambda: PageFifo(BEAT, page_beats=2, depth_pages=2, commits=True),
    "page fifo of one beat": lambda: PageFifo(BEAT, page_beats=1, depth_pages=1),
    "page fifo to fall through": lambda: PageFifo(
        BEAT, page_beats=3, depth_pages=2, fall_through=True
    ),
    "page fifo of one beat to fall through": lambda: PageFifo(
        BEAT, page_beats=1, depth_pages=1, fall_through=True
    ),
    "operand memory": lambda: OperandMemory(BEAT, depth_words=5),
    "memory of one word": lambda: OperandMemory(BEAT, depth_words=1),
    "result memory": lambda: ResultMemory(BEAT, depth_words=4),
    "semaphore transmitter": lambda: SemaphoreTransmitter(BEAT, width_bits=8, **LINK),
    "semaphore receiver": lambda: SemaphoreReceiver(BEAT, width_bits=8, depth_pages=3),
    "slow transmitter": lambda: LinkTransmitter(BEAT, width_bits=5, flit_cycles=3, **LINK),
    "transmitter of a depth from a port": lambda: LinkTransmitter(
        BEAT, width_bits=5, depth_from_port=True, **LINK
    ),
    **{
        f"transmitter of {bits} bits": lambda bits=bits: LinkTransmitter(
            BEAT, width_bits=bits, **LINK
        )
        for bits in (1, 5, 6, 12, 20)
    },
    **{
        f"receiver of {bits} bits": lambda bits=bits: LinkReceiver(BEAT, width_bits=bits)
        for bits in (1, 5, 6, 12, 20)
    },
    **{
        f"tile unit of {lanes}": lambda lanes=lanes: TileUnit(
            data.ArrayLayout(signed(3), lanes),
            data.ArrayLayout(signed(8), lanes),
            block_count=2,
            result_pages=2,
        )
        for lanes in (1, 2, 3)
    },
}
PROGRAMS = {
    "tree over 2": program_for(2, 2, 4, chips=2, tile=2),
    "star over 3, tiles of 1": program_for(2, 2, 3, chips=3, tile=1, reduce="star"),
    "semaphores": program_for(2, 2, 4, chips=2, tile=2, target="semaphore-mesh"),
    "barrier, narrow links": program_for(
        2, 2, 4, chips=2, tile=2, target="barrier-mesh", link_width_bits=24
    ),
    "turns": shared_link(),
    "sums on every chip": program_for(2, 2, 4, tile=2, plan=ShardPlan(2, "star", result="all")),
    "map, sums of 18 bits": finished(
        MatmulSpec(2, 2, 4, sum_bits=18, map=Max(Operand(0), Literal(0))), chips=2, tile=2
    ),
}


@pytest.mark.parametrize("build", COMPONENTS.values(), ids=COMPONENTS)
def test_component(build, tmp_path):
    prove_equal(tmp_path, build)


@pytest.mark.parametrize("chip", chosen([0, 1], [0]))
@pytest.mark.parametrize("name", chosen(PROGRAMS, ["semaphores"]))
def test_whole_chip(name, chip, tmp_path):
    prove_equal(tmp_path, lambda: Chip(PROGRAMS[name], chip, host=True))


@pytest.mark.parametrize("group", chosen(range(3), [0]))
def test_random_logic(group, tmp_path):
    seeds = range(6 * group, 6 * group + 6)
    prove_equal(tmp_path, *(lambda seed=seed: RandomLogic(seed) for seed in seeds))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("level != 3'd5", "level != 3'd4"),
        ("level + 3'd1", "level - 3'd1"),
        ("if (rst) read_beat <= 2'd0;", "if (rst) read_beat <= 2'd1;"),
        ("storage[write__addr] <= i__payload", "storage[read__addr] <= i__payload"),
        ("o__valid & o__ready", "o__ready"),
    ],
)
def test_a_difference_is_found(right, wrong, tmp_path, monkeypatch):
    build = COMPONENTS["page fifo"]
    prove_equal(tmp_path, build)
    text = (tmp_path / "0.v").read_text()
    assert right in text
    written_to(tmp_path, [("0.v", text.replace(right, wrong))])
    with pytest.raises(AssertionError, match=r"Found \d+ unproven \$equiv cells"):
        yosys_messages(tmp_path, "script prove.ys")
