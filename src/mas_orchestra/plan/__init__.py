"""The plan language: data that says which sub-agents work, on what, and how their outputs flow."""
