"""What Verilator's lint may say of the Verilog, and why it does not matter."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Waiver:
    """A rule that is waived for the messages that match a pattern."""

    rule: str
    match: str
    reason: str


WAIVERS = (
    Waiver(
        "DECLFILENAME",
        "*does not match MODULE name*",
        "The file of a chip holds the modules inside of it as well.",
    ),
    Waiver(
        "UNUSEDSIGNAL",
        "*host__a?prot*",
        "AXI4-Lite has protection bits; every access is allowed the same.",
    ),
    Waiver(
        "UNUSEDSIGNAL",
        "*bus__wdata*",
        "Tiles of less than 4 use fewer bytes of a bus word than it has.",
    ),
    Waiver("UNUSEDSIGNAL", "*bus__wstrb*", "The same."),
    Waiver(
        "UNUSEDSIGNAL",
        "*link__flit__payload*",
        "On a link that is wider than a beat, the bits beyond the beat carry zeros.",
    ),
)
"""All of them. None is about widths."""


def waivers_file() -> str:
    """The waivers as a file that Verilator reads next to the Verilog."""
    lines = ["`verilator_config"]
    for waiver in WAIVERS:
        lines.append(f"// {waiver.reason}")
        lines.append(f'lint_off -rule {waiver.rule} -file "*" -match "{waiver.match}"')
    return "\n".join(lines) + "\n"
