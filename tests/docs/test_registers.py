"""``docs/registers.md`` is what ``docs/update_registers.py`` makes of the register map."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_registers_is_up_to_date():
    made = runpy.run_path(str(DOCS / "update_registers.py"))["text"]()
    assert (DOCS / "registers.md").read_text(encoding="utf-8") == made
