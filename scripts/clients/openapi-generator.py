"""Sends a message with the client that openapi-generator makes for Python, and reads it back."""

import os
import time

import aldis_client
from aldis_client.rest import ApiException

PLAN = os.environ["ALDIS_PLAN"]
configuration = aldis_client.Configuration(
    host=os.environ["ALDIS_URL"], access_token=os.environ["ALDIS_TOKEN"]
)

with aldis_client.ApiClient(configuration) as client:
    messages = aldis_client.MessagesApi(client)
    message = aldis_client.SendSmsRequest(
        servicePlanId=PLAN,
        channel="SMS",
        **{"from": os.environ["ALDIS_SENDER"]},
        to="+15551230001",
        body="Sent by a generated client",
    )
    sent = messages.send_sms(message, idempotency_key=os.environ["ALDIS_KEY"])

    deadline = time.monotonic() + 30
    while True:
        record = messages.get_message(msg_id=sent.msg_id, service_plan_id=PLAN)
        if record.status == "DELIVERED" or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    assert record.status == "DELIVERED", record.status

    page = messages.list_messages(service_plan_id=PLAN, to="+15551230001")
    assert sent.msg_id in [item.msg_id for item in page.items]

    try:
        message.to = "nobody"
        messages.send_sms(message)
        raise SystemExit("a message to nobody was accepted")
    except ApiException as refused:
        assert refused.status == 400
        assert refused.data.error_code == "VALIDATION_ERROR"
        assert refused.data.errors[0].var_field == "to"

print(sent.msg_id)
