"""The Opik metrics: each reads the item, draws samples, calls a model and a function, and returns scores."""
