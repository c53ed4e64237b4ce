"""A sub-agent in a package of its own."""
