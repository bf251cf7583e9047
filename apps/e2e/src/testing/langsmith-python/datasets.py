"""Does with datasets and examples what tutorials do; prints as JSON what it saw."""

import io
import json
import uuid
import warnings
from datetime import datetime, timezone

import calls
from langsmith import Client, evaluate, schemas

warnings.simplefilter("ignore")
client = Client()
made = {}

dataset = client.create_dataset(
    "made by python", description="about", metadata={"team": "a"}, inputs_schema={"type": "object"}
)
made["dataset"] = str(dataset.id)
made["metadata"] = dataset.metadata["team"]

one = client.create_example(inputs={"q": 1}, outputs={"a": 2}, dataset_id=dataset.id, metadata={"n": 1}, split="train")
made["one"] = [one.inputs, one.outputs, {k: v for k, v in one.metadata.items()}]
made["legacy"] = client.create_examples(
    inputs=[{"q": 2}, {"q": 3}], outputs=[{"a": 3}, {"a": 4}], dataset_name="made by python"
)["count"]
with_file = client.create_examples(
    dataset_id=dataset.id,
    examples=[
        {
            "inputs": {"q": 4},
            "outputs": {"a": 5},
            "attachments": {"picture": {"mime_type": "image/png", "data": b"\x89PNG\r\n\x1a\n\x00\xff"}, "note": ("text/plain", b"n")},
            "split": ["train", "hard"],
        }
    ],
)
picture = str(with_file["example_ids"][0])
read = client.read_example(picture)
made["picture"] = read.attachments["picture"]["reader"].read().hex()
made["picture_type"] = read.attachments["picture"].get("mime_type")
listed = [e for e in client.list_examples(dataset_id=dataset.id, include_attachments=True) if e.attachments]
made["listed_attachments"] = sorted(listed[0].attachments)

before = client.read_dataset_version(dataset_id=dataset.id, tag="latest").as_of
client.update_dataset_tag(dataset_id=dataset.id, as_of=before, tag="prod")
updated = client.update_example(one.id, inputs={"q": 10}, outputs={"a": 11}, metadata={"n": 2})
made["updated"] = str(updated.get("count", updated.get("message")))
client.update_examples(
    dataset_id=dataset.id,
    updates=[{"id": picture, "attachments_operations": {"rename": {"picture": "image"}, "retain": []}}],
)
made["renamed"] = sorted(client.read_example(picture).attachments)
client.update_dataset_splits(dataset_id=dataset.id, split_name="test", example_ids=[one.id])
made["splits"] = sorted(client.list_dataset_splits(dataset_id=dataset.id))
made["in_split"] = len(list(client.list_examples(dataset_id=dataset.id, splits=["test"])))
client.update_dataset_splits(dataset_id=dataset.id, split_name="test", example_ids=[one.id], remove=True)
made["in_base"] = len(list(client.list_examples(dataset_id=dataset.id, splits=["base"])))
# What was read is sent back: nothing changes, and no version is made.
unchanged = client.read_dataset_version(dataset_id=dataset.id, tag="latest").as_of
for e in client.list_examples(dataset_id=dataset.id):
    client.update_example(e.id, inputs=e.inputs, outputs=e.outputs, metadata=e.metadata, split=e.metadata["dataset_split"])
made["again"] = client.read_dataset_version(dataset_id=dataset.id, tag="latest").as_of == unchanged
made["moved"] = []
for split in ["base", "train"]:
    client.update_example(one.id, split=split)
    made["moved"].append(client.read_example(one.id).metadata["dataset_split"])
gone = client.create_example(inputs={"q": 99}, outputs={"a": 0}, dataset_id=dataset.id)
client.delete_example(gone.id)
more = client.create_example(inputs={"q": 98}, outputs={"a": 0}, dataset_id=dataset.id)
client.delete_examples([more.id])
made["tagged"] = sorted(e.inputs["q"] for e in client.list_examples(dataset_id=dataset.id, as_of="prod"))
made["current"] = sorted(e.inputs["q"] for e in client.list_examples(dataset_id=dataset.id))
diff = client.diff_dataset_versions(dataset_id=dataset.id, from_version="prod", to_version="latest")
made["modified"] = sorted(str(i) for i in diff.examples_modified) == sorted([str(one.id), picture])
made["versions"] = len(list(client.list_dataset_versions(dataset_id=dataset.id)))
made["version_tags"] = client.read_dataset_version(dataset_id=dataset.id, tag="prod").tags

csv = client.upload_csv(
    ("countries.csv", io.BytesIO(b"country,capital\nPeru,Lima\nFiji,Suva\n")),
    input_keys=["country"],
    output_keys=["capital"],
    name="from csv",
    description="countries",
)
made["csv"] = [[e.inputs, e.outputs] for e in client.list_examples(dataset_id=csv.id)]

run = uuid.uuid4()
client.create_run(
    name="source", run_type="chain", id=run, inputs={"q": 7}, outputs={"a": 8}, project_name="sources",
    start_time=datetime.now(timezone.utc), end_time=datetime.now(timezone.utc),
)
client.flush()
source = client.read_run(run)
from_run = client.create_example_from_run(source, dataset_id=dataset.id)
made["from_run"] = [from_run.inputs, from_run.outputs]
whole = client.create_example(dataset_id=dataset.id, source_run_id=run, use_source_run_io=True)
made["whole_run"] = [whole.inputs, str(whole.source_run_id) == str(run)]

results = evaluate(
    lambda inputs: {"a": inputs["q"] + 1},
    data=client.list_examples(dataset_id=dataset.id, as_of="prod"),
    evaluators=[lambda outputs, reference_outputs: {"key": "correct", "score": outputs == reference_outputs}],
    experiment_prefix="own dataset",
    client=client,
)
made["experiment"] = results.experiment_name
made["rows"] = len(list(results))
client.flush()



class Frame:
    """What the SDK asks of a data frame of pandas."""

    def to_csv(self, file, index):
        file.write(b"country,capital\nChad,N'Djamena\n")


frame = client.upload_dataframe(Frame(), name="from a frame", input_keys=["country"], output_keys=["capital"])
made["frame"] = [[e.inputs, e.outputs] for e in client.list_examples(dataset_id=frame.id)]
prompts = client.create_dataset("prompts", data_type=schemas.DataType.llm)
llm = client.create_llm_example("Hello", "World", dataset_id=prompts.id)
made["llm"] = [llm.inputs, llm.outputs]
chats = client.create_dataset("chats", data_type=schemas.DataType.chat)
question, answer = {"type": "human", "data": {"content": "Hi"}}, {"type": "ai", "data": {"content": "Ho"}}
chat = client.create_chat_example([question], answer, dataset_id=chats.id)
made["chat"] = [chat.inputs == {"input": [question]}, chat.outputs == {"output": answer}]

try:
    client.create_dataset("made by python")
except Exception as error:
    made["conflict"] = type(error).__name__
client.delete_dataset(dataset_id=csv.id)
made["has"] = client.has_dataset(dataset_name="from csv")
made["calls"] = sorted(calls.called)
print("made " + json.dumps(made))
