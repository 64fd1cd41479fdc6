"""Every error that only the compiled engine raises on purpose."""

from compiler.errors import ShardwrightError
from sim.complaint import complaint


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


class BrokenToolError(EngineError):
    """A program that the engine needs is there, and does not do what it should."""

    def __init__(self, *, tool: str, path: str, why: str):
        self.tool, self.path, self.why = tool, path, why
        super().__init__(
            f"the compiled engine needs {tool}, and {path} does not work: {why}; install it anew, "
            f"or use the amaranth engine"
        )


class ModelBuildError(EngineError):
    """A tool refused the model of a chip. ``report`` is all that it said."""

    def __init__(self, *, model: str, tool: str, report: str):
        self.model, self.tool, self.report = model, tool, report
        why = complaint(report) or "it does not say why"
        super().__init__(
            f"{tool} cannot build the model of {model}: {why}; use the amaranth engine"
        )


class ModelCacheError(EngineError):
    """Built models cannot be kept where they belong."""

    def __init__(self, *, path: str, why: str):
        self.path, self.why = path, why
        super().__init__(
            f"built models cannot be kept in {path!r}: {why}; set XDG_CACHE_HOME to a place that "
            f"can be written"
        )


class ModelLoadError(EngineError):
    """A built model cannot be loaded from where it is kept."""

    def __init__(self, *, path: str, why: str):
        self.path, self.why = path, why
        super().__init__(
            f"built model {path!r} cannot be loaded: {why}; set XDG_CACHE_HOME to a place from "
            f"which programs can be run, or use the amaranth engine"
        )


class ModelMemoryError(EngineError):
    """There is no memory for one more chip."""

    def __init__(self) -> None:
        super().__init__(
            "there is no memory for the model of one more chip; use fewer chips or smaller operands"
        )
