"""Running plans: executor, budget, ledger, events and the systems that solve tasks."""
