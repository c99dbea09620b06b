import Type, { type Static, type TSchema } from 'typebox';
import { checker } from '../model/check.ts';
import { HealthSource, SocketHealth } from '../model/health.ts';
import { USAGE_COUNTERS } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';
import type { Health } from './health.ts';
import type { Usage } from './usage.ts';

/** Parts of a hub from which it answers the queries of all hubs. */
export interface OwnParts {
  readonly hub: string;
  readonly health: Health;
  readonly usage: Usage;
  readonly zones: { list(kind: 'zone'): readonly Zone[]; zoneBy(id: string): Zone | undefined };
  readonly active: ReadonlySet<string>;
}

const Count = Type.Integer({ minimum: 0 });

const UsageShare = Type.Object({
  month: Type.Object({
    id: Type.String(),
    statisticsId: Type.String(),
    fromMs: Type.Number(),
    toMs: Type.Number(),
    uptimeMs: Type.Number(),
    counts: Type.Object(
      Object.fromEntries(USAGE_COUNTERS.map((name) => [name, Count])) as Record<
        (typeof USAGE_COUNTERS)[number],
        typeof Count
      >,
    ),
  }),
  /** Ids of providers. */
  active: Type.Array(Type.String()),
  /** Months that have just ended: name and JSON. */
  ended: Type.Array(Type.Tuple([Type.String(), Type.String()])),
});
export type UsageShare = Static<typeof UsageShare>;

/** Returns a query: how a hub answers it, and the schema that validates answers of other hubs. */
function query<S extends TSchema>(schema: S, own: (parts: OwnParts, about: string) => Static<S>) {
  return { schema: checker(schema), own };
}

/** Queries between the hubs of a cluster. `about` is the id of the only zone or source; empty for all. */
const QUERIES = {
  socket: query(SocketHealth, ({ health, hub }) => ({ ...health.socket(), hubs: [health.hubSockets(hub)] })),
  /** Zones without locations and without a connection are omitted. */
  zones: query(Type.Array(HealthSource), ({ health, zones, hub }, about) => {
    const asked = about === '' ? zones.list('zone') : [zones.zoneBy(about) ?? []].flat();
    return health.zones(asked).flatMap((source) => ownSources(source, hub));
  }),
  sources: query(Type.Array(HealthSource), ({ health }, about) => [
    ...health.sources(about === '' ? undefined : about),
  ]),
  /** Counters that are not stored yet, and active providers. */
  usage: query(UsageShare, ({ usage, active }) => {
    const { month, ended } = usage.unkept();
    return {
      month,
      active: [...active],
      ended: ended.map(([name, value]): [string, string] => [name, JSON.stringify(value)]),
    };
  }),
};

type QueryName = keyof typeof QUERIES;
type Answer<Q extends QueryName> = ReturnType<(typeof QUERIES)[Q]['own']>;

interface HubQuery {
  readonly ask: string;
  readonly about: string;
}

/** Scatter-gather over the hubs of a cluster, including this one. */
export interface AllHubs {
  /** Starts to answer other hubs; see QueryHandler in cluster/rpc/member_query.ts. */
  open(answers: {
    answer(question: HubQuery): unknown;
    problem(question: HubQuery, value: unknown): string | undefined;
  }): void;
  /** Queries all hubs. The order of answers is the same at every hub. Hubs that do not answer are omitted. */
  ask(question: HubQuery): Promise<readonly { readonly hub: string; readonly value: unknown }[]>;
}

/** Starts to answer the queries of other hubs. */
export function answerHubs(hubs: Pick<AllHubs, 'open'>, parts: OwnParts): void {
  const queryOf = (ask: string) => (Object.hasOwn(QUERIES, ask) ? QUERIES[ask as QueryName] : undefined);
  hubs.open({
    answer({ ask, about }) {
      const known = queryOf(ask);
      if (known !== undefined) return known.own(parts, about);
      // The query is from a later version.
      throw new Error(`question must be one of ${Object.keys(QUERIES).join(', ')}, found "${ask}"`);
    },
    problem: ({ ask }, value) => queryOf(ask)?.schema.explain(value, ask)?.toString(),
  });
}

/** Returns the answers of all hubs. Answers of other hubs were validated on arrival. */
export async function askHubs<Q extends QueryName>(hubs: Pick<AllHubs, 'ask'>, ask: Q, about = '') {
  return (await hubs.ask({ ask, about })) as readonly { readonly hub: string; readonly value: Answer<Q> }[];
}

/** Returns the source, with the hub's name if this hub is connected to it; empty without updates and connection. */
function ownSources(source: HealthSource, hub: string): HealthSource[] {
  if (source.reconnects !== undefined) return [{ ...source, hub }];
  return source.number_of_updates === 0 ? [] : [source];
}
