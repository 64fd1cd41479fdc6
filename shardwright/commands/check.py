"""``shardwright check``: every obligation of a program, recomputed from the program alone."""

import json
import sys

import click

from compiler import targets
from compiler.check import check as recomputed
from compiler.check.trusted_target import trusted_target
from compiler.ir.certificate import Certificate
from compiler.ir.names import is_name, quoted
from report.certificate import certificate_lines, certificate_record
from shardwright.printing import say
from shardwright.programs import read_program


@click.command()
@click.argument("program_file", metavar="PROGRAM.json", type=click.Path())
@click.option(
    "--target",
    "reference",
    help="Machine that the program must be for: a built-in one, or a TOML file of yours.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def check(program_file: str, reference: str | None, as_json: bool) -> None:
    """Recompute every obligation of PROGRAM.json; exit status 0 only if all hold.

    The certificate in the file, if there is one, must say the same. A program brings the target
    that it was compiled for; --target compares it with one that you trust.
    """
    trusted = targets.find(reference) if reference is not None else None
    program = read_program(program_file)
    certificate = recomputed(program)
    agrees = program.certificate in (None, certificate)
    if trusted is not None:
        certificate = Certificate((*certificate.obligations, trusted_target(program, trusted)))
    if as_json:
        record = certificate_record(program, certificate, carried_certificate_agrees=agrees)
        say(json.dumps(record, indent=2))
    else:
        name = program.name if is_name(program.name) else quoted(program.name)
        say(f"program {name}, target {program.target.name}")
        for line in certificate_lines(certificate):
            say(line)
        if not agrees:
            say("the certificate that the file carries says something else")
    if not (certificate.holds and agrees):
        sys.exit(1)
