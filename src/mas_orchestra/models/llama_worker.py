"""The process that holds an embedded model: ``python -P llama_worker.py``, started by `llama_server`.

It reads one JSON line of settings from stdin, loads the model, and writes one JSON line with the address it listens on
to stdout. It ends when its stdin ends, which happens when its parent closes it and also when its parent dies, however
it dies. llama.cpp's own log goes to stderr. Run as a file, so that nothing of this package is imported.
"""

import json
import os
import signal
import sys
from typing import Any

PROMPT_CACHE_MIB = 64
"""For prompts whose slot was taken by another; llama.cpp's default of 8 GiB would fill small machines."""
ERRORS_ONLY = 1


def main() -> None:
    """Serve until stdin ends."""
    # A Ctrl-C reaches every process of the terminal; ours ends with its parent, after the last reply.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reply = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is log, not reply
    settings = json.loads(sys.stdin.readline())
    try:
        server = _serve(settings)
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)  # noqa: T201  (the parent reads the reason here)
        sys.exit(1)
    reply.write(json.dumps({"address": server.listening_address}) + "\n")
    reply.flush()
    sys.stdin.read()
    os._exit(0)  # nothing is left to be saved, and llama.cpp's own shutdown can take many seconds on a busy machine


def _serve(settings: dict[str, Any]) -> Any:  # noqa: ANN401  (xllamacpp has no types)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context_tokens"]  # llama.cpp shares it out among the slots
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.api_keys = [settings["api_key"]]  # loopback is open to every user of the machine, and to web pages
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    params.warmup = False
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.verbosity = ERRORS_ONLY
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
