"""How texts and values are named in a reason or message."""


def shortened(text: str, limit: int = 60) -> str:
    """A text on one line, cut visibly.

    Example:
        >>> shortened("Paris is the capital of France.", limit=12)
        'Paris is th…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def kind_of(value: object) -> str:
    """The type of a value with its article.

    Example:
        >>> kind_of(7), kind_of("7")
        ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' or name.startswith('nd') else 'a'} {name}"
