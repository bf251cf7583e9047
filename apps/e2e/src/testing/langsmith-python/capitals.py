"""Tests that pytest runs with the plugin of the SDK; the references name the round, so that they change."""

import os

import pytest
from langsmith import testing

CAPITALS = {"Peru": "Lima", "Fiji": "Suva"}


@pytest.mark.langsmith
@pytest.mark.parametrize("country", CAPITALS)
def test_capital(country):
    testing.log_inputs({"country": country})
    testing.log_reference_outputs({"capital": CAPITALS[country], "round": os.environ["ROUND"]})
    testing.log_outputs({"capital": CAPITALS[country]})
    testing.log_feedback(key="letters", score=len(CAPITALS[country]))


@pytest.mark.langsmith
def test_wrong():
    testing.log_inputs({"country": "Chad"})
    testing.log_outputs({"capital": "Paris"})
    assert False, "Paris is not in Chad"
