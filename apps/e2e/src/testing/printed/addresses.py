"""Prints the addresses that the SDK for Python gives out: evaluations print theirs themselves, and each other one stands
behind the name of what its page shows. Arguments: the name of a dataset, the names of two experiments on it."""

import sys
import uuid
import warnings
from datetime import datetime, timezone

import langsmith
from langsmith import Client, evaluate
from langsmith.evaluation import evaluate_comparative

warnings.simplefilter("ignore")
dataset_name, base, following = sys.argv[1:]
client = Client()


def say(shown, address):
    print(f"{shown}\t{address}")


def correct(outputs):
    return {"key": "correct", "score": 1}


def preferred(runs, example):
    return {"key": "preferred", "scores": {run.id: place for place, run in enumerate(runs)}}


evaluate(
    lambda inputs: {"answer": "the live answer"},
    data=dataset_name,
    evaluators=[correct],
    experiment_prefix="live",
    client=client,
)
client.flush()
evaluate_comparative((base, following), evaluators=[preferred], experiment_prefix="pairwise", client=client)

project_name = f"traced by {langsmith.__version__}"
run_id = uuid.uuid4()
now = datetime.now(timezone.utc)
client.create_run(
    id=run_id,
    trace_id=run_id,
    dotted_order=now.strftime("%Y%m%dT%H%M%S%fZ") + str(run_id),
    name="traced",
    run_type="chain",
    inputs={"q": 1},
    outputs={"a": 2},
    project_name=project_name,
    start_time=now,
    end_time=now,
)
client.flush()
run = client.read_run(run_id)
dataset = client.read_dataset(dataset_name=dataset_name)
example = next(iter(client.list_examples(dataset_id=dataset.id, limit=1)))

say(base, client.read_project(project_name=base).url)
say(project_name, client.read_project(project_name=project_name).url)
say(dataset_name, dataset.url)
say(str(example.id)[:8], example.url)
say("traced", run.url)
say("traced", client.get_run_url(run=run))
say("traced", client.share_run(run_id))
say(dataset_name, client.share_dataset(dataset.id)["url"])
