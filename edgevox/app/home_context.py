"""Connects the home to agents: toolbox, prompt, entity names and the agents that use them."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.instructions import CombinedInstructions, Instructions
from edgevox.agents.llm_agent import Offer
from edgevox.agents.tool_loop import Confirm
from edgevox.app.server_requests import AddressedServers, NamedServers
from edgevox.app.toolbox import Toolbox
from edgevox.config import Settings
from edgevox.config.sections import AUTO
from edgevox.core.errors import StateError
from edgevox.core.events import Publish
from edgevox.core.hooks import Hook
from edgevox.core.types import ChatModel, Sampling
from edgevox.home import HomePrompt
from edgevox.home.entities import HomeError
from edgevox.home.rules.languages.hook import HomeLanguages, KnownHome
from edgevox.home.rules.languages.reader import likeliest_request
from edgevox.home.rules.languages.templates import LANGUAGES, warm_up
from edgevox.llm.presets import ModelPreset
from edgevox.tools.builtin.knowledge import KnowledgeQuestions, read_question
from edgevox.tools.policy import LOCAL, Caller

_SHOWN = ("turn_on", "get_state", "start_timer")


class HomeContext:
    """The home of an assistant; without tools there is no toolbox."""

    def __init__(self, settings: Settings, preset: ModelPreset, toolbox: Toolbox | None = None) -> None:
        self.toolbox = toolbox
        self._settings = settings
        self._preset = preset
        self._prompt: HomePrompt | None = None
        self._known: KnownHome | None = None
        if toolbox is not None:
            warm_up(self._languages.expected)
            self._prompt = HomePrompt(
                toolbox.home.house, max_things=settings.home.max_things, before=settings.llm.instructions
            )

    async def close(self) -> None:
        if self.toolbox is not None:
            await self.toolbox.stop()

    def names(self) -> tuple[str, ...]:
        """Return entity names as STT hotwords, unusual ones first."""
        of_home = self._prompt.names() if self._prompt else ()
        return tuple(dict.fromkeys((*self._settings.stt.names, *of_home)))

    def all_names(self) -> tuple[str, ...]:
        """Return all entity and area names."""
        return self._prompt.all_names() if self._prompt else ()

    def likeliest(self, texts: Sequence[str], language: str) -> tuple[str, float]:
        """Return what `likeliest_request` chooses in this home."""
        if self.toolbox is None or language not in LANGUAGES:
            return texts[0], 1.0
        try:
            self._known = KnownHome.of(self.toolbox.home.house(), self._known)
        except (HomeError, StateError):
            return texts[0], 1.0
        return likeliest_request(texts, language, self._known.names, self.toolbox.registry.names)

    def examples(self) -> tuple[str, ...]:
        """Return example commands for the help."""
        if self.toolbox is None:
            return ()
        registry = self.toolbox.registry
        return tuple(registry.get(name).examples[0] for name in _SHOWN if name in registry)

    def agent(
        self,
        *,
        model: ChatModel,
        conversation: Conversation | None,
        confirm: Confirm,
        publish: Publish,
        caller: Caller = LOCAL,
        client: str | None = None,
        instructions: str | Instructions = "",
        sampling: Sampling | None = None,
        stop: tuple[str, ...] | None = None,
        room: str = "",
    ) -> LLMAgent:
        """Return an agent with the tools of this home, for speakers in `room`.

        A program that is a `client` gives the options after it.
        """
        preset, toolbox, llm = self._preset, self.toolbox, self._settings.llm
        own = self._prompt or llm.instructions
        return LLMAgent(
            "edgevox",
            instructions=CombinedInstructions(own, instructions) if instructions else own,
            tools=toolbox.executor if toolbox else (),
            offered=self._offer(toolbox) if toolbox else None,
            hooks=self._hooks(toolbox, room) if toolbox else None,
            tool_choice_policy=preset.tool_choice_policy,
            model=model,
            parsers=preset.tool_call_parsers,
            sampling=sampling or llm.sampling,
            stop=preset.stop if stop is None else stop,
            thinking=llm.thinking,
            tools_as=preset.tools_as,
            takes_notes=preset.takes_notes or client is not None,
            conversation=conversation,
            caller=caller,
            confirm=confirm,
            publish=publish,
            client=client,
        )

    @property
    def _languages(self) -> HomeLanguages:
        language = self._settings.stt.language
        return HomeLanguages(self._preset.languages, "" if language == AUTO else language)

    def _offer(self, toolbox: Toolbox) -> Offer | None:
        if self._preset.home_only:
            return toolbox.offered
        return toolbox.mcp.offered if toolbox.mcp.reports() else None

    def _hooks(self, toolbox: Toolbox, room: str) -> tuple[Hook, ...]:
        hooks = (*toolbox.hooks(self._languages, room), self._knowledge(toolbox))
        if not self._preset.home_only or not toolbox.mcp.reports():
            return hooks
        named = NamedServers(
            toolbox.mcp, self.all_names, lambda text: read_question(text, toolbox.alarms.now()) is not None
        )
        return (AddressedServers(toolbox.mcp), *hooks, named)

    def _knowledge(self, toolbox: Toolbox) -> KnowledgeQuestions:
        home_names = self.all_names if self._preset.home_only else None
        return KnowledgeQuestions(toolbox.registry, toolbox.alarms.now, home_names)
