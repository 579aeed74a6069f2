"""Connects the home to agents: toolbox, prompt, entity names and the agents that use them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.instructions import CombinedInstructions, Instructions
from edgevox.agents.tool_loop import Confirm
from edgevox.app.toolbox import Toolbox
from edgevox.config import Settings
from edgevox.core.events import Publish
from edgevox.core.files import Folders
from edgevox.core.types import ChatModel, Sampling
from edgevox.home import HomePrompt
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.llm.presets import ModelPreset
from edgevox.tools.policy import LOCAL, Caller

_SHOWN = ("turn_on", "get_state", "start_timer")


class HomeContext:
    """The home of an assistant; without tools there is no toolbox."""

    def __init__(self, settings: Settings, preset: ModelPreset, toolbox: Toolbox | None = None) -> None:
        self.toolbox = toolbox
        self._settings = settings
        self._preset = preset
        self._told: HomePrompt | None = None
        if toolbox is not None:
            self._told = HomePrompt(
                toolbox.home.house, max_things=settings.home.max_things, before=settings.llm.instructions
            )

    @classmethod
    async def open(
        cls,
        settings: Settings,
        preset: ModelPreset,
        folders: Folders,
        transcribe: Callable[[Path], Awaitable[str]] | None,
    ) -> HomeContext:
        """Start the tools and plugins of the home; `transcribe` is for audio files."""
        toolbox = await asyncio.to_thread(Toolbox, settings, folders, transcribe=transcribe)
        home_context = cls(settings, preset, toolbox)
        await toolbox.start()
        return home_context

    async def close(self) -> None:
        if self.toolbox is not None:
            await self.toolbox.stop()

    def names(self) -> tuple[str, ...]:
        """Return entity names as STT hotwords, unusual ones first."""
        of_home = self._told.names() if self._told else ()
        return tuple(dict.fromkeys((*self._settings.stt.names, *of_home)))

    def all_names(self) -> tuple[str, ...]:
        """Return all entity and area names."""
        return self._told.all_names() if self._told else ()

    def examples(self) -> tuple[str, ...]:
        """Return example commands for the help."""
        if self.toolbox is None:
            return ()
        registry = self.toolbox.registry
        return tuple(registry.get(name).examples[0] for name in _SHOWN if name in registry)

    def agent(
        self,
        model: ChatModel,
        conversation: Conversation | None,
        confirm: Confirm,
        publish: Publish,
        caller: Caller = LOCAL,
    ) -> LLMAgent:
        """Return the agent of the local room or of a remote voice client."""
        llm = self._settings.llm
        return self._agent(
            model=model,
            instructions=self._told or llm.instructions,
            sampling=llm.sampling,
            stop=self._preset.stop,
            takes_notes=self._preset.takes_notes,
            conversation=conversation,
            caller=caller,
            confirm=confirm,
            publish=publish,
        )

    def agent_for_client(
        self,
        *,
        model: ChatModel,
        instructions: str,
        sampling: Sampling,
        stop: tuple[str, ...],
        conversation: Conversation,
        caller: Caller,
        confirm: Confirm,
        publish: Publish,
        client: str,
    ) -> LLMAgent:
        """Return an agent that answers an API client with the tools of this home."""
        return self._agent(
            model=model,
            instructions=CombinedInstructions(self._told or self._settings.llm.instructions, instructions),
            sampling=sampling,
            stop=stop,
            takes_notes=True,
            conversation=conversation,
            caller=caller,
            confirm=confirm,
            publish=publish,
            client=client,
        )

    def _agent(
        self,
        *,
        model: ChatModel,
        instructions: str | Instructions,
        sampling: Sampling,
        stop: tuple[str, ...],
        takes_notes: bool,
        conversation: Conversation | None,
        caller: Caller,
        confirm: Confirm,
        publish: Publish,
        client: str | None = None,
    ) -> LLMAgent:
        preset, toolbox = self._preset, self.toolbox
        return LLMAgent(
            "edgevox",
            instructions=instructions,
            tools=toolbox.executor if toolbox else (),
            offered=toolbox.mcp.offered if toolbox and toolbox.mcp.reports() else None,
            hooks=(*default_slm_hooks(toolbox.registry.only_reads), *toolbox.hooks) if toolbox else None,
            tool_choice_policy=preset.tool_choice_policy,
            model=model,
            parsers=preset.tool_call_parsers,
            sampling=sampling,
            stop=stop,
            thinking=self._settings.llm.thinking,
            tools_as=preset.tools_as,
            takes_notes=takes_notes,
            conversation=conversation,
            caller=caller,
            confirm=confirm,
            publish=publish,
            client=client,
        )
