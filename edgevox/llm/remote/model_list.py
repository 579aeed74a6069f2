"""The models that a server says it has."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from edgevox.errors import ConfigError
from edgevox.llm.remote.wire import NotReadable

_EDGEVOX = "edgevox"


class _Model(BaseModel):
    id: str
    owned_by: str | None = None


class _Models(BaseModel):
    data: list[_Model] | None


@dataclass(frozen=True, slots=True)
class ModelList:
    """Their names, as far as the server tells. Another EdgeVox has one that chats, whatever its name."""

    names: tuple[str, ...] = ()
    is_edgevox: bool = False

    @classmethod
    def read(cls, body: bytes) -> ModelList:
        """Raises NotReadable."""
        try:
            models = _Models.model_validate_json(body).data or []
        except ValidationError as error:
            raise NotReadable.at(error) from None
        return cls(tuple(model.id for model in models), any(model.owned_by == _EDGEVOX for model in models))

    def only_one(self, url: str) -> str:
        """The model where there is no choice. Raises ConfigError where there is."""
        if self.is_edgevox:
            return self.names[0]
        if len(self.names) == 1:
            return self.names[0]
        if not self.names:
            raise ConfigError(f"{url} does not say which models it has", hint="set llm.remote_model")
        raise ConfigError(
            f"{url} has several models",
            hint=f"set llm.remote_model to one of {', '.join(self.names[:12])}",
        )
