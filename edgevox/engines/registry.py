"""Tables of engines by name: built in, registered by a program, or installed as a package with an entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from edgevox.core.errors import ConfigError

FactoryT = TypeVar("FactoryT", bound=Callable[..., object])


class EngineRegistry(Generic[FactoryT]):
    """The engine factories of one role. Modules are imported when `factory` asks for their engine.

    A registered factory replaces a built-in one of the same name; an installed package does not.
    """

    def __init__(self, role: str, built_in: Mapping[str, str]) -> None:
        """`built_in` maps names to `module:function`. The setting is ROLE.engine, the entry points edgevox.ROLE."""
        self._setting = f"{role}.engine"
        self._group = f"edgevox.{role}"
        self._built_in = {name: EntryPoint(name, target, self._group) for name, target in built_in.items()}
        self._registered: dict[str, FactoryT] = {}

    def register(self, name: str, factory: FactoryT) -> None:
        self._registered[name] = factory

    def check(self, name: str) -> str:
        """Return `name`. Raises ConfigError, with the known names, if there is no such engine."""
        known = {*self._registered, *self._points()}
        if name not in known:
            raise ConfigError(
                f"{self._setting}: there is no engine {name}",
                hint=f"the engines are {', '.join(sorted(known))}; docs/guide/engines.md shows how to add one",
            )
        return name

    def factory(self, name: str) -> FactoryT:
        """Raises ConfigError for an unknown engine, and for a package whose entry point cannot be loaded."""
        self.check(name)
        if name in self._registered:
            return self._registered[name]
        point = self._points()[name]
        try:
            factory = point.load()
        except (ImportError, AttributeError) as error:
            raise ConfigError(
                f"{self._setting}: the engine {name} ({point.value}) cannot be loaded: {error}",
                hint="reinstall the package of that engine, or choose another one",
            ) from error
        return cast("FactoryT", factory)

    def _points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self._group)} | self._built_in
