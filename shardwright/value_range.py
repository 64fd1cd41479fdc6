"""A range of values as the command line states it: ``LOW,HIGH``."""

import click

from compiler.ir.tensor import ValueRange
from compiler.workload import INT8_RANGE


class ValueRangeType(click.ParamType):
    """``LOW,HIGH``: the closed range that holds every element of an operand."""

    name = "LOW,HIGH"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> ValueRange:
        try:
            low, high = map(int, value.split(","))
        except ValueError:
            self.fail(f"{value!r} is not of the form LOW,HIGH in integers, as -8,7", param, ctx)
        if not INT8_RANGE.low <= low <= high <= INT8_RANGE.high:
            whole = f"{INT8_RANGE.low},{INT8_RANGE.high}"
            self.fail(f"{value!r} is no range within that of int8, {whole}", param, ctx)
        return ValueRange(low, high)
