"""Native engines as asynchronous stages: in a supervised child process, or in a thread of this one."""

from edgevox.engine.hosted import Hosted
from edgevox.engine.limits import EngineLimits
from edgevox.engine.local import LocalEngine
from edgevox.engine.supervised import SupervisedEngine

__all__ = ["EngineLimits", "Hosted", "LocalEngine", "SupervisedEngine"]
