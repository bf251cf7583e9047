"""Runs the evaluations of the SDK on a dataset; prints as JSON what it made. Arguments: the name of the dataset."""

import asyncio
import json
import sys
import uuid
import warnings
from datetime import datetime, timezone

import calls
from langsmith import Client, aevaluate, evaluate, traceable
from langsmith.evaluation import evaluate_comparative

warnings.simplefilter("ignore")
dataset = sys.argv[1]
client = Client()


@traceable(run_type="llm", client=client)
def model(question):
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "total_cost": 0.25}
    return {"answer": question + 1, "usage_metadata": usage}


def target(inputs):
    return {"answer": model(inputs["question"])["answer"]}


async def async_target(inputs):
    return {"answer": inputs["question"]}


def correct(outputs, reference_outputs):
    return {"key": "correct", "score": outputs["answer"] == reference_outputs["answer"], "comment": "compared"}


def broken(outputs):
    raise ValueError("the evaluator broke")


def overall(outputs, reference_outputs):
    return {"key": "overall", "score": 0.5}


results = evaluate(
    target,
    data=dataset,
    evaluators=[correct, broken],
    summary_evaluators=[overall],
    num_repetitions=2,
    experiment_prefix="evaluated",
    client=client,
)
rows = list(results)


async def evaluated():
    found = await aevaluate(async_target, data=dataset, evaluators=[correct], experiment_prefix="async", client=client)
    return found.experiment_name


name = asyncio.run(evaluated())
client.flush()


def preferred(runs, example):
    return {"key": "preferred", "scores": {run.id: place for place, run in enumerate(runs)}}


compared = evaluate_comparative(
    (results.experiment_name, name), evaluators=[preferred], experiment_prefix="compared", client=client
)
run_id = uuid.uuid4()
feedback = client.create_feedback(trace_id=run_id, key="early", score=1)
client.flush()
model(1, langsmith_extra={"run_id": run_id, "project_name": "by hand"})
client.flush()
traced = uuid.uuid4()
now = datetime.now(timezone.utc)
client.create_run(
    id=traced,
    name="with an attachment",
    run_type="chain",
    inputs={},
    project_name="by hand",
    start_time=now,
    trace_id=traced,
    dotted_order=now.strftime("%Y%m%dT%H%M%S%fZ") + str(traced),
    attachments={"picture": ("image/png", b"\x89PNG\r\n\x00\xff")},
)
client.flush()
picture = client.read_run(traced).attachments["picture"]
made = {
    "evaluated": results.experiment_name,
    "rows": len(rows),
    "async": name,
    "compared": len(list(compared)),
    "comparison": compared.comparative_experiment.name if hasattr(compared, "comparative_experiment") else None,
    "run": str(run_id),
    "feedback": str(feedback.id),
    "picture": picture["reader"].read().hex(),
    "picture_type": picture["mime_type"],
}
made["calls"] = sorted(calls.called)
print("made " + json.dumps(made))
