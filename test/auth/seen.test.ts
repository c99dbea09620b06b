import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { ApiRoute } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import type { TestHub, TestReply } from '../support/running_hub.ts';
import type { SocketClient } from '../support/socket_client.ts';
import { type AuthorizedHub, openAuthorizedHub } from './authorized_hub.ts';
import { attacksOf } from './seen_attacks.ts';
import {
  bodiesOf,
  build,
  claimOf,
  KIND_OF,
  KINDS,
  type Kind,
  Marks,
  type Rights,
  type World,
  worldArbitrary,
} from './seen_world.ts';

/**
 * No reply or frame contains anything that its token may not read, regardless of references that an administrator has
 * created and of the changes that the token permits. All data is marked, so a leak is found by searching for marks.
 */

const PERMISSIONS = `
tenant:
  '/v1/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
  '/v2/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
${KINDS.map((kind) => `all-${kind}s:\n  '/v2/${kind}s/:${kind}_id': [READ_ANY]\n`).join('')}`;

/** Number of worlds, their maximum total time, and the steps of every provider in each. */
const WORLDS = 20;
const BOUND_MS = 25_000;
const STEPS = 3;

let opened: AuthorizedHub;
let admin: TestHub;
before(async () => {
  opened = await openAuthorizedHub(PERMISSIONS);
  ({ admin } = opened);
});
after(() => opened.close());

/** A client that must not see most objects. */
class Tenant {
  readonly rights: Rights;
  readonly hub: TestHub;
  readonly socket: SocketClient;
  readonly #secrets: readonly Secret[];

  constructor(rights: Rights, hub: TestHub, socket: SocketClient, { site }: World, marks: Marks) {
    this.rights = rights;
    this.hub = hub;
    this.socket = socket;
    const sees = (kind: Kind, i: number): boolean => rights.whole.includes(kind) || rights.owned[kind].includes(i);
    const placing = site.trackables.flatMap((_, t) => (sees('trackable', t) ? providersOf(site, t) : []));
    this.#secrets = KINDS.flatMap((kind) => {
      const unseen = marks.ids(kind).flatMap((_id, i) => (sees(kind, i) ? [] : [i]));
      return unseen.flatMap((i) => secretsOf(kind, i, marks, placing));
    });
  }

  /** Values that a response must not contain. An error may repeat values of its request. */
  leaks(text: string, { asked = '', areRecords = false }: Looking): readonly string[] {
    const found = this.#secrets.filter((secret) => secret.in.test(text) && !secret.in.test(asked));
    return found.filter(({ isPlace }) => areRecords || !isPlace).map(({ what }) => what);
  }

  /** Whether the token may read all objects of a path, whatever their owners. */
  isGiven({ path }: ApiRoute): boolean {
    return this.rights.whole.some((kind) => path === `/${kind}s/:${kind}_id`);
  }
}

/** A value that occurs only in the data of one entity. */
interface Secret {
  readonly what: string;
  readonly in: RegExp;
  /** Position of a provider that locates a visible object and is its position, too: only the provider's data is secret. */
  readonly isPlace: boolean;
}

interface Looking {
  readonly asked?: string;
  /** Whether the response has the locations of single providers. */
  readonly areRecords?: boolean;
}

function secretsOf(kind: Kind, i: number, marks: Marks, placing: readonly number[]): readonly Secret[] {
  // A hall is shared: locations and fences name it, and reveal its position.
  const id = marks.ids(kind)[i] ?? '';
  const texts = [...(kind === 'zone' ? [] : [id]), marks.mark(kind, i)];
  const named = texts.map((what) => ({ what, in: new RegExp(what.replaceAll('.', '\\.'), 'i'), isPlace: false }));
  if (kind === 'zone') return named;
  const isPlace = kind === 'provider' && placing.includes(i);
  const steps = [...Array(kind === 'provider' ? STEPS : 1).keys()];
  const places = steps.map((step) => {
    const [lon, lat] = marks.at(kind, i, step).map((degrees) => String(degrees).slice(0, -1).replace('.', '\\.'));
    return { what: `${id} at ${lon},${lat}`, in: new RegExp(`${lon}\\d*,\\s*${lat}`), isPlace };
  });
  return [...named, ...places];
}

/** Providers that locate a trackable: its own and those of its carriers. */
function providersOf(site: World['site'], t: number): readonly number[] {
  const { providers = [], parent = null } = site.trackables[t] ?? {};
  return parent === null || t === 0 ? providers : [...providers, ...providersOf(site, parent % t)];
}

async function drive(marks: Marks, step: number): Promise<void> {
  const locations = marks.ids('provider').map((id, i) => ({
    provider_id: id,
    provider_type: 'uwb',
    source: id,
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: marks.at('provider', i, step) },
    properties: { of: marks.mark('provider', i) },
  }));
  const { status, text } = await admin.put('/providers/locations', locations);
  assert.equal(status, 204, text);
  // Waits until zones and objects have followed the moves.
  await admin.get('/zones');
  await opened.hub.settle();
}

/** Whether the reply contains data that providers have sent. */
function isOfRecords({ path }: ApiRoute): boolean {
  return path.startsWith('/providers') || path.endsWith('/locations');
}

const READS = ROUTES.filter(({ method, permission }) => method === 'GET' && permission !== 'public');

/** Everything that can be read, in several views. */
async function read({ hub }: Tenant, marks: Marks, found: (reply: TestReply, route: ApiRoute, url: string) => void) {
  for (const route of READS) {
    const kind = KIND_OF(/:(\w+)/.exec(route.path)?.[1] ?? '');
    if (route.path.includes(':') && kind === undefined) continue;
    const paths = kind === undefined ? [route.path] : marks.ids(kind).map((id) => route.path.replace(/:\w+/, id));
    const has = (name: string): boolean => Object.hasOwn(route.query.properties, name);
    const queries = [
      '',
      ...(has('geojson') ? ['?geojson=true', '?crs=local', `?crs=local&zone_id=${marks.id('zone', 4)}`] : []),
    ];
    if (has('spatial_query')) queries.push('?spatial_query=true&geojson=true');
    if (has('georef')) queries.push('?georef=true');
    for (const version of route.versions) {
      const urls = paths.flatMap((path) => queries.map((query) => `${hub.origin}/hub/${version}${path}${query}`));
      await Promise.all(urls.map(async (url) => found(await hub.get(url), route, url)));
    }
  }
}

async function subscribe({ socket }: Tenant, marks: Marks): Promise<void> {
  for (const topic of TOPIC_NAMES) {
    await socket.ask({ event: 'subscribe', topic });
    await socket.ask({ event: 'subscribe', topic, params: { crs: 'local', zone_id: marks.id('zone', 5) } });
  }
}

let run = 0;
let answers = 0;
let frames = 0;
let refusals = 0;

async function check(world: World): Promise<void> {
  const marks = new Marks(++run);
  const leaks: string[] = [];
  /** From then on, a tenant's objects may be located by a zone that moves with a visible object. */
  let hasAttacked = false;
  const bodies = bodiesOf(world.site, marks);
  await build(admin, bodies);
  const tenants: Tenant[] = [];
  for (const rights of world.tokens) {
    const roles = ['tenant', ...rights.whole.map((kind) => `all-${kind}s`)];
    const hub = opened.as(await opened.issuer.token({ roles, owned: claimOf(rights, marks) }));
    const tenant = new Tenant(rights, hub, await hub.socket(), world, marks);
    await subscribe(tenant, marks);
    tenants.push(tenant);
  }
  const everything = await admin.socket();
  for (const topic of TOPIC_NAMES) await everything.subscribe(topic);
  const note = (tenant: Tenant, text: string, where: string, looking: Looking = {}): void => {
    for (const leak of tenant.leaks(text, looking)) leaks.push(`${where}: ${leak} in ${text.slice(0, 600)}`);
  };
  const readAll = (tenant: Tenant, when: string) =>
    read(tenant, marks, ({ status, text }, route, url) => {
      answers++;
      assert.ok(status < 500, `${url}: ${status} ${text}`);
      if (!tenant.isGiven(route))
        note(tenant, text, `${when}: GET ${url}: ${status}`, {
          asked: url,
          areRecords: !hasAttacked && isOfRecords(route),
        });
    });
  const checkFrames = async (tenant: Tenant, when: string): Promise<void> => {
    await tenant.socket.settle();
    for (const frame of tenant.socket.frames) {
      // Errors repeat parts of the request, which were checked then.
      if (frame.event === 'error') continue;
      frames++;
      note(tenant, JSON.stringify(frame), `${when}: frame`, {
        areRecords: !hasAttacked && frame.topic?.startsWith('location') === true,
      });
    }
  };
  await drive(marks, 0);
  await drive(marks, 1);
  for (const tenant of tenants) {
    await readAll(tenant, 'at first');
    await checkFrames(tenant, 'at first');
  }
  // A tenant sends every possible request about its own objects. Data that it publishes itself is no leak.
  hasAttacked = true;
  const [attacker] = tenants;
  assert.ok(attacker !== undefined);
  for (const { method, path, body, frame } of attacksOf(world, marks)) {
    const asked = JSON.stringify({ path, body, frame });
    if (frame !== undefined) {
      for (const answer of await attacker.socket.ask(frame))
        note(attacker, JSON.stringify(answer), `attack ${asked}`, { asked });
      continue;
    }
    const { status, text } = await attacker.hub.request(method, path, body);
    assert.ok(status < 500, `${asked}: ${status} ${text}`);
    if (status === 403) refusals++;
    note(attacker, text, `attack ${method} ${asked}: ${status}`, { asked });
  }
  await drive(marks, 2);
  await readAll(attacker, 'after attacks');
  await checkFrames(attacker, 'after attacks');
  for (const { socket } of tenants) await socket.close();
  await everything.close();
  for (const kind of KINDS) await admin.delete(`/${kind}s`);
  assert.deepEqual(leaks.slice(0, 5), [], `${leaks.length} leaks`);
}

test('No reply or frame contains anything that its token may not read', { timeout: 120_000 }, async (t) => {
  await fc.assert(fc.asyncProperty(worldArbitrary, check), {
    seed: 97,
    numRuns: WORLDS,
    interruptAfterTimeLimit: BOUND_MS,
    endOnFailure: true,
    includeErrorInReport: true,
  });
  t.diagnostic(`${run} worlds: ${answers} answers, ${frames} frames, ${refusals} attacks refused`);
  assert.ok(
    answers > 1000 && frames > 100 && refusals > 10,
    `${answers} answers, ${frames} frames, ${refusals} refusals`,
  );
});
