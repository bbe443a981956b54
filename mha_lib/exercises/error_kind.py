"""How an error is called. Imports nothing: the grader copies this file beside a learner's code."""


def kind_of(error: BaseException) -> str:
    """Return the name of an error; of a kind that the learner made, Python's kind it belongs to.

    >>> class HeadError(ValueError): ...
    >>> kind_of(HeadError()), kind_of(KeyError())
    ('ValueError', 'KeyError')
    """
    python = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return (type(error) if python in (Exception, BaseException) else python).__name__
