"""From a program to the libraries that run it: the driver, and one for each distinct chip."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import compiler.flow
import compiler.ir
import hw
from compiler.flow.counts import page_counts
from compiler.ir.program import Program
from hw.distinct import anatomy, distinct_chips
from sim.compiled.cache import ModelCache, key_of
from sim.compiled.model import model_rtlil, model_source
from sim.compiled.ports import ChipPorts, chip_ports
from sim.compiled.tool_runs import ToolRuns
from sim.compiled.toolchain import compile_library, runtime, tool_versions

HERE = Path(__file__).parent
DRIVER = "driver"


def build(program: Program, models: ModelCache) -> tuple[Path, dict[int, Path]]:
    """Build what the cache does not hold yet.

    Returns
    -------
    The library of the driver, and for each chip the library of its model.

    Raises
    ------
    MissingToolError, BrokenToolError
        If there is no compiler, or a tool does not work.
    ModelBuildError
        If a tool refuses a model.
    ModelCacheError
        If the cache cannot be written.
    """
    common = [*tool_versions(), *_sources()]
    first_of = distinct_chips(program)
    counts = page_counts(program)
    keys = {
        first: key_of([*common, repr((anatomy(program, first, counts), program.tile))])
        for first in {*first_of.values()}
    }
    driver = key_of([*common, DRIVER])
    tools = ToolRuns()
    # Amaranth converts one chip after the other; the tools run beside that, on all cores.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        try:
            jobs = []
            if not models.has(driver):
                source = _text("driver.cc")
                jobs.append(pool.submit(_compile, models, driver, source, "the driver", tools))
            for first, key in keys.items():
                if not models.has(key):
                    rtlil, ports = model_rtlil(program, first), chip_ports(program, first)
                    jobs.append(pool.submit(_build_model, models, key, rtlil, ports, tools))
            for job in jobs:
                job.result()
        except BaseException:  # an interrupt too: what nobody waits for must not go on
            pool.shutdown(wait=False, cancel_futures=True)
            tools.stop()
            raise
    return models.path(driver), {chip: models.path(keys[first]) for chip, first in first_of.items()}


def _build_model(
    models: ModelCache, key: str, rtlil: str, ports: ChipPorts, tools: ToolRuns
) -> None:
    _compile(models, key, model_source(rtlil, ports, tools), f"chip {ports.chip}", tools)


def _compile(models: ModelCache, key: str, source: str, name: str, tools: ToolRuns) -> None:
    def compile_in(library: Path) -> None:
        file = library.with_suffix(".cc")
        file.write_text(source, encoding="utf-8")
        compile_library(file, library, name, tools)

    models.add(key, compile_in)


@cache
def _sources() -> tuple[bytes, ...]:
    """The contents of every file that shapes a model, whatever the program."""
    return tuple(path.read_bytes() for path in _source_files())


def _source_files() -> Iterator[Path]:
    for package in (hw, compiler.ir, compiler.flow):
        for folder in package.__path__:
            yield from sorted(Path(folder).rglob("*.py"))
    yield from sorted([*HERE.glob("*.py"), *HERE.glob("*.cc"), *HERE.glob("*.h")])
    yield from sorted(runtime().rglob("*.h"))


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
