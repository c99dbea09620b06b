import assert from 'node:assert/strict';
import type { TestHub } from '../../support/running_hub.ts';

/** Numbers that a double would change, at every position in JSON. */
export const DATA = '{"floorId":723413320329068590,"t":21.0,"list":[1.50,{"exp":1e3,"neg":-0}],"plain":7}';
export const SENSORS = '[12345678901234567890,{"t":-3.10}]';

const uuid = (number: number): string => `5e0f0000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const ZONE = uuid(1);
export const BEACON = uuid(2);
export const CART = uuid(3);
export const FENCE = uuid(4);
export const OTHER_CART = uuid(5);

const POINTS = '[9,50],[0,0],[9.0014,50],[100,0],[9,50.0009],[0,100]';
export const ENTITIES: readonly (readonly [path: string, id: string, members: string])[] = [
  ['/zones', ZONE, `"type":"uwb","foreign_id":"hall","ground_control_points":[${POINTS}]`],
  ['/zones', BEACON, '"type":"rfid","position":{"type":"Point","coordinates":[9.0005,50.0005]},"radius":5'],
  ['/providers', 'tag', '"type":"uwb"'],
  ['/trackables', CART, '"type":"omlox","location_providers":["tag"]'],
  ['/fences', FENCE, '"region":{"type":"Point","coordinates":[9.0005,50.0005]},"radius":20'],
  ['/anchors', 'anchor', '"name":"a"'],
];

/** Creates an entity of each kind with this data as its properties. */
export async function makeAll(hub: TestHub, data = DATA): Promise<void> {
  for (const [path, id, members] of ENTITIES) {
    const reply = await hub.post(path, `{"id":"${id}",${members},"properties":${data}}`);
    assert.equal(reply.status, 201, reply.text);
    has(reply.text, data);
  }
}

/** Fails unless the string contains this data as properties, to the last digit. */
export function has(text: string, data = DATA): void {
  assert.ok(text.includes(`"properties":${data}`), `${data} is not in ${text.slice(0, 2000)}`);
}

/** JSON of a location with this data. */
export function location(id: string, data = DATA, more = ''): string {
  const place = '"position":{"type":"Point","coordinates":[9.0005,50.00050]},"crs":"EPSG:4326"';
  return `{${place},"provider_type":"uwb","provider_id":"${id}",${more}"source":"x","properties":${data}}`;
}

/** Frames that a connection receives for the topics, as strings. */
export async function listen(hub: TestHub, topics: readonly string[]): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const topic of topics) {
    const recorder = await hub.subscribe(topic);
    recorder.client.socket.on('message', (bytes: Buffer) => {
      const text = bytes.toString();
      if (text.includes('"event":"message"')) texts.push(text);
    });
  }
  return texts;
}

/** Fails unless the request succeeds. */
export async function accepted(reply: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await reply;
  assert.ok(status < 300, text);
}

/** Messages of a topic. */
export const of = (texts: readonly string[], topic: string) =>
  texts.filter((text) => text.includes(`"topic":"${topic}"`));

/** Fails unless each entity is returned with this data, alone and in lists. */
export async function showsAll(hub: TestHub, data = DATA): Promise<void> {
  for (const [path, id] of ENTITIES) {
    has((await hub.get(`${path}/${id}`)).text, data);
    has((await hub.get(`${path}/summary`)).text, data);
  }
}
