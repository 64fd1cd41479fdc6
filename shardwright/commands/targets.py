"""``shardwright targets``: what there is to compile and to plan for."""

import json
from collections.abc import Iterable

import click

from compiler import targets as catalogue
from compiler.targets import planning
from report.table import aligned
from report.targets import planning_rows, target_lines, target_record, target_rows
from shardwright.printing import say


@click.command()
@click.argument("target", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def targets(target: str | None, as_json: bool) -> None:
    """List the built-in targets, or all that is known of TARGET.

    TARGET is the name of a target or a TOML file that describes one.
    """
    if target is not None:
        found = catalogue.find_any(target)
        if as_json:
            say(json.dumps(target_record(found), indent=2))
        else:
            _print(target_lines(found))
        return
    machines = [catalogue.get(name) for name in catalogue.names()]
    published = [planning.get(name) for name in planning.names()]
    if as_json:
        records = [target_record(each) for each in (*machines, *published)]
        say(json.dumps(records, indent=2))
        return
    _print((*aligned(target_rows(machines)), "", *aligned(planning_rows(published))))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
