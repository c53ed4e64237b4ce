"""Settings of every command: one frozen value read from ``mas.toml`` and ``--set a.b=c``.

Read `settings` first (what can be said), then `read` (how it is read, and how mistakes are reported). Secrets are never
settings: the file names the environment variable that holds one.
"""

from mas_orchestra.config.read import CONFIG_FILE, load_settings, read_config, read_settings, read_toml
from mas_orchestra.config.settings import (
    EndpointSettings,
    LocalSettings,
    MenuModel,
    Price,
    Section,
    Settings,
    normal_base_url,
)

__all__ = [
    "CONFIG_FILE",
    "EndpointSettings",
    "LocalSettings",
    "MenuModel",
    "Price",
    "Section",
    "Settings",
    "load_settings",
    "normal_base_url",
    "read_config",
    "read_settings",
    "read_toml",
]
