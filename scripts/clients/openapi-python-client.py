"""Sends a message with the client that openapi-python-client makes, and reads it back."""

import os
import time

from aldis_client import AuthenticatedClient
from aldis_client.api.messages import get_message, list_messages, send_sms
from aldis_client.models import DeliveryReceipt, ErrorBody, SendSmsRequest

PLAN = os.environ["ALDIS_PLAN"]
client = AuthenticatedClient(
    base_url=os.environ["ALDIS_URL"], token=os.environ["ALDIS_TOKEN"]
)


def request(to: str) -> SendSmsRequest:
    return SendSmsRequest.from_dict(
        {
            "servicePlanId": PLAN,
            "channel": "SMS",
            "from": os.environ["ALDIS_SENDER"],
            "to": to,
            "body": "Sent by a generated client",
        }
    )


with client:
    sent = send_sms.sync(
        client=client,
        body=request("+15551230001"),
        idempotency_key=os.environ["ALDIS_KEY"],
    )
    assert isinstance(sent, DeliveryReceipt), sent

    deadline = time.monotonic() + 30
    while True:
        record = get_message.sync(sent.msg_id, client=client, service_plan_id=PLAN)
        assert isinstance(record, DeliveryReceipt), record
        if record.status == "DELIVERED" or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    assert record.status == "DELIVERED", record.status

    page = list_messages.sync(client=client, service_plan_id=PLAN, to="+15551230001")
    assert sent.msg_id in [item.msg_id for item in page.items]

    refused = send_sms.sync_detailed(client=client, body=request("nobody"))
    assert refused.status_code == 400
    assert isinstance(refused.parsed, ErrorBody), refused.parsed
    assert refused.parsed.errors[0].field == "to"

print(sent.msg_id)
