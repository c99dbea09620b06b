import { LAST_ID, LOCATIONS_IN, publishPacket } from './mqtt_packets.ts';
import { COORDINATE_SLOT, STAMP_SLOT } from './slots.ts';

/**
 * Transport of locations to the hub: one per PUT, many per PUT, or many per WebSocket frame; over an MQTT broker, one
 * per PUBLISH with many in flight, or many per PUBLISH.
 */
export type Way = 'put-one' | 'put-many' | 'ws' | 'mqtt-one' | 'mqtt-many';

/** Path of the WebSocket, and of everything else. */
export const SOCKET_PATH = '/hub/v2/ws/socket';
const API = '/hub/v2';

/**
 * A location as a locating system sends it, with slots for coordinates and time. It has no speed and course, which the
 * hub computes. About 300 bytes.
 */
export function locationText(providerId: string): string {
  return (
    `{"position":{"type":"Point","coordinates":[${COORDINATE_SLOT},${COORDINATE_SLOT}]},"source":"site",` +
    `"provider_type":"uwb","provider_id":"${providerId}","timestamp_generated":"${STAMP_SLOT}","crs":"EPSG:4326",` +
    `"accuracy":0.3,"floor":0,"properties":{"battery":87,"quality":0.93}}`
  );
}

/** A request, a frame, or MQTT packets with locations of these providers, as bytes. */
export function messageOf(way: Way, ids: readonly string[]): Buffer {
  const locations = ids.map(locationText);
  if (way === 'put-one') return putRequest(`${API}/providers/${ids[0]}/location`, locations[0] ?? '');
  if (way === 'mqtt-many') return publishPacket(LOCATIONS_IN, `[${locations.join(',')}]`, LAST_ID);
  if (way === 'mqtt-one') {
    const idOf = (index: number): number => (index === locations.length - 1 ? LAST_ID : index + 1);
    return Buffer.concat(locations.map((text, i) => publishPacket(`${LOCATIONS_IN}/${ids[i]}`, text, idOf(i))));
  }
  if (way === 'put-many') return putRequest(`${API}/providers/locations`, `[${locations.join(',')}]`);
  return clientFrame(0x1, `{"event":"message","topic":"location_updates","payload":[${locations.join(',')}]}`);
}

function putRequest(path: string, body: string): Buffer {
  const length = Buffer.byteLength(body);
  const type = 'Content-Type: application/json';
  return Buffer.from(`PUT ${path} HTTP/1.1\r\nHost: hub\r\n${type}\r\nContent-Length: ${length}\r\n\r\n${body}`);
}

/** A frame from a client. The mandatory mask is zero, so that the slots can be overwritten. */
export function clientFrame(opcode: number, payload: string): Buffer {
  const length = Buffer.byteLength(payload);
  const head = length < 126 ? Buffer.alloc(6) : length < 65_536 ? Buffer.alloc(8) : Buffer.alloc(14);
  head[0] = 0x80 | opcode;
  if (length < 126) {
    head[1] = 0x80 | length;
  } else if (length < 65_536) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, Buffer.from(payload)]);
}
