"""All mutations: every way that this project knows to break a certified program."""

from types import ModuleType

from tests.mutation import (
    agreements,
    bodies,
    broadcasts,
    capacity,
    counts,
    crossings,
    meshes,
    orientations,
    partials,
    rings,
    slices,
    statements,
    types,
    ways,
    widths,
)
from tests.mutation.mutation import Mutation

GROUPS: tuple[ModuleType, ...] = (
    slices,
    partials,
    broadcasts,
    crossings,
    ways,
    rings,
    meshes,
    orientations,
    agreements,
    counts,
    bodies,
    widths,
    types,
    capacity,
    statements,
)
MUTATIONS: tuple[Mutation, ...] = tuple(
    value for group in GROUPS for value in vars(group).values() if isinstance(value, Mutation)
)
BY_NAME = {mutation.name: mutation for mutation in MUTATIONS}
