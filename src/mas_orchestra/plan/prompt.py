"""The messages that ask an orchestrator for a plan.

A template is a Jinja file of blocks, each of them one message in the order of the file; a block's role is its name up
to the first ``_`` (``system``, ``user``, ``user_rules``, ``assistant_example``). A file without blocks is one user
message. The block ``repair`` is the last user message when the model is asked again. Variables: see the guide.

The question is a value: it is inserted once and never read as a template.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mas_orchestra.errors import ConfigError
from mas_orchestra.plan.catalog import AgentCard, Catalog
from mas_orchestra.plan.examples import examples
from mas_orchestra.plan.json_schema import json_schema
from mas_orchestra.plan.render import render
from mas_orchestra.plan.report import Fault, PlanFormat
from mas_orchestra.types import DoM, Message, Role

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["messages", "prompt_hash"]

_OURS = Path(__file__).parent / "templates" / "orchestrator.jinja"
_REPAIR = "repair"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownArgument:
    """An argument as a template sees it."""

    name: str
    tag: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownAgent:
    """A card as a template sees it."""

    name: str
    summary: str
    good_at: str
    cost: str
    arguments: tuple[_ShownArgument, ...]


def messages(
    question: str,
    *,
    dom: DoM | str,
    catalog: Catalog,
    format: PlanFormat | str,  # noqa: A002  (the word of the command line)
    template: Path | None = None,
    faults: Sequence[Fault] | None = None,
    previous: str = "",
) -> tuple[Message, ...]:
    """What an orchestrator is sent for `question`.

    Args:
        question: The user's question, word for word.
        dom: Degree of MAS to ask for.
        catalog: Sub-agents that the plan may name.
        format: Wire format to ask for.
        template: A file of the user's own in place of ours, as for a checkpoint that was trained on another prompt.
        faults: What was wrong with the last reply; adds that reply and the faults to the conversation.
        previous: That reply.

    Raises:
        ConfigError: The template cannot be read, or uses a variable that does not exist.
    """
    from jinja2 import TemplateError

    values = {
        "question": question,
        "faults": tuple(asdict(fault) for fault in faults or ()),
        "previous": previous,
        **_language(catalog, DoM(dom), PlanFormat(format)),
    }
    path = template or _OURS
    try:
        asked = _rendered(_template(path), values)
        repair = _repair_turn(path, values, previous) if faults else ()
    except TemplateError as error:
        raise ConfigError(f"prompt template {path}: {error.message or type(error).__name__}") from None
    return (*asked, *repair)


def prompt_hash(
    *,
    dom: DoM | str,
    catalog: Catalog,
    format: PlanFormat | str,  # noqa: A002  (as above)
    template: Path | None = None,
) -> str:
    """SHA-256 of the prompt without a question: it changes with template, catalog, format and degree of MAS."""
    asked = messages("", dom=dom, catalog=catalog, format=format, template=template)
    text = json.dumps([[message.role, message.content] for message in asked])
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=32)
def _language(catalog: Catalog, dom: DoM, wanted: PlanFormat) -> dict[str, Any]:
    """What a template is told of the plan language, the same for every question."""
    return {
        "dom": dom.value,
        "format": wanted.value,
        "agents": tuple(_shown(card) for card in catalog),
        "examples": tuple(
            {"question": example.question, "plan": render(example.plan, wanted.value, catalog)}
            for example in examples(catalog, dom)
        ),
        "schema": json.dumps(json_schema(catalog, dom), ensure_ascii=False),
    }


def _shown(card: AgentCard) -> _ShownAgent:
    tags = {argument: tag for tag, argument in card.tags.items()}
    return _ShownAgent(
        name=card.name,
        summary=card.summary,
        good_at=card.good_at,
        cost=card.cost,
        arguments=tuple(
            _ShownArgument(name=name, tag=tags[name], description=field.description or "", required=field.is_required())
            for name, field in card.arguments.model_fields.items()
        ),
    )


def _rendered(template: "Template", values: dict[str, Any]) -> tuple[Message, ...]:
    names = [name for name in template.blocks if name != _REPAIR]
    if not names:
        return (Message(role=Role.USER, content=template.render(values)),)
    return tuple(Message(role=_role(name), content=_block(template, name, values)) for name in names)


def _repair_turn(path: Path, values: dict[str, Any], previous: str) -> Iterable[Message]:
    """The model's last reply and what was wrong with it; a template without the block borrows ours."""
    template = _template(path)
    if _REPAIR not in template.blocks:
        template = _template(_OURS)
    return (
        Message(role=Role.ASSISTANT, content=previous),
        Message(role=Role.USER, content=_block(template, _REPAIR, values)),
    )


def _block(template: "Template", name: str, values: dict[str, Any]) -> str:
    return "".join(template.blocks[name](template.new_context(values)))


def _role(block: str) -> Role:
    word = block.partition("_")[0]
    try:
        return Role(word)
    except ValueError:
        roles = ", ".join(sorted({Role.SYSTEM, Role.USER, Role.ASSISTANT}))
        raise ConfigError(
            f"prompt template: block {block!r} names no role; begin its name with one of {roles}, as user_rules"
        ) from None


def _template(path: Path) -> "Template":
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the prompt template {path}: {error}; give a UTF-8 text file") from None
    return _compiled(source)


@cache
def _compiled(source: str) -> "Template":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    return environment.from_string(source)
