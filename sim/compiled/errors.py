"""Every error that only the compiled engine raises on purpose."""

from compiler.errors import ShardwrightError


class EngineError(ShardwrightError):
    """An engine cannot be used as asked."""


class UnknownEngineError(EngineError):
    """There is no engine of that name."""

    def __init__(self, *, engine: str, engines: tuple[str, ...]):
        self.engine, self.engines = engine, engines
        super().__init__(f"engine must be one of {', '.join(engines)}, not {engine!r}")


class WavesEngineError(EngineError):
    """Waves are asked of an engine that keeps none."""

    def __init__(self, *, engine: str):
        self.engine = engine
        super().__init__(f"the {engine} engine writes no waves; use the amaranth engine for them")


class MissingToolError(EngineError):
    """A program that the engine needs is not installed."""

    def __init__(self, *, tool: str, install: str):
        self.tool = tool
        super().__init__(
            f"the compiled engine needs {tool}, which is not on PATH; install it (for instance "
            f"{install}), or use the amaranth engine"
        )


class ModelBuildError(EngineError):
    """A tool refused the model of a chip. ``report`` is all that it said."""

    def __init__(self, *, model: str, tool: str, report: str):
        self.model, self.tool, self.report = model, tool, report
        super().__init__(
            f"{tool} cannot build the model of {model}: {_told(report)}; use the amaranth engine"
        )


class ModelCacheError(EngineError):
    """Built models cannot be kept where they belong."""

    def __init__(self, *, path: str, why: str):
        self.path, self.why = path, why
        super().__init__(
            f"built models cannot be kept in {path!r}: {why}; set XDG_CACHE_HOME to a place that "
            f"can be written"
        )


def _told(report: str) -> str:
    """The line of a report that says what is wrong."""
    lines = [line.strip().rstrip(".") for line in report.splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line.lower()]
    return (wrong or lines or ["it does not say why"])[0]
