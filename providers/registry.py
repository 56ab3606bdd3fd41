"""Everything registered, by kind and name: dialects, probes, movers, transports.

A class is registered by a decorator where it is written. A built-in is found by the text of the modules of its package,
so that one name imports one module (another transport's library takes longer to import than a request to be asked);
whoever asks for all names imports all modules. Third parties are found through entry points of the group
`dragoman.providers`, each naming a module whose import registers something. A module that fails to import takes nothing
else down: its error is kept and raised when one of its names is looked up.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from dragoman.errors import ProviderImportError, UnknownName
from dragoman.protocols import Dialect, Mover, Transport

if TYPE_CHECKING:
    from providers.probes.base import Probe

__all__ = [
    "ENTRY_POINT_GROUP", "Shelf", "dialects", "movers", "probes", "register_dialect", "register_mover",
    "register_probe", "register_transport", "transports",
]  # fmt: skip

ENTRY_POINT_GROUP = "dragoman.providers"

T = TypeVar("T")
R = TypeVar("R", bound=Callable[..., object])


class Shelf(Generic[T]):
    """All registered makers of one kind, by name.

    Args:
        kind: what they are, in messages; the decorator is `register_<kind>`.
        package: the built-ins' package.
        group: the entry point group of third parties.

    """

    def __init__(self, kind: str, package: str, group: str = ENTRY_POINT_GROUP) -> None:
        self.kind = kind
        self.package = package
        self.group = group
        self._makers: dict[str, Callable[..., T]] = {}
        self._failures: dict[str, tuple[frozenset[str], Exception]] = {}
        self._loaded = False
        self._lock = threading.RLock()

    @overload
    def register(self, named: str, /) -> Callable[[R], R]: ...
    @overload
    def register(self, named: R, /) -> R: ...
    def register(self, named: str | R, /) -> Callable[[R], R] | R:
        """Decorator, with the name (`@register_dialect("slurm")`) or bare, for a class that carries `name`.

        A bare class with a `category` is registered as `category/name`.

        Raises:
            ProviderImportError: another class has the name.

        """
        if isinstance(named, str):

            def decorate(maker: R) -> R:
                self._put(named, maker)
                return maker

            return decorate
        self._put(_own_name(named), named)
        return named

    def _put(self, name: str, maker: Callable[..., object]) -> None:
        known = self._makers.get(name)
        if known is not None and _origin(known) != _origin(maker):
            raise ProviderImportError(
                f"the {self.kind} {name!r} is already registered by {_origin(known)}",
                where=_origin(maker),
                cure="choose another name",
            )
        self._makers[name] = maker  # type: ignore[assignment]  # the decorator is typed by use, the shelf by kind

    def get(self, name: str) -> Callable[..., T]:
        """The class or function that makes it.

        Raises:
            ProviderImportError: its module failed to import.
            UnknownName: there is none of that name; the cure lists those that are.

        """
        maker = self._makers.get(name) or self._built_in(name)
        if maker is not None:
            return maker
        self.load()
        maker = self._makers.get(name)
        if maker is not None:
            return maker
        for module, (names, error) in self._failures.items():
            if name in names:
                raise ProviderImportError(
                    f"the {self.kind} {name!r} failed to import: {type(error).__name__}: {error}",
                    where=module,
                    cure="install what it needs, or remove it",
                ) from error
        broken = f"; failed to import: {', '.join(sorted(self._failures))}" if self._failures else ""
        raise UnknownName(
            f"there is no {self.kind} {name!r}", where=self.kind, cure=f"there are {', '.join(self.names())}{broken}"
        )

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        self.load()
        return tuple(sorted(self._makers))

    def items(self) -> Iterator[tuple[str, Callable[..., T]]]:
        """All names and makers, in order of names."""
        self.load()
        yield from sorted(self._makers.items())

    def failures(self) -> Mapping[str, Exception]:
        """Why modules or entry points failed to import, by their name."""
        self.load()
        return {module: error for module, (_, error) in self._failures.items()}

    def load(self) -> None:
        """Import built-ins and third parties, once. Imports block: a service calls it before it serves."""
        with self._lock:
            if self._loaded:
                return
            self._loaded = True
            for module in _modules(self.package, self._keep):
                self._import(module)
            for point in sorted(entry_points(group=self.group), key=lambda one: one.name):
                self._import_point(point)

    def _built_in(self, name: str) -> Callable[..., T] | None:
        """The maker in the one module whose text registers the name; None: only importing all of them can tell."""
        with self._lock:
            if self._loaded:
                return None
            for module in _modules(self.package, lambda _module, _error: None):
                if name in _registered_in(module, self.kind):
                    self._import(module)
            return self._makers.get(name)

    def _import(self, module: str) -> None:
        try:
            importlib.import_module(module)
        except Exception as error:  # noqa: BLE001  # one broken provider must not take the others away
            self._keep(module, error)

    def _import_point(self, point: EntryPoint) -> None:
        try:
            point.load()
        except Exception as error:  # noqa: BLE001  # as above
            self._keep(point.value, error, point.name)

    def _keep(self, module: str, error: Exception, *names: str) -> None:
        """Remember a failure, and forget what the module registered before it failed."""
        mine = {name for name, maker in self._makers.items() if maker.__module__ == module.partition(":")[0]}
        for name in mine:
            del self._makers[name]
        stem = module.rpartition(".")[2]
        written = _registered_in(module, self.kind)
        self._failures[module] = (frozenset({*names, *mine, stem, stem.replace("_", "-"), *written}), error)


def _own_name(maker: object) -> str:
    name: str | None = getattr(maker, "name", None)
    if not isinstance(name, str) or not name:
        raise TypeError(f"{maker!r} carries no name: give it one, or register it as @register_...('name')")
    category = getattr(maker, "category", None)
    return f"{category}/{name}" if category else name


def _origin(maker: Callable[..., object]) -> str:
    return f"{maker.__module__}.{getattr(maker, '__qualname__', '')}"


def _modules(package: str, failed: Callable[[str, Exception], None]) -> Iterator[str]:
    """Names of all modules below a package, depth first. Sub-packages are imported to look into them."""
    try:
        root = importlib.import_module(package)
    except Exception as error:  # noqa: BLE001  # kept, like any other
        failed(package, error)
        return
    for module in sorted(pkgutil.iter_modules(root.__path__), key=lambda one: one.name):
        if module.name.startswith("__"):
            continue
        full = f"{package}.{module.name}"
        if module.ispkg:
            yield from _modules(full, failed)
        else:
            yield full


def _registered_in(module: str, kind: str) -> set[str]:
    """Names that a module which cannot be imported would have registered, read from its text."""
    try:
        found = importlib.util.find_spec(module.partition(":")[0])
        text = Path(found.origin).read_text(encoding="utf-8") if found and found.origin else ""
    except (ImportError, OSError, UnicodeDecodeError, ValueError):
        return set()
    return set(re.findall(rf"^@register_{re.escape(kind)}\(\s*[\"']([^\"']+)[\"']", text, re.MULTILINE))


dialects: Shelf[Dialect] = Shelf("dialect", "providers.schedulers")
"""Made without arguments."""
probes: Shelf[Probe] = Shelf("probe", "providers.probes")
"""Made without arguments; names are `category/name`."""
movers: Shelf[Mover] = Shelf("mover", "providers.movers")
"""Made by the site's runtime; see each for what it takes."""
transports: Shelf[Transport] = Shelf("transport", "providers.transports")
"""Made by the site's runtime from a `TransportConfig`; see each for what it takes."""

register_dialect = dialects.register
register_probe = probes.register
register_mover = movers.register
register_transport = transports.register
