"""``shardwright check``: every obligation of a program, recomputed from the program alone."""

import json
import sys

import click

from compiler.check import check as recomputed
from shardwright.printing import say
from shardwright.programs import read_program
from sim.certificate_report import certificate_lines, certificate_record


@click.command()
@click.argument("program_file", metavar="PROGRAM.json", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def check(program_file: str, as_json: bool) -> None:
    """Recompute every obligation of PROGRAM.json; exit status 0 only if all hold.

    The certificate in the file, if there is one, must say the same.
    """
    program = read_program(program_file)
    certificate = recomputed(program)
    agrees = program.certificate in (None, certificate)
    if as_json:
        record = certificate_record(program, certificate, carried_certificate_agrees=agrees)
        say(json.dumps(record, indent=2))
    else:
        say(f"program {program.name}, target {program.target.name}")
        for line in certificate_lines(certificate):
            say(line)
        if not agrees:
            say("the certificate that the file carries says something else")
    if not (certificate.holds and agrees):
        sys.exit(1)
