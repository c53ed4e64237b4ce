"""Sub-agents: black boxes with clear interfaces that a plan names."""
