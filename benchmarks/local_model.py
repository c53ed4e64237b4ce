"""What the embedded model costs on this machine: loading, memory, reading a prompt, writing a reply, several at once.

python benchmarks/local_model.py [THREADS ...]
"""

import asyncio
import sys
import time

from mas_orchestra.config import Settings, read_settings
from mas_orchestra.models.base import Completion, Params
from mas_orchestra.models.local import LocalModel
from mas_orchestra.plan.catalog import installed_catalog
from mas_orchestra.plan.compact import compact_messages, compact_schema
from mas_orchestra.types import DoM, Message, ResponseSchema, Role

ENDLESS = ResponseSchema(name="words", schema={"type": "array", "items": {"const": "word"}, "minItems": 1_000})
QUESTION = "Which is longer, the Nile or the Rhine?"
CLIENTS = 8


def user(text: str) -> tuple[Message, ...]:
    """A conversation of one user turn."""
    return (Message(role=Role.USER, content=text),)


async def timed(model: LocalModel, messages: tuple[Message, ...], params: Params) -> tuple[Completion, float]:
    """The reply and the seconds from the call to its end."""
    start = time.perf_counter()
    completion = await model.complete(messages, params)
    return completion, time.perf_counter() - start


async def write(model: LocalModel, client: int) -> int:
    """Output tokens of a reply of fixed length."""
    completion = await model.complete(user(f"Client {client}"), Params(max_tokens=64, response_schema=ENDLESS))
    return completion.usage.output_tokens


async def measure(settings: Settings) -> None:
    """Print one column of figures."""
    model = LocalModel.open("smollm2-135m", settings)
    _, load_s = await timed(model, user("Hi."), Params(max_tokens=1))
    numbers = " ".join(str(number * 7919 % 1000) for number in range(300))
    prompt, prompt_s = await timed(model, user(numbers), Params(max_tokens=1))
    reply, reply_s = await timed(model, user("Go."), Params(max_tokens=100, response_schema=ENDLESS))
    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(write(model, client)) for client in range(CLIENTS)]
    together_s = time.perf_counter() - start
    print(f"  first reply, loading included   {load_s:8.2f} s")
    print(f"  reading a prompt                {prompt.usage.input_tokens / prompt_s:8.0f} tokens/s")
    print(f"  writing, 1 client               {reply.usage.output_tokens / reply_s:8.0f} tokens/s")
    print(
        f"  writing, {CLIENTS} clients              {sum(task.result() for task in tasks) / together_s:8.0f} tokens/s"
    )
    await measure_plans(model)
    await model.close()


async def measure_plans(model: LocalModel) -> None:
    """Print what a plan costs: the first one, whose prompt is new, and the next, whose prompt is in the cache."""
    catalog = installed_catalog()
    schema = ResponseSchema(name="plan", schema=compact_schema(catalog, DoM.HIGH))
    params = Params(temperature=0.3, seed=1, max_tokens=400, response_schema=schema)
    for name, question in (("first", QUESTION), ("second", QUESTION.replace("Nile", "Danube"))):
        plan, plan_s = await timed(model, compact_messages(question, catalog=catalog, dom=DoM.HIGH), params)
        read, known, written = plan.usage.input_tokens, plan.usage.cache_read_tokens, plan.usage.output_tokens
        print(
            f"  {name:<6} plan                     {plan_s:8.2f} s ({read} read, {known} from cache, {written} written)"
        )


if __name__ == "__main__":
    for threads in map(int, sys.argv[1:] or ["1"]):
        print(f"{threads} thread{'s' if threads > 1 else ''}:")
        asyncio.run(measure(read_settings({"local": {"threads": threads}}, place="benchmark")))
