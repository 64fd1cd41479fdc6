"""Tables of cables that people write."""

import re

import pytest

from constraints.cabling_file import load_cabling
from constraints.description import load_board
from constraints.errors import CablingFileError, PortUsedTwiceError, UnknownBoardError
from tests.constraints.files import BOARD

TABLE = """\
boards = ["ulx3s-85f", "ulx3s-85f", "ulx3s-85f"]

[[wires]]
from = "c1.out0"
to = "c0.in1"

[[wires]]
from = "c2.out0"
to = "c0.in0"
"""


def load(folder, old="", new=""):
    assert old in TABLE
    path = folder / "cables.toml"
    path.write_text(TABLE.replace(old, new, 1))
    return load_cabling(path)


def test_a_table_says_which_port_goes_to_which(tmp_path):
    cabling = load(tmp_path)
    assert cabling.boards == (load_board("ulx3s-85f"),) * 3
    assert [cable.name for cable in cabling.cables] == ["c1.out0->c0.in1", "c2.out0->c0.in0"]


def test_files_of_boards_stand_beside_it(tmp_path):
    (tmp_path / "mine.toml").write_text(BOARD)
    path = tmp_path / "cables.toml"
    path.write_text(
        'boards = ["mine.toml", "mine.toml"]\n[[wires]]\nfrom = "c0.out0"\nto = "c1.in0"\n'
    )
    cabling = load_cabling(path)
    assert [board.name for board in cabling.boards] == ["bench", "bench"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('to = "c0.in1"', "", r", wires: field 'to' is missing; the fields are from, to$"),
        ("boards", "board", r": field 'board' is unknown; the fields are boards, wires$"),
        (
            '"c1.out0"',
            '"1.out0"',
            r": wires.from must be a chip and its port, as 'c1.out0', not ",
        ),
        ('"c0.in1"', "3", r": wires.to must be a chip and its port, as 'c1.out0', not 3$"),
        (
            '["ulx3s-85f", "ulx3s-85f", "ulx3s-85f"]',
            '"ulx3s-85f"',
            r": boards must be a list of board names, not 'ulx3s-85f'$",
        ),
        (
            '["ulx3s-85f", "ulx3s-85f", "ulx3s-85f"]',
            "[]",
            r": boards must be a list of board names, not \[\]$",
        ),
    ],
)
def test_what_has_not_the_form_of_a_table_is_refused(tmp_path, old, new, message):
    place = re.escape(f"cabling file '{tmp_path / 'cables.toml'}'")
    with pytest.raises(CablingFileError, match=f"^{place}{message}"):
        load(tmp_path, old, new)


def test_wires_must_be_tables(tmp_path):
    path = tmp_path / "cables.toml"
    path.write_text('boards = ["icebreaker"]\nwires = 3\n')
    with pytest.raises(CablingFileError, match=r"wires must be a list of \[\[wires\]\] tables"):
        load_cabling(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CablingFileError, match=r"^cabling file '.*none\.toml' cannot be read: "):
        load_cabling(tmp_path / "none.toml")


def test_what_is_no_toml_is_refused(tmp_path):
    with pytest.raises(CablingFileError, match=r"^cabling file '.*cables\.toml' is no TOML: "):
        load(tmp_path, "[[wires]]", "[[wires")


def test_boards_and_cables_are_checked(tmp_path):
    with pytest.raises(UnknownBoardError, match=r"^no board is named 'ulx4s-85f'"):
        load(tmp_path, "ulx3s", "ulx4s")
    with pytest.raises(PortUsedTwiceError, match="both end at port 'in1' of chip c0"):
        load(tmp_path, "c0.in0", "c0.in1")
