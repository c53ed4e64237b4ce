"""The sub-agents that plans may name here: the installed ones, with the options and the model menu of ``mas.toml``."""

from mas_orchestra.plan.catalog import Catalog, installed_catalog

__all__ = ["settings_catalog"]


def settings_catalog() -> Catalog:
    """What `mas solve` in this folder tells an orchestrator of, so that ``mas plan`` speaks of the same.

    Raises:
        ConfigError: The settings are wrong, or name a model that cannot be opened.
    """
    from mas_orchestra.config import load_settings

    settings = load_settings()
    if not (settings.agents or settings.menu):
        return installed_catalog()
    from mas_orchestra.agents.registry import Registry
    from mas_orchestra.models.uri import open_model
    from mas_orchestra.run.runtime import describe_model

    return Registry.installed(settings.agent_options).catalog_with(
        {
            name: describe_model(entry.good_at, open_model(entry.model, settings))
            for name, entry in settings.menu.items()
        }
    )
