"""All questions about positions, models and tournaments, with what answers them."""

from __future__ import annotations

from selfplay.web import api, model_pages, tournaments
from selfplay.web.opened import Opened
from selfplay.web.records import Record

ANSWERS = api.ANSWERS | model_pages.ANSWERS | tournaments.ANSWERS


def answer(what: str, content: object, opened: Opened) -> Record:
    """The answer to a question from JSON."""
    asked, kind, answer = ANSWERS[what]
    return answer(asked.of(content), getattr(opened, kind))
