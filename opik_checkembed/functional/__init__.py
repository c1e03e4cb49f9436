"""The mathematics: texts, arrays and probabilities in, a frozen dataclass out. No Opik, no model, no disk."""
