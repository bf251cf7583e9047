"""Sends runs of which some are too large, with the SDK's own batches: `oversized.py <project>`."""

import json
import sys
import uuid
from datetime import datetime, timezone

from langsmith import Client

HUGE = 30 * 1024 * 1024
client = Client()
made = {}


def send(name, **members):
    made[name] = str(uuid.uuid4())
    now = datetime.now(timezone.utc)
    client.create_run(
        name,
        {"question": name},
        "chain",
        id=made[name],
        trace_id=made[name],
        dotted_order=f"{now:%Y%m%dT%H%M%S%fZ}{made[name]}",
        project_name=sys.argv[1],
        start_time=now,
        end_time=now,
        **{"outputs": {"answer": name}, **members},
    )


send("first")
send("outputs", outputs={"text": "x" * HUGE})
send("second")
send("attachment", attachments={"large": ("application/octet-stream", b"x" * HUGE), "small": ("text/plain", b"kept")})
send("third")
client.flush()
print("made", json.dumps(made))
