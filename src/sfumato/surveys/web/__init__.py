"""A survey as one page that people open, whose browser randomizes on their own device; and as a sheet of paper."""

from sfumato.surveys.web.document import page, paper, words

__all__ = ["page", "paper", "words"]
