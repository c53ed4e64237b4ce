"""Tasks: questions with reference answers."""
