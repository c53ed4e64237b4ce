"""Scores: how right an answer is, or why that cannot be said."""
