"""Works with projects, runs and feedback, and asks for what is not offered; prints as JSON what it saw."""

import json
import uuid
import warnings
from datetime import datetime, timezone

import calls
from langsmith import Client

warnings.simplefilter("ignore")
client = Client()
made = {}
NAME = "kept by python"
now = datetime.now(timezone.utc)

project = client.create_project(NAME, description="first", metadata={"team": "a"})
client.update_project(project.id, description="second")
made["description"] = client.read_project(project_id=project.id).description
made["has"] = [client.has_project(NAME), client.has_project("nobody's")]


def new_run(**members):
    run_id = uuid.uuid4()
    place = now.strftime("%Y%m%dT%H%M%S%fZ") + str(run_id)
    common = {"id": run_id, "trace_id": run_id, "dotted_order": place, "session_name": NAME, "start_time": now}
    return {**common, "end_time": now, "name": "a run", "run_type": "chain", "inputs": {"q": 1}, **members}


thread = {"metadata": {"thread_id": "talk"}}
batch, parts = new_run(outputs={"a": 2}, extra=thread), new_run(error="broken")
client.batch_ingest_runs(create=[batch])
client.multipart_ingest(create=[parts])
client.flush()
made["runs"] = sorted(str(r.error) for r in client.list_runs(project_name=NAME))
made["stats"] = client.get_run_stats(project_ids=[str(project.id)])["run_count"]
made["thread"] = [r.id == batch["id"] for r in client.read_thread(thread_id="talk", project_name=NAME)]
made["threads"] = [t["thread_id"] for t in client.list_threads(project_name=NAME)]
run = client.read_run(batch["id"])
made["url"] = str(run.id) in client.get_run_url(run=run)

given = client.create_feedback(run_id=run.id, key="liked", score=0.5, comment="hm")
client.flush()
made["given"] = client.read_feedback(given.id).score
client.update_feedback(given.id, score=1, comment="now")
made["changed"] = [[f.score, f.comment] for f in client.list_feedback(run_ids=[run.id], feedback_key=["liked"])]
client.delete_feedback(given.id)
made["deleted"] = len(list(client.list_feedback(run_ids=[run.id])))
config = {"type": "continuous", "min": 0, "max": 1}
client.create_feedback_config("liked", feedback_config=config)
client.update_feedback_config("liked", is_lower_score_better=True)
made["configs"] = [
    [c.feedback_key, c.is_lower_score_better] for c in client.list_feedback_configs(feedback_key=["liked"])
]
client.delete_feedback_config("liked")
client.delete_project(project_name=NAME)
made["gone"] = client.has_project(NAME)

dataset = client.create_dataset("evaluated by a method")
client.create_example(inputs={"q": 1}, outputs={"a": 2}, dataset_id=dataset.id)
results = client.evaluate(lambda inputs: {"a": 2}, data=dataset.name, experiment_prefix="by a method")
client.flush()
found = client.get_experiment_results(name=results.experiment_name)
made["results"] = [[e.inputs, [r.outputs for r in e.runs]] for e in found["examples_with_runs"]]
made["finetuning"] = client.read_dataset_openai_finetuning(dataset_id=dataset.id)
made["calls"] = sorted(calls.called)


def refused(ask):
    try:
        return f"answered {ask()}"
    except Exception as error:
        return str(error)


made["refused"] = [
    refused(lambda: client.create_annotation_queue(name="queue")),
    refused(lambda: list(client.list_annotation_queues())),
    refused(lambda: client.list_prompts()),
    refused(lambda: client.get_prompt("prompt")),
    refused(lambda: client.create_presigned_feedback_token(run.id, "liked")),
    refused(lambda: client.add_feedback_categories("liked", [{"value": 2, "label": "much"}])),
]
print("made " + json.dumps(made, default=str))
