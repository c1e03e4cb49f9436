"""How a text is quoted in a reason or message."""


def shortened(text: str, limit: int = 60) -> str:
    """A text on one line, cut visibly.

    Example:
        >>> shortened("Paris is the capital of France.", limit=12)
        'Paris is th…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
