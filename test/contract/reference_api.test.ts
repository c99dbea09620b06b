import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestHub, type TestHub, type TestReply } from '../support/running_hub.ts';
import {
  assertRefused,
  type BadCall,
  bad,
  badBodies,
  badMethod,
  badPaths,
  badQueries,
  TAKES_UNKNOWN,
} from './bad_calls.ts';
import { Documented } from './documented.ts';
import { type Operation, type RequestBody, readReference } from './reference.ts';
import { BODIES, filled, IDS, restore, UNKNOWN_ID } from './world.ts';

/** Intended deviations from the reference in successful replies, with their reasons. */
const OTHER_SHAPES: Readonly<Record<string, string>> = {
  'v1 GET /trackables/{trackable_id}/providers': 'v1 names related entities by their ids; the reference is v2',
  'v1 GET /providers/{provider_id}/trackables': 'v1 names related entities by their ids; the reference is v2',
};

/** Paths that the reference lists as PUT, but that are WebSockets. */
const SOCKET = '/ws/socket';

/** Members whose valid values differ from the example of the reference. */
const OWN_VALUES: Readonly<Record<string, unknown>> = { zone_id: IDS['zone_id'], crs: 'EPSG:4326', trackables: [] };
/** Members that accept any JSON. */
const ANY_JSON = new Set(['sensors']);

interface Calls {
  good: number;
  bad: number;
}

const reference = readReference();

describe('the omlox Hub API 2.0.0', { skip: reference ? false : 'the reference is not here' }, () => {
  if (reference === undefined) return;
  const { operations } = reference;
  const called = new Map<string, Calls>();
  let hub: TestHub;
  let own: Readonly<Record<string, Documented>>;
  before(async () => {
    hub = await openTestHub();
    own = { v1: await Documented.of(hub, 'v1'), v2: await Documented.of(hub, 'v2') };
  });
  after(() => hub.close());

  for (const version of ['v1', 'v2']) {
    for (const operation of operations) {
      const { title, path } = operation;
      if (path === SOCKET) it(`${version} ${title} is a WebSocket`, () => walkSocket(operation, version));
      else it(`${version} ${title} answers as the reference specifies`, () => walk(operation, version));
    }
    it(`was called completely in ${version}, with valid and invalid input`, (t) => {
      const calls = operations.map(({ title }) => called.get(`${version} ${title}`) ?? { good: 0, bad: 0 });
      const sum = (kind: keyof Calls) => calls.reduce((total, each) => total + each[kind], 0);
      const complete = calls.filter((each) => each.good > 0 && each.bad > 0).length;
      t.diagnostic(
        `${version}: ${complete} of ${operations.length} operations, ${sum('good')} good and ${sum('bad')} bad calls`,
      );
      assert.equal(complete, operations.length);
    });
  }

  async function walk(operation: Operation, version: string): Promise<void> {
    const { title, path, method, parameters, body } = operation;
    const calls = { good: 0, bad: 0 };
    const makeBody = body && (BODIES[title] ?? assert.fail(`${title}: there is no body to send`));
    for (const sent of goodCalls(operation)) {
      await restore(hub);
      await assertSuccess(operation, version, await send(sent));
      calls.good++;
    }
    await restore(hub);
    const ownBody = makeBody?.();
    const refused = [
      badMethod(path),
      ...badPaths(title, path, withoutId(ownBody)),
      ...parameters.flatMap(({ name }) => badQueries(name)),
      ...(body === undefined ? [] : [...badBodies(title, ownBody), ...badMembers(operation, body)]),
    ];
    for (const call of refused) {
      const reply = await send(call);
      assertRefused({ version, title }, call, reply);
      assert.equal(reference?.schema('Error')(reply.body), undefined, reply.text);
      calls.bad++;
    }
    called.set(`${version} ${title}`, calls);

    /** Every reply must also match the hub's own document. */
    async function send(sent: Partial<BadCall>): Promise<TestReply> {
      const url = `${hub.origin}/hub/${version}${sent.path ?? filled(path)}${sent.query ?? ''}`;
      const reply = await hub.request(sent.method ?? method, url, 'body' in sent ? sent.body : makeBody?.());
      own[version]?.check(method, path, reply);
      return reply;
    }
  }

  async function walkSocket({ title, method }: Operation, version: string): Promise<void> {
    const plain = await hub.request(method, `${hub.origin}/hub/${version}${SOCKET}`, {});
    assert.equal(plain.status, 426);
    const socket = await hub.socket({ path: `/hub/${version}${SOCKET}` });
    const [frame] = await socket.ask({ event: 'subscribe', topic: 'location_updates' });
    assert.equal(reference?.schema('WebsocketSubscriptionResponse')(frame), undefined);
    // The reference declares numeric codes as strings, which begin with the number.
    const [error] = await socket.ask({ event: 'subscribe', topic: 'nothing' });
    const codes = reference?.node<string[]>('#/components/schemas/WebsocketError/properties/code/enum') ?? [];
    assert.ok(codes.some((code) => code.startsWith(`${error?.code} - Unknown topic`)));
    assert.deepEqual([error?.event, typeof error?.description], ['error', 'string']);
    called.set(`${version} ${title}`, { good: 1, bad: 2 });
  }

  /** A success has the status and the body of the reference, and the created object exists. */
  async function assertSuccess(operation: Operation, version: string, reply: TestReply): Promise<void> {
    const { title, success, replyProblem } = operation;
    assert.equal(reply.status, success, `${title}: ${reply.text}`);
    if (success === 201) {
      const shown = await hub.get(`${hub.origin}${reply.headers.location}`);
      assert.deepEqual([shown.status, shown.body], [200, reply.body]);
    }
    // GeoJSON has another shape, which the hub's own document describes.
    if (replyProblem === undefined || `${version} ${title}` in OTHER_SHAPES || /^Feature/.test(reply.body.type)) return;
    assert.equal(replyProblem(reply.body), undefined, `${title}: ${reply.text}`);
  }
});

/** Requests without parameters, with each parameter, and with every member that a body may have. */
function goodCalls({ title, path, parameters, body }: Operation): Partial<BadCall>[] {
  const calls: Partial<BadCall>[] = [{}];
  for (const { name, type } of parameters) {
    const value = name === 'crs' ? 'EPSG:4326' : type === 'boolean' ? 'true' : IDS['zone_id'];
    calls.push({ query: `?${name}=${value}` });
  }
  if (title in TAKES_UNKNOWN) {
    const ids = { ...IDS, provider_id: UNKNOWN_ID };
    calls.push({ path: filled(path, ids), body: withoutId(BODIES[title]?.()) });
  }
  const full = body && fullBody(title, body);
  return full === undefined ? calls : [...calls, { body: full }];
}

/** A body with every member that has an example. It must also be valid by the reference. */
function fullBody(title: string, { isList, members, problem }: RequestBody): unknown {
  const sent = BODIES[title]?.();
  if (members.length === 0) return undefined;
  const element = (isList ? (sent as unknown[])[0] : sent) as object;
  const shown = members.filter(({ name, example }) => name !== 'id' && (example !== undefined || name in OWN_VALUES));
  const added = Object.fromEntries(shown.map(({ name, example }) => [name, OWN_VALUES[name] ?? example]));
  const full = { ...added, ...element };
  const id = 'id' in full ? {} : { id: UNKNOWN_ID };
  const found = problem(isList ? [{ ...full, ...id }] : { ...full, ...id });
  assert.equal(found, undefined, `${title}: ${JSON.stringify(full)}`);
  return isList ? [full] : full;
}

/** Bodies with one member of a wrong type, and bodies that lack one required member. */
function badMembers({ title, path }: Operation, { isList, members }: RequestBody): BadCall[] {
  const sent = BODIES[title]?.();
  const element = (isList ? (sent as unknown[])[0] : sent) as Readonly<Record<string, unknown>>;
  const inPath = (name: string) => name === 'id' || path.includes(`{${name}}`);
  const list = title.includes('proximities') ? 'proximities' : 'locations';
  const call = (what: string, body: object, name: string): BadCall => {
    return bad(what, isList ? [body] : body, isList ? `${list}[0].${name}` : name);
  };
  return members.flatMap(({ name, type, isRequired }) => {
    if (ANY_JSON.has(name)) return [];
    const wrong = type === 'object' || type === undefined ? 'text' : { wrong: true };
    const { [name]: _left, ...rest } = element;
    const calls = [call(`${name} of another type`, { ...element, [name]: wrong }, name)];
    return isRequired && !inPath(name) ? [...calls, call(`no ${name}`, rest, name)] : calls;
  });
}

/** The body without the id that is also in the path. */
function withoutId(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { provider_id: _, ...rest } = body as { provider_id?: string };
  return rest;
}
