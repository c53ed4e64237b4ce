"""A small orchestrator model writes a whole multi-agent system in one shot; this package runs, measures and trains it."""
