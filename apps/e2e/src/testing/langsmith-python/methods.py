"""Prints as JSON the methods that the SDK's client has."""

import json

import calls

print("made " + json.dumps({"public": calls.public, "calls": sorted(calls.called)}))
