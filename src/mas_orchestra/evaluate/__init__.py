"""Evaluation: many tasks, several systems, repeated attempts, one store, and how sure the result is."""
