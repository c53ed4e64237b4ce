"""Infrastructure is not intelligence: an endpoint that breaks changes how much is known, not what is found."""

import math
from collections import Counter

import numpy as np
import pytest

from mas_orchestra import seeds
from mas_orchestra.errors import ServerError
from mas_orchestra.evaluate.statistics import mean_interval
from support.evaluation import RIGHT, WRONG, config_of, opened, scripted, work

ACCURACY, BREAKS = 0.6, 0.2
TASKS, ATTEMPTS = 150, 4


class Endpoint:
    """Right with one chance and broken with another, the two independent; `breaks` can be mended."""

    def __init__(self, seed):
        self.seed = seed
        self.breaks = BREAKS
        self._asked = Counter()

    def __call__(self, messages, params):
        prompt = messages[-1].content
        self._asked[prompt] += 1
        rng = seeds.rng("endpoint", self.seed, prompt, self._asked[prompt])
        is_right = rng.random() < ACCURACY
        if rng.random() < self.breaks:
            raise ServerError("503 beyond the retries")
        return RIGHT if is_right else WRONG


async def run(path, endpoint):
    """Attempts of one start of the run."""
    config = config_of("cot", attempts=ATTEMPTS, concurrency=16)
    with opened(path, config, scripted(endpoint), tasks=TASKS) as desk:
        await work(desk)
        return list(desk.store.attempts())


@pytest.mark.slow
async def test_accuracy_over_scored_attempts_is_unbiased_and_a_resume_fills_the_gaps(tmp_path):
    errors, covered = [], 0
    seeds_used = range(6)
    for seed in seeds_used:
        endpoint = Endpoint(seed)
        first = await run(tmp_path / str(seed), endpoint)
        scored = [attempt for attempt in first if attempt.score is not None]
        broken = len(first) - len(scored)
        spread = math.sqrt(BREAKS * (1 - BREAKS) / len(first))
        assert abs(broken / len(first) - BREAKS) < 4 * spread
        assert {a.reason for a in first if a.score is None} == {"endpoint_error"}

        by_task = {}
        for attempt in scored:
            by_task.setdefault(attempt.task_id, []).append(attempt.score)
        interval = mean_interval(np.array([np.mean(scores) for scores in by_task.values()]))
        errors.append(interval.mean - ACCURACY)
        covered += interval.low <= ACCURACY <= interval.high

        endpoint.breaks = 0.0
        second = await run(tmp_path / str(seed), endpoint)
        kept = {(a.task_id, a.attempt): a.score for a in scored}
        filled = {(a.task_id, a.attempt): a.score for a in second}
        assert len(filled) == TASKS * ATTEMPTS
        assert None not in filled.values()
        assert kept.items() <= filled.items(), "what had a score keeps it"

    standard_error = math.sqrt(ACCURACY * (1 - ACCURACY) / (len(seeds_used) * TASKS * ATTEMPTS * (1 - BREAKS)))
    assert abs(np.mean(errors)) < 3 * standard_error
    assert covered >= len(seeds_used) - 2
