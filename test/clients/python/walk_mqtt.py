"""A client of an MQTT broker that a hub is connected to: a source, a subscriber, a handler and a caller.

    python walk_mqtt.py PORT SLASH LOCATIONS

SLASH is what topics begin with, "/" or "". LOCATIONS is a JSON list, published under the topics of their providers with
QoS 1. What it hears, handles and is answered goes to the standard output, as a line of JSON each.
"""

import asyncio
import json
import sys

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

METHOD = "Blink LED"
ME = "python-1"


def say(what, **more):
    print(json.dumps({"what": what, **more}), flush=True)


def expiring(seconds):
    properties = Properties(PacketTypes.PUBLISH)
    properties.MessageExpiryInterval = seconds
    return properties


async def hear(client, rpc):
    async for message in client.messages:
        topic = message.topic.value
        value = json.loads(message.payload)
        if topic == f"{rpc}/{METHOD}/request/{ME}":
            say("request", request=value)
            response = {"jsonrpc": "2.0", "id": value["id"], "result": {"lit": value["params"]["times"]}}
            caller = value["params"]["_caller_id"]
            await client.publish(f"{rpc}/{METHOD}/response/{caller}", json.dumps(response), qos=1)
        elif topic.startswith(f"{rpc}/"):
            say("response", topic=topic, response=value)
        else:
            say("message", topic=topic, value=value)


async def main(port, slash, locations):
    json_root = f"{slash}omlox/json"
    rpc = f"{slash}omlox/jsonrpc/rpc"
    async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5) as client:
        for topic in [
            f"{json_root}/location_updates/epsg4326/#",
            f"{json_root}/fence_events/#",
            f"{rpc}/{METHOD}/request/{ME}",
            f"{rpc}/+/response/{ME}",
        ]:
            await client.subscribe(topic, qos=1)
        hearing = asyncio.create_task(hear(client, rpc))
        for location in locations:
            provider = location["provider_id"]
            await client.publish(f"{json_root}/location_updates/pub/{provider}", json.dumps(location), qos=1)
        announcement = {"id": ME, "method_name": METHOD}
        available = f"{rpc}/available/{METHOD}"
        await client.publish(available, json.dumps(announcement), qos=1, retain=True, properties=expiring(120))
        ping = {"jsonrpc": "2.0", "id": "p", "method": "com.omlox.ping", "params": {"_caller_id": ME}}
        await client.publish(f"{rpc}/com.omlox.ping/request", json.dumps(ping), qos=1)
        # Until the standard input ends.
        await asyncio.to_thread(sys.stdin.read)
        await client.publish(available, b"", qos=1, retain=True)
        hearing.cancel()


asyncio.run(main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))
