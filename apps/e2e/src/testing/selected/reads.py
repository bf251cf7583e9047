"""Prints as JSON, by routes that take a selection, the members of a record that the SDK for Python reads: of the answer
itself, and by the models that it is put into. Arguments: the name of a dataset, the names of two experiments on it."""

import asyncio
import json
import sys
import uuid
import warnings
from datetime import datetime, timezone
from urllib.parse import urlsplit

import requests
from langsmith import AsyncClient, Client, evaluate, schemas
from langsmith.evaluation import evaluate_comparative

warnings.simplefilter("ignore")
dataset_name, base, following = sys.argv[1:]
read = {"/examples": set(), "/runs/query": set()}


class Record(dict):
    """A record that notes every member that is read of it, or looked for."""

    route = ""

    def __getitem__(self, name):
        read[self.route].add(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        read[self.route].add(name)
        return super().__contains__(name)

    def get(self, name, *default):
        read[self.route].add(name)
        return super().get(name, *default)


def recording(answer_of):
    def recorded(self, *args, **kwargs):
        answer = answer_of(self, *args, **kwargs)
        path = urlsplit(str(self.url)).path.removeprefix("/api/v1")
        if path not in read:
            return answer
        records = answer if path == "/examples" else answer["runs"]
        for place, one in enumerate(records):
            records[place] = Record(one)
            records[place].route = path
        return answer

    return recorded


requests.Response.json = recording(requests.Response.json)
try:
    import httpx

    httpx.Response.json = recording(httpx.Response.json)
except ImportError:
    pass


def correct(outputs):
    return {"key": "correct", "score": 1}


def preferred(runs, example):
    return {"key": "preferred", "scores": {run.id: place for place, run in enumerate(runs)}}


client = Client()
for selected in ({}, {"include_attachments": True}):
    examples = list(client.list_examples(dataset_name=dataset_name, **selected))
    rows = list(evaluate(lambda inputs: {"answer": "the live answer"}, data=examples, evaluators=[correct], client=client))
    assert rows and not any(row["run"].error for row in rows), "A row was not evaluated."
evaluate_comparative((base, following), evaluators=[preferred], experiment_prefix="pairwise", client=client)

run_id = uuid.uuid4()
now = datetime.now(timezone.utc)
project_name = f"selected by {uuid.uuid4()}"
client.create_run(
    id=run_id,
    trace_id=run_id,
    dotted_order=now.strftime("%Y%m%dT%H%M%S%fZ") + str(run_id),
    name="asked",
    run_type="chain",
    inputs={"q": 1},
    outputs={"a": 2},
    extra={"metadata": {"thread_id": "talk"}},
    project_name=project_name,
    start_time=now,
    end_time=now,
)
client.flush()
run = next(iter(client.list_runs(project_name=project_name, select=["id"])))
client.get_run_url(run=run)
client.read_run(run.id, load_child_runs=True)
if hasattr(client, "list_threads"):
    assert len(client.list_threads(project_name=project_name)) == 1, "The thread was not found."


async def asynchronously():
    ours = AsyncClient()
    return [one async for one in ours.list_examples(dataset_name=dataset_name)] + [
        one async for one in ours.list_runs(project_name=project_name, select=["id"])
    ]


asyncio.run(asynchronously())
for route, model in (("/examples", schemas.Example), ("/runs/query", schemas.Run)):
    read[route].update(getattr(model, "model_fields", None) or model.__fields__)
print("made " + json.dumps({route: sorted(names) for route, names in read.items()}))
