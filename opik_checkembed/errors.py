"""What can go wrong, by who has to act.

A `ConfigurationError` is the caller's and is raised at construction. An `ItemError` is one item's: a metric
turns it into a `ScoreResult` with `scoring_failed=True` and the error's text as its reason, so one bad item
never aborts an evaluation.
"""


class OpikCheckEmbedError(Exception):
    """Base class of every error this package raises on purpose."""


class ConfigurationError(OpikCheckEmbedError, ValueError):
    """A metric, sampler, store, budget or model was set up in a way that cannot work; says what to do."""


class StoreError(ConfigurationError):
    """The sample store at a path cannot be used: unwritable, corrupt, a directory, from a newer version."""


class ItemError(OpikCheckEmbedError):
    """This item cannot be scored; the text is the reason shown to the user."""


class RequestError(ItemError):
    """There is nothing to build a request from; the text names the field and shows the mapping to write."""


class AnswerError(ItemError):
    """The judged output is missing, empty or not text."""


class SamplingError(ItemError):
    """Fewer usable samples came back than the metric needs."""


class ReplayMiss(SamplingError):
    """A store in replay mode lacks a sample; the text names the request."""


class BudgetExceeded(SamplingError):
    """The budget has no room left for this call.

    Attributes:
        may_pass: There will be room if calls in flight cost less than their worst case.
    """

    def __init__(self, text: str, *, may_pass: bool = False) -> None:
        super().__init__(text)
        self.may_pass = may_pass


class EmbeddingError(ItemError):
    """An embedder failed, or returned vectors that cannot be compared."""


class ModelError(ItemError):
    """A local model failed on these inputs, or there is nothing it can say about them."""


class ModelUnavailable(ModelError):
    """A local model cannot be loaded, whatever the inputs."""
