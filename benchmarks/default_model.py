"""The default language model as it is used: downloaded, and copied for this processor where that helps."""

from __future__ import annotations

from pathlib import Path

from edgevox.core.files import user_folders
from edgevox.models import open_store
from edgevox.models.optimise import optimise_on_first_use

MODEL_ID = "smollm2-135m-instruct"


def default_model() -> Path:
    store = open_store(user_folders())
    store.pull(MODEL_ID)
    optimise_on_first_use(store, MODEL_ID, print)
    copy = store.optimised(MODEL_ID)
    return copy.path if copy is not None else store.path(MODEL_ID)
