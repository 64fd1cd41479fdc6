"""Every error of a board, or of the cables between boards, that is raised on purpose."""

from compiler.errors import ShardwrightError


class BoardError(ShardwrightError):
    """A board is unknown, or its description is wrong."""


class BoardFileError(BoardError):
    """The description of a board cannot be read, or does not have the form that it must have."""


class UnknownBoardError(BoardError):
    """No board has this name."""

    def __init__(self, *, name: str, known: tuple[str, ...]):
        self.name, self.known = name, known
        super().__init__(
            f"no board is named {name!r}; the boards are {', '.join(known)}; "
            f"a board of your own is a file whose name ends in .toml"
        )


class BoardValueError(BoardError):
    """A field of a board has a value that it cannot have."""

    def __init__(self, *, board: str, field: str, rule: str, value: object):
        self.board, self.field, self.rule, self.value = board, field, rule, value
        super().__init__(f"board {board!r}: {field} must be {rule}, not {value!r}")


class UnknownPlatformError(BoardError):
    """The platform class that a board names cannot be imported."""

    def __init__(self, *, board: str, platform: str, why: str):
        self.board, self.platform, self.why = board, platform, why
        super().__init__(
            f"board {board!r}: platform {platform!r} cannot be used: {why}; it must be a class of "
            f"Amaranth's build system as 'module:Class', and Python must find the module"
        )


class UnknownResourceError(BoardError):
    """The platform of a board has no such resource."""

    def __init__(self, *, board: str, field: str, resource: str, known: tuple[str, ...]):
        self.board, self.field, self.resource, self.known = board, field, resource, known
        super().__init__(
            f"board {board!r}: {field} is resource {resource!r}, which its platform lacks; "
            f"it has {', '.join(known)}"
        )


class UnknownConnectorError(BoardError):
    """The platform of a board has no such connector."""

    def __init__(self, *, board: str, user: str, connector: str, known: tuple[str, ...]):
        self.board, self.user, self.connector, self.known = board, user, connector, known
        super().__init__(
            f"board {board!r}: {user} is on connector {connector!r}, which the board lacks; "
            f"it has {', '.join(known) or 'none'}"
        )


class UnknownPinError(BoardError):
    """A connector has no such pin."""

    def __init__(self, *, board: str, user: str, connector: str, pin: str, known: tuple[str, ...]):
        self.board, self.user, self.connector = board, user, connector
        self.pin, self.known = pin, known
        super().__init__(
            f"board {board!r}: {user} uses pin {pin!r} of {connector!r}, which has no such pin; "
            f"its pins are {' '.join(known)}"
        )


class TooManyPinsError(BoardError):
    """The links on a connector need more pins than it has."""

    def __init__(self, *, board: str, connector: str, links: tuple[str, ...], need: int, pins: int):
        self.board, self.connector, self.links = board, connector, links
        self.need, self.pins = need, pins
        super().__init__(
            f"board {board!r}: links {', '.join(links)} need {need} pins of connector "
            f"{connector!r}, which carries {pins}; move a link to another connector or give all "
            f"links fewer data pins"
        )


class PinClashError(BoardError):
    """Two things are on one pin."""

    def __init__(self, *, board: str, pin: str, first: str, second: str):
        self.board, self.pin, self.first, self.second = board, pin, first, second
        super().__init__(
            f"board {board!r}: {first} and {second} are both on package pin {pin}; "
            f"move one of them to a free pin"
        )


class UnknownIoStandardError(BoardError):
    """The pins of a family do not know this I/O standard."""

    def __init__(self, *, board: str, standard: object, family: str, known: tuple[str, ...]):
        self.board, self.standard, self.family, self.known = board, standard, family, known
        super().__init__(
            f"board {board!r}: io_standard {standard!r} is none of {family}; "
            f"it has {', '.join(known)}"
        )


class UnreachableClockError(BoardError):
    """The phase-locked loop of a family does not make this clock of that one."""

    def __init__(
        self, *, board: str, family: str, source_hz: int, target_hz: int, nearest: tuple[int, ...]
    ):
        self.board, self.family = board, family
        self.source_hz, self.target_hz, self.nearest = source_hz, target_hz, nearest
        way_out = " or ".join(f"{hz:,}" for hz in nearest)
        super().__init__(
            f"board {board!r}: clock.target_hz {target_hz:,} cannot be made of source_hz "
            f"{source_hz:,} by the PLL of {family}; the nearest that it makes: {way_out}"
        )


class LinkWidthsDifferError(BoardError):
    """The links of a board have different numbers of data pins."""

    def __init__(self, *, board: str, first: str, width: int, second: str, other: int):
        self.board, self.first, self.width = board, first, width
        self.second, self.other = second, other
        super().__init__(
            f"board {board!r}: link {first!r} has {width} data pins and link {second!r} has "
            f"{other}; all links of a board must have as many, so shorten the wider one"
        )


class CablingError(ShardwrightError):
    """Boards cannot be joined as asked."""


class CablingFileError(CablingError):
    """A table of cables cannot be read, or does not have the form that it must have."""


class CablingValueError(CablingError):
    """What is asked of a cabling is none of what there is."""

    def __init__(self, *, field: str, rule: str, value: object):
        self.field, self.rule, self.value = field, rule, value
        super().__init__(f"{field} must be {rule}, not {value!r}")


class UnknownChipError(CablingError):
    """A cable ends at a chip that is not there."""

    def __init__(self, *, cable: str, chip: int, chips: int):
        self.cable, self.chip, self.chips = cable, chip, chips
        boards = "c0 is the only board" if chips == 1 else f"the boards are c0 to c{chips - 1}"
        super().__init__(f"cable {cable} ends at chip c{chip}, which has no board; {boards}")


class UnknownLinkPortError(CablingError):
    """A cable ends at a link port that the board lacks."""

    def __init__(self, *, cable: str, chip: int, port: str, board: str, known: tuple[str, ...]):
        self.cable, self.chip, self.port = cable, chip, port
        self.board, self.known = board, known
        super().__init__(
            f"cable {cable}: board {board!r} of chip c{chip} has no link port {port!r}; "
            f"it has {', '.join(known) or 'none'}"
        )


class PortDirectionError(CablingError):
    """A cable joins two ends of one direction, or runs backwards."""

    def __init__(self, *, cable: str, chip: int, port: str, board: str, wanted: str):
        self.cable, self.chip, self.port = cable, chip, port
        self.board, self.wanted = board, wanted
        kind, end = {"out": ("in", "starts"), "in": ("out", "ends")}[wanted]
        super().__init__(
            f"cable {cable} {end} at port {port!r} of chip c{chip} (board {board!r}), whose "
            f"direction is {kind!r}; a cable runs from an 'out' port to an 'in' port"
        )


class PortUsedTwiceError(CablingError):
    """Two cables end at one link port."""

    def __init__(self, *, chip: int, port: str, board: str, first: str, second: str):
        self.chip, self.port, self.board = chip, port, board
        self.first, self.second = first, second
        super().__init__(
            f"cables {first} and {second} both end at port {port!r} of chip c{chip} "
            f"(board {board!r}); give each a port of its own"
        )


class OutOfLinkPortsError(CablingError):
    """A chip has more links in a direction than its board carries."""

    def __init__(
        self, *, chip: int, board: str, direction: str, need: int, ports: int, way_out: str
    ):
        self.chip, self.board, self.direction = chip, board, direction
        self.way_out = way_out
        self.need, self.ports = need, ports
        super().__init__(
            f"chip c{chip} needs {need} {direction!r} links, and board {board!r} carries {ports}; "
            f"{way_out}"
        )


class LinkEndsDifferError(CablingError):
    """The two ends of a cable are boards that do not understand each other."""

    def __init__(
        self, *, cable: str, field: str, source: object, destination: object, way_out: str
    ):
        self.cable, self.field = cable, field
        self.source, self.destination = source, destination
        super().__init__(
            f"cable {cable}: {field} is {source!r} at its start and {destination!r} at its end; "
            f"{way_out}"
        )
