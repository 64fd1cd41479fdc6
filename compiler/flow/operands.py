"""Operands: which buffers hold tiles of a loaded value, and which hold what a product has made."""

from compiler.flow.errors import FlowError
from compiler.flow.order import in_flow_order, sources_of
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Stage


def operand_buffers(program: Program) -> dict[str, str]:
    """The value that each operand buffer has tiles of. Other buffers hold results.

    This needs no walks.

    Raises
    ------
    FlowError
        If a product takes anything but the operands of the claim, or anything but a product takes
        an operand.
    """
    held: dict[str, str] = {}
    if program.graph.product is None:
        return held
    for stage in in_flow_order(program):
        taken = [held.get(name) for name in sources_of(program, stage)]
        match stage.kind:
            case Load(tensor):
                held |= dict.fromkeys(stage.outs, program.tensor_by_name[tensor].value)
            case MatmulTiles():
                _is_claimed(program, stage, taken)
            case _:
                passed = next((value for value in taken if value is not None), None)
                if passed is not None:
                    raise FlowError(
                        "OperandPassedOn",
                        stage.name,
                        f"{type(stage.kind).__name__} stage {stage.name!r} takes tiles of "
                        f"{passed!r} as if they were sums, but only tiles of a product can be "
                        f"received and stored",
                    )
    return held


def _is_claimed(program: Program, stage: Stage, taken: list[str | None]) -> None:
    claim = program.claim
    if taken == [claim.left, claim.right]:
        return
    if taken == [claim.right, claim.left]:
        how = "takes the right operand first and the left operand second: it multiplies"
    elif None in taken:
        how = "multiplies pages that are not loaded operands:"
    else:
        how = "multiplies"
    multiplied = " by ".join("a result" if name is None else repr(name) for name in taken)
    raise FlowError(
        "ProductOperand",
        stage.name,
        f"product {stage.name!r} {how} {multiplied}; the program claims to multiply "
        f"{claim.left!r} by {claim.right!r}",
    )
