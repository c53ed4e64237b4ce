"""Which API key goes to which endpoint. A key is sent only to the host it is meant for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mas_orchestra.config import EndpointSettings
from mas_orchestra.errors import ConfigError

__all__ = ["OPENAI_BASE_URL", "Credentials", "default_base_url", "find_credentials"]

OPENAI_BASE_URL = "https://api.openai.com/v1"
PROVIDER_KEYS = {
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "api.cerebras.ai": "CEREBRAS_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.fireworks.ai": "FIREWORKS_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
    "api.together.ai": "TOGETHER_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "api.x.ai": "XAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
}
KEY_HEADERS = {"authorization", "api-key", "x-api-key", "x-goog-api-key"}
OWN_KEY = "MAS_API_KEY"
"""For endpoints given by URL that are no known provider's: the user set it for this program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The headers that carry secrets, and where the key came from, in words that may be shown."""

    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    source: str
    missing: str | None = None
    """Variable in which a provider's key was looked for and not found, where every request needs one."""


def default_base_url(environ: Mapping[str, str]) -> str:
    """Where ``openai:NAME`` without a base URL goes: ``OPENAI_BASE_URL``, otherwise OpenAI."""
    return environ.get("OPENAI_BASE_URL") or OPENAI_BASE_URL


def find_credentials(base_url: str, settings: EndpointSettings, environ: Mapping[str, str]) -> Credentials:
    """The key for one endpoint, from the environment.

    In this order: the variable that ``api_key_env`` names; the provider's own variable, at the provider's own host;
    ``OPENAI_API_KEY`` where ``OPENAI_BASE_URL`` says that it belongs; ``MAS_API_KEY`` for every other host. So a
    provider's key never reaches another host unless a setting says so.

    Raises:
        ConfigError: A variable that the settings name is not set.
    """
    variable = settings.api_key_env
    if variable is None:
        belongs = environ.get("OPENAI_BASE_URL", "").rstrip("/") == base_url
        host = urlsplit(base_url).hostname or ""
        variable = "OPENAI_API_KEY" if belongs else PROVIDER_KEYS.get(host, OWN_KEY)
    elif variable and not environ.get(variable):
        raise ConfigError(
            f'endpoints."{base_url}".api_key_env names {variable}, which is not set in the environment;'
            ' set it, or write "" where no key is needed'
        )
    key = _sendable(environ.get(variable, ""), variable) if variable else ""
    headers = {name: _header(name, value, base_url, environ) for name, value in settings.headers.items()}
    secrets = tuple(value for value in (key, *headers.values()) if len(value) >= 6)
    if key:
        headers = {"Authorization": f"Bearer {key}", **headers}
    is_needed = variable != "" and variable in PROVIDER_KEYS.values()
    return Credentials(
        headers=headers,
        missing=variable if is_needed and not any(name.lower() in KEY_HEADERS for name in headers) else None,
        secrets=secrets,
        source=f"key from {variable}" if key else f"no key was sent; set {variable or 'api_key_env'}",
    )


def _header(name: str, value: str, base_url: str, environ: Mapping[str, str]) -> str:
    if not value.startswith("env:"):
        return value
    variable = value.removeprefix("env:")
    if not environ.get(variable):
        raise ConfigError(
            f'endpoints."{base_url}".headers.{name} names {variable}, which is not set in the environment'
        )
    return _sendable(environ[variable], variable)


def _sendable(value: str, variable: str) -> str:
    """The value as a header; keys read from files often end in a line break.

    Raises:
        ConfigError: It holds what no header can carry.
    """
    value = value.strip()
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(f"{variable} holds characters that no HTTP header can carry; was it copied whole?")
    return value
