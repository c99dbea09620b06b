import Type from 'typebox';
import { ArgumentError, fittingItems, fittingObject, pageOf } from './answers.ts';
import { NEAREST } from './nearest.ts';
import { pathOf, type Rest, RestError } from './rest.ts';
import { CURSOR, KIND, optionalText, text, type Tool, tool, type ToolContext } from './tool.ts';

const SPAN = {
  from: optionalText('Start as RFC 3339, inclusive; an hour before the end if absent'),
  to: optionalText('End as RFC 3339, exclusive; now if absent'),
};
const FENCE = { fence_id: text('Id of the fence') };

const SEARCHED = ['trackable', 'provider', 'zone', 'fence'] as const;
/** Objects of a kind that find_object reads at once, and matches that it returns at most. */
const READ_AT_ONCE = 1000;
const FOUND_MAX = 1000;
const HOUR_MS = 3_600_000;
/** How old a recorded position may be to tell where an object was. */
const PAST_MAX_AGE_MS = 600_000;
const POINTS_AT_ONCE = 1000;
const PAST_POINTS_MAX = 100_000;

interface Described {
  readonly id: string;
  readonly name?: string | null;
  readonly type?: string;
  readonly properties?: unknown;
}

interface Point {
  readonly time: string;
}

export const READ_TOOLS: readonly Tool[] = [
  tool({
    name: 'find_object',
    title: 'Find objects',
    description: 'Trackables, providers, zones and fences whose id, name or properties contain a text, in any case.',
    input: Type.Object({
      text: text('The text'),
      kind: Type.Optional(Type.Union(SEARCHED.map((kind) => Type.Literal(kind)))),
      ...CURSOR,
    }),
    async run({ text: wanted, kind, cursor }, { rest }) {
      const found: object[] = [];
      for (const each of kind === undefined ? SEARCHED : [kind])
        await findAmong(each, wanted.toLowerCase(), found, rest);
      return pageOf(found, cursor);
    },
  }),
  tool({
    name: 'where_is',
    title: 'Where is an object',
    description:
      'The position of a trackable or provider and the fences that contain it; or its last recorded position at a time.',
    input: Type.Object({
      id: text('Id of the trackable or provider'),
      at: optionalText('A time in the past, RFC 3339'),
    }),
    async run({ id, at }, { rest }) {
      for (const kind of ['trackable', 'provider'] as const) {
        const found = await (at === undefined ? whereNow(kind, id, rest) : whereThen(kind, { id, at }, rest));
        if (found !== undefined) return fittingObject({ kind, id, ...found });
      }
      return { id, position: null };
    },
  }),
  tool({
    name: 'who_is_in',
    title: 'Who is in a fence',
    description: 'The trackables and providers that are in a fence now.',
    input: Type.Object({ ...FENCE, ...CURSOR }),
    async run({ fence_id: fence, cursor }, { rest }) {
      const listed = async (kind: 'trackable' | 'provider') => {
        const { body } = await rest.ask('GET', pathOf('fences', fence, `${kind}s`));
        return (body as readonly Described[]).map((each) => brief(kind, each));
      };
      return pageOf([...(await listed('trackable')), ...(await listed('provider'))], cursor);
    },
  }),
  NEAREST,
  tool({
    name: 'dwell',
    title: 'Time spent in fences',
    description: 'For each fence, how long objects stayed in it. Needs a hub with history.',
    input: Type.Object({ fence_id: optionalText('Only this fence'), kind: Type.Optional(KIND), ...SPAN, ...CURSOR }),
    run: ({ cursor, ...question }, context) => analyzed({ of: 'dwell', list: 'fences', question, cursor }, context),
  }),
  tool({
    name: 'flows',
    title: 'Movements between fences',
    description: 'How many objects moved from each fence to each other fence. Needs a hub with history.',
    input: Type.Object({ fence_id: optionalText('Only this fence'), kind: Type.Optional(KIND), ...SPAN, ...CURSOR }),
    run: ({ cursor, ...question }, context) => analyzed({ of: 'flows', list: 'flows', question, cursor }, context),
  }),
  tool({
    name: 'history_of',
    title: 'Recorded positions of an object',
    description: 'The recorded positions of a trackable or provider. Needs a hub with history.',
    input: Type.Object({
      id: text('Id of the object'),
      kind: Type.Optional(KIND),
      ...SPAN,
      step: Type.Optional(Type.Integer({ minimum: 1, description: 'At most one position in this many milliseconds' })),
      ...CURSOR,
    }),
    async run({ id, kind = 'trackable', step, cursor, ...span }, context) {
      const { from, to } = spanOf(span, context.nowMs);
      const query = { from: cursor ?? from, to, step, limit: POINTS_AT_ONCE };
      const { body } = await context.rest.ask('GET', pathOf(`${kind}s`, id, 'history'), { query });
      const { points, next_cursor: more } = body as {
        readonly points: readonly Point[];
        readonly next_cursor: unknown;
      };
      const items = fittingItems(points);
      // The next answer begins with the first point that this one lacks.
      const next = points[items.length]?.time ?? (more === null ? undefined : afterLast(points));
      return { kind, id, from, to, items, ...(next !== undefined && { next_cursor: next }) };
    },
  }),
  tool({
    name: 'explain_locating',
    title: 'Why a trackable is where it is',
    description:
      'The chosen location of a trackable, all its candidates, and the locating rules that choose between them.',
    input: Type.Object({ trackable_id: text('Id of the trackable'), ...CURSOR }),
    async run({ trackable_id: id, cursor }, { rest }) {
      const read = async (...parts: readonly string[]) => (await rest.ask('GET', pathOf(...parts))).body;
      const trackable = (await read('trackables', id)) as { readonly locating_rules?: readonly unknown[] };
      const candidates = (await read('trackables', id, 'locations')) as readonly object[];
      const chosen = await read('trackables', id, 'location').catch(nothing);
      const own = trackable.locating_rules ?? [];
      const rules = own.length > 0 ? own : await read('trackables', 'rules', 'locating').catch(nothing);
      const about = fittingObject({ chosen, rules, rules_of: own.length > 0 ? 'trackable' : 'hub' }, 8000);
      return { ...about, ...withinPage(pageOf(candidates, cursor), cursor) };
    },
  }),
  tool({
    name: 'open_alerts',
    title: 'Open alerts',
    description: 'Alerts that are raised or acknowledged, newest first.',
    input: Type.Object({ ...CURSOR }),
    async run({ cursor }, { rest }) {
      const { body } = await rest.ask('GET', '/alerts');
      return pageOf(
        (body as readonly { readonly state: string }[]).filter(({ state }) => state !== 'cleared'),
        cursor,
      );
    },
  }),
  tool({
    name: 'health',
    title: 'State of the hub',
    description: 'Health, load and connections of the hub.',
    input: Type.Object({}),
    run: async (_args, { rest }) => fittingObject((await rest.ask('GET', '/health/system')).body as object),
  }),
];

/** Tools that change something, for hubs with `mcp_write`. Agents are asked to confirm each call. */
export const WRITE_TOOLS: readonly Tool[] = [
  tool({
    name: 'acknowledge_alert',
    title: 'Acknowledge an alert',
    description: 'Marks an alert as acknowledged. It remains open.',
    input: Type.Object({ alert_id: text('Id of the alert') }),
    isWrite: true,
    async run({ alert_id: alert }, { rest }) {
      await rest.ask('POST', pathOf('alerts', alert, 'acknowledge'));
      return { acknowledged: alert };
    },
  }),
  tool({
    name: 'clear_alert',
    title: 'Clear an alert',
    description: 'Closes an alert.',
    input: Type.Object({ alert_id: text('Id of the alert') }),
    isWrite: true,
    async run({ alert_id: alert }, { rest }) {
      await rest.ask('POST', pathOf('alerts', alert, 'clear'));
      return { cleared: alert };
    },
  }),
  tool({
    name: 'create_fence',
    title: 'Create a fence',
    description: 'Creates a circular fence around a geographic point.',
    input: Type.Object({
      name: Type.String({ maxLength: 1024 }),
      longitude: Type.Number({ minimum: -180, maximum: 180, description: 'In degrees' }),
      latitude: Type.Number({ minimum: -90, maximum: 90, description: 'In degrees' }),
      radius: Type.Number({ exclusiveMinimum: 0, description: 'In meters' }),
    }),
    isWrite: true,
    async run({ name, longitude, latitude, radius }, { rest }) {
      const region = { type: 'Point', coordinates: [longitude, latitude] };
      const { body } = await rest.ask('POST', '/fences', { body: { name, region, radius, crs: 'EPSG:4326' } });
      return fittingObject(body as object);
    },
  }),
  tool({
    name: 'delete_fence',
    title: 'Delete a fence',
    description: 'Deletes a fence. Objects in it exit.',
    input: Type.Object({ fence_id: text('Id of the fence') }),
    isWrite: true,
    async run({ fence_id: fence }, { rest }) {
      await rest.ask('DELETE', pathOf('fences', fence));
      return { deleted: fence };
    },
  }),
];

async function findAmong(kind: (typeof SEARCHED)[number], wanted: string, found: object[], rest: Rest): Promise<void> {
  let next: string | undefined;
  do {
    const query = { limit: READ_AT_ONCE, cursor: next };
    const page = await rest.ask('GET', `/${kind}s/summary`, { query });
    next = page.next;
    for (const each of page.body as readonly Described[]) {
      const { id, name, properties } = each;
      const searched = `${id}\n${name ?? ''}\n${properties == null ? '' : JSON.stringify(properties)}`;
      if (found.length < FOUND_MAX && searched.toLowerCase().includes(wanted)) found.push(brief(kind, each));
    }
  } while (next !== undefined && found.length < FOUND_MAX);
}

function brief(kind: string, { id, name, type, properties }: Described): object {
  return {
    kind,
    id,
    ...(name != null && { name }),
    ...(type !== undefined && { type }),
    ...(properties != null && { properties }),
  };
}

async function whereNow(kind: 'trackable' | 'provider', id: string, rest: Rest): Promise<object | undefined> {
  try {
    const { body: location } = await rest.ask('GET', pathOf(`${kind}s`, id, 'location'));
    const { body } = await rest.ask('GET', pathOf(`${kind}s`, id, 'fences'));
    const fences = (body as readonly Described[]).map(({ id: fence, name }) => ({ id: fence, name }));
    return { location, fences };
  } catch (error) {
    return absent(error);
  }
}

interface Then {
  readonly id: string;
  readonly at: string;
}

async function whereThen(kind: string, { id, at }: Then, rest: Rest): Promise<object | undefined> {
  const atMs = msOf('at', at);
  const query = { from: timeOf(atMs - PAST_MAX_AGE_MS), to: timeOf(atMs + 1), limit: PAST_POINTS_MAX };
  try {
    const { body } = await rest.ask('GET', pathOf(`${kind}s`, id, 'history'), { query });
    const position = (body as { readonly points: readonly Point[] }).points.at(-1);
    return position === undefined ? undefined : { at, position };
  } catch (error) {
    return absent(error);
  }
}

interface Analysis {
  readonly of: string;
  /** Member of the answer that has the rows. */
  readonly list: string;
  readonly question: {
    readonly from?: string;
    readonly to?: string;
    readonly fence_id?: string;
    readonly kind?: string;
  };
  readonly cursor: string | undefined;
}

async function analyzed({ of, list, question, cursor }: Analysis, { rest, nowMs }: ToolContext): Promise<object> {
  const query = { ...question, ...spanOf(question, nowMs) };
  const { body } = await rest.ask('GET', `/analytics/${of}`, { query });
  const { from, to, [list]: rows } = body as Readonly<Record<string, readonly unknown[]>>;
  return { from, to, ...pageOf(rows ?? [], cursor) };
}

/** Shortens a page that is next to other members of up to 8,000 bytes. */
function withinPage(
  { items, next_cursor: next }: { items: readonly unknown[]; next_cursor?: string },
  cursor: string | undefined,
) {
  const fitting = fittingItems(items, 16_000);
  if (fitting.length === items.length) return { items, ...(next !== undefined && { next_cursor: next }) };
  return { items: fitting, next_cursor: String(Number(cursor ?? 0) + fitting.length) };
}

function spanOf({ from, to }: { readonly from?: string; readonly to?: string }, nowMs: number) {
  const end = to === undefined ? nowMs : msOf('to', to);
  return { from: from ?? timeOf(end - HOUR_MS), to: timeOf(end) };
}

function afterLast(points: readonly Point[]): string | undefined {
  const last = points.at(-1);
  return last === undefined ? undefined : timeOf(Date.parse(last.time) + 1);
}

function msOf(name: string, value: string): number {
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) throw new ArgumentError(`${name}: must be a time as RFC 3339, found ${JSON.stringify(value)}`);
  return ms;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Undefined for an object that the hub does not have. Throws other errors again. */
function absent(error: unknown): undefined {
  if (error instanceof RestError && error.status === 404) return undefined;
  throw error;
}

function nothing(error: unknown): null {
  absent(error);
  return null;
}
