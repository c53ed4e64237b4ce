"""Models of the loopback endpoint."""

import pytest

from mas_orchestra.config import Settings, normal_base_url
from mas_orchestra.models.limits import Limiter
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from support.clock import FakeClock


@pytest.fixture
async def build(endpoint):
    """Models of the endpoint on a clock that never really waits."""
    opened = []

    def make(*, name="test", clock=None, key="", base_url="", **options):
        url = normal_base_url(base_url or endpoint.base_url)
        settings = Settings(endpoints={url: {"max_retries": 2, **options}})
        limiter = Limiter(settings.endpoint(url), clock=clock or FakeClock(auto=True))
        environ = {"MAS_API_KEY": key} if key else {}
        model = OpenAICompatibleModel(name, url, settings, environ=environ, limiter=limiter)
        opened.append(model)
        return model

    yield make
    for model in opened:
        await model.close()
