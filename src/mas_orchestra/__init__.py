"""A small orchestrator model writes a whole multi-agent system in one shot; this runs, measures and trains it."""
