"""Names of ports and modules, from the names of the program."""


def local_name(name: str) -> str:
    """A name without its chip: ``c3.load_a`` is ``load_a`` on its chip."""
    return name.split(".", 1)[-1]


def module_name(name: str) -> str:
    """A name as a hardware identifier: ``c1->c0`` becomes ``c1_to_c0``."""
    return name.replace("->", "_to_").replace(".", "_")
