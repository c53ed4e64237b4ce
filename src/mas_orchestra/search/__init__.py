"""Retrievers: what a search agent may search."""
