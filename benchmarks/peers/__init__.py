"""The runtimes that are measured against each other, each with the same `connected`."""
