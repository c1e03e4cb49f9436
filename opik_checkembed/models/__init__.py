"""Embedders and other models: a one-method Protocol each, with a local and an API implementation."""
