"""An OPC UA client on asyncua. Prints a JSON object per line. It ends when its input does.

Usage: client.py URL FOLDER SECURITY USE [PASSWORD]

FOLDER gets the certificate of the client, which is also that of the user if PASSWORD is "certificate". SECURITY is None, Sign or SignAndEncrypt. USE is one of:

read     prints the zones and trackables
follow   prints each value of the latitudes, with the revised sampling interval
write    tries to write, to call and to add nodes, and prints the results
"""

import asyncio
import json
import sys
from pathlib import Path

from asyncua import Client, ua
from asyncua.crypto.cert_gen import setup_self_signed_certificate
from asyncua.crypto.security_policies import SecurityPolicyBasic256Sha256
from cryptography.x509.oid import ExtendedKeyUsageOID

GPOS = "http://opcfoundation.org/UA/GPOS/"
SITE = "urn:location-hub:site"
URI = "urn:test:client"


def say(**members):
    print(json.dumps(members, default=str), flush=True)


def plain(value):
    """Structures as dictionaries."""
    if isinstance(value, ua.NodeId):
        return value.to_string()
    if isinstance(value, list):
        return [plain(each) for each in value]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, ua.NodeId):
        members = {name: getattr(value, name) for name in value.__dataclass_fields__ if name != "data_type"}
        return {name: plain(each) for name, each in members.items() if name != "Encoding"}
    return value


async def described(node):
    """A node with the values below it, by their browse names."""
    found = {}
    for child in await node.get_children():
        name = (await child.read_browse_name()).Name
        if await child.read_node_class() != ua.NodeClass.Variable:
            found[name] = await described(child)
            continue
        value = await child.read_data_value(raise_on_bad_status=False)
        found[name] = {
            "value": plain(value.Value.Value) if value.Value is not None else None,
            "status": value.StatusCode.name,
            "at": value.SourceTimestamp,
            "type": (await child.read_type_definition()).to_string(),
            "id": child.nodeid.to_string(),
            "below": await described(child),
        }
    return found


async def read(client):
    await client.load_data_type_definitions()
    gpos, site = [await client.get_namespace_index(uri) for uri in (GPOS, SITE)]
    result = {}
    for kind, folder in (("zones", ua.NodeId(5013, gpos)), ("trackables", ua.NodeId("trackables", site))):
        result[kind] = [
            {
                "name": (await node.read_display_name()).Text,
                "id": node.nodeid.to_string(),
                "type": (await node.read_type_definition()).to_string(),
                "has": await described(node),
            }
            for node in await client.get_node(folder).get_children()
        ]
    types = client.get_node(ua.NodeId(2003, gpos))
    say(what="site", gpos=gpos, supertype=(await types.get_parent()).nodeid.to_string(), **result)


class Printer:
    def __init__(self):
        self.lost = asyncio.Event()

    def datachange_notification(self, node, value, data):
        item = data.monitored_item
        say(what="value", id=node.nodeid.to_string(), value=value, status=item.Value.StatusCode.name)

    def status_change_notification(self, status):
        self.lost.set()


async def follow(client, ended):
    site = await client.get_namespace_index(SITE)
    printer = Printer()
    subscription = await client.create_subscription(50, printer)
    for node in await client.get_node(ua.NodeId("trackables", site)).get_children():
        trackable = node.nodeid.Identifier
        latitude = client.get_node(ua.NodeId(f"{trackable}/GlobalLocation/Position/Latitude", site))
        await subscription.subscribe_data_change(latitude, sampling_interval=1)
    intervals = [item.server_handle for item in subscription._monitored_items.values()]
    say(what="following", count=len(intervals))
    while not ended.done():
        try:
            await client.nodes.server_state.read_value()
        except Exception as error:
            say(what="lost", error=type(error).__name__)
            return
        await asyncio.wait({ended}, timeout=0.1)


async def write(client):
    site = await client.get_namespace_index(SITE)
    found = await client.get_node(ua.NodeId("trackables", site)).get_children()
    path = f"{found[0].nodeid.Identifier}/GlobalLocation/Position/Latitude"
    latitude = client.get_node(ua.NodeId(path, site))
    results = {}
    for name, attempt in {
        "write": lambda: latitude.write_value(1.0),
        "add": lambda: found[0].add_variable(ua.NodeId("mine", site), "mine", 1),
        "delete": lambda: client.delete_nodes([found[0]]),
    }.items():
        try:
            answer = await attempt()
            results[name] = str(answer)
        except ua.UaError as error:
            results[name] = type(error).__name__
    say(what="attempts", **results)


async def main():
    url, folder, mode, use, *password = sys.argv[1:]
    key, certificate = Path(folder) / "client_key.pem", Path(folder) / "client.der"
    subject = {"commonName": "client"}
    await setup_self_signed_certificate(
        key, certificate, URI, "localhost", [ExtendedKeyUsageOID.CLIENT_AUTH], subject
    )
    client = Client(url, timeout=10)
    client.application_uri = URI
    if password == ["certificate"]:
        await client.load_client_certificate(str(certificate))
        await client.load_private_key(str(key))
    elif password:
        client.set_user("hub")
        client.set_password(password[0])
    loop = asyncio.get_running_loop()
    ended = loop.run_in_executor(None, sys.stdin.read)
    try:
        if mode != "None":
            await client.set_security(
                SecurityPolicyBasic256Sha256,
                certificate=str(certificate),
                private_key=str(key),
                mode=ua.MessageSecurityMode[mode],
            )
        await client.connect()
    except Exception as error:
        say(what="rejected", error=type(error).__name__, text=str(error))
        return
    try:
        await {"read": read, "follow": lambda own: follow(own, ended), "write": write}[use](client)
    finally:
        try:
            await client.disconnect()
        except Exception:
            pass


asyncio.run(main())
