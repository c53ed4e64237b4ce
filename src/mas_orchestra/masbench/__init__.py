"""MASBENCH: tasks whose structure is known exactly, every row proven."""
