"""Shares a run and a dataset, reads them as a stranger does, and clones the dataset; prints as JSON what it saw."""

import asyncio
import json
import sys
import uuid
import warnings
from datetime import datetime, timezone

import calls
from langsmith import Client, evaluate

warnings.simplefilter("ignore")
mark = " ".join(["by python", *sys.argv[1:]])
client = Client()
stranger = Client(api_key="placeholder")
made = {}


def refused(read):
    try:
        return f"read {read()}"
    except Exception as error:
        return type(error).__name__


dataset = client.create_dataset(f"shared {mark}", description="about")
client.create_examples(
    dataset_id=dataset.id, inputs=[{"q": n} for n in range(120)], outputs=[{"a": n + 1} for n in range(120)]
)
experiment = evaluate(
    lambda inputs: {"a": inputs["q"] + 1},
    data=client.list_examples(dataset_id=dataset.id, limit=2),
    experiment_prefix="on shared",
    client=client,
)
token = str(client.share_dataset(dataset.id)["share_token"])
made["url"] = client.read_dataset_shared_schema(dataset.id)["url"].endswith(f"/public/{token}/d")
made["dataset"] = stranger.read_shared_dataset(token).description
made["examples"] = sorted(e.inputs["q"] for e in stranger.list_shared_examples(token)) == list(range(120))
some = next(iter(stranger.list_shared_examples(token, limit=1)))
made["one"] = len(list(stranger.list_shared_examples(token, example_ids=[some.id])))
made["projects"] = [p.name == experiment.experiment_name for p in stranger.list_shared_projects(dataset_share_token=token)]
cloned = client.clone_public_dataset(token, dataset_name=f"cloned {mark}")
made["cloned"] = sorted(e.outputs["a"] for e in client.list_examples(dataset_id=cloned.id)) == list(range(1, 121))
made["again"] = client.clone_public_dataset(token, dataset_name=f"cloned {mark}").id == cloned.id

now = datetime.now(timezone.utc)
top, below, beside = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()


def place(run_id, parent=None):
    own = now.strftime("%Y%m%dT%H%M%S%fZ") + str(run_id)
    return f"{parent}.{own}" if parent else own


for run_id, parent in [(top, None), (below, top), (beside, None)]:
    client.create_run(
        id=run_id,
        name="child" if parent else "root",
        run_type="chain",
        inputs={"q": 1},
        outputs={"a": 2},
        project_name=f"shared runs {mark}",
        start_time=now,
        end_time=now,
        trace_id=parent or run_id,
        parent_run_id=parent,
        dotted_order=place(run_id, parent and place(parent)),
    )
client.flush()
made["not_shared"] = [client.read_run_shared_link(top), client.run_is_shared(top)]
address = client.share_run(top)
run_token = address.split("/")[-2]
made["same"] = client.read_run_shared_link(top) == address and client.run_is_shared(top)
made["run"] = stranger.read_shared_run(run_token).outputs
made["child"] = stranger.read_shared_run(address, below).name
made["other"] = refused(lambda: stranger.read_shared_run(run_token, beside))
made["runs"] = sorted(r.name for r in stranger.list_shared_runs(run_token))
made["some"] = [r.name for r in stranger.list_shared_runs(run_token, run_ids=[str(below)])]
client.unshare_run(top)
made["unshared"] = refused(lambda: stranger.read_shared_run(run_token))
client.unshare_dataset(dataset.id)
made["unshared_dataset"] = refused(lambda: stranger.read_shared_dataset(token))


async def second_version():
    run = client.read_run(top)
    where = {"session_id": str(run.session_id)}
    shared = await client.runs.share.create(str(top), trace_id=str(top), **where)
    found = await stranger.public.runs.query(shared.share_token, selects=["ID", "NAME"])
    one = await stranger.public.runs.retrieve(
        str(below), share_token=shared.share_token, selects=["NAME", "OUTPUTS"], start_time=now
    )
    await client.runs.share.delete(str(top), **where)
    return [sorted(r.name for r in found.items), one.name, one.outputs]


if hasattr(Client, "public"):
    made["second"] = asyncio.run(second_version())
made["calls"] = sorted(calls.called)
print("made " + json.dumps(made))
