import Type from 'typebox';
import { type Checker, checker } from '../model/check.ts';
import { HealthSource, SocketHealth } from '../model/health.ts';
import { USAGE_COUNTERS } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';
import type { Health } from './health.ts';
import type { Usage } from './usage.ts';

/**
 * Queries between the hubs of a cluster:
 *
 *   query     answer of each hub
 *   --------  ----------------------------------------------------------------------------------------
 *   socket    health of its WebSocket
 *   zones     locations received from zones, or from one; zones without any are omitted
 *   sources   locations received from sources, or from one
 *   usage     counters that are not stored yet, and active providers
 */
export const HUB_QUERIES = ['socket', 'zones', 'sources', 'usage'] as const;

export interface HubQuery {
  readonly ask: (typeof HUB_QUERIES)[number];
  /** Id of the only zone, or the only source; empty for all. */
  readonly about: string;
}

/** Scatter-gather over the hubs of a cluster, this one included. */
export interface AllHubs {
  /** Starts to answer other hubs; see Answers in cluster/rpc/member_query.ts. */
  open(answers: {
    answer(question: { readonly ask: string; readonly about: string }): unknown;
    problem(question: { readonly ask: string }, value: unknown): string | undefined;
  }): void;
  /** Queries all hubs. The order of answers is the same at every hub. Hubs that do not answer are omitted. */
  ask(question: HubQuery): Promise<readonly { readonly hub: string; readonly value: unknown }[]>;
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
export type UsageShare = Type.Static<typeof UsageShare>;

const SOURCES = checker(Type.Array(HealthSource));
const SHAPES: Readonly<Record<HubQuery['ask'], Checker<unknown>>> = {
  socket: checker(SocketHealth),
  zones: SOURCES,
  sources: SOURCES,
  usage: checker(UsageShare),
};

/** State of this hub for queries of others. */
export interface OwnParts {
  readonly hub: string;
  readonly health: Health;
  readonly usage: Usage;
  readonly zones: { list(kind: 'zone'): readonly Zone[]; zoneBy(id: string): Zone | undefined };
  readonly active: ReadonlySet<string>;
}

/** Answer of this hub. Throws an Error for a query of a later version. */
export function ownAnswer({ ask, about }: { readonly ask: string; readonly about: string }, own: OwnParts): unknown {
  const { hub, health } = own;
  switch (ask) {
    case 'socket':
      return { ...health.socket(), hubs: [health.hubSockets(hub)] };
    case 'zones':
      return health
        .zones(about === '' ? own.zones.list('zone') : [own.zones.zoneBy(about) ?? []].flat())
        .flatMap((source) => ownSources(source, hub));
    case 'sources':
      return health.sources(about === '' ? undefined : about);
    case 'usage':
      return usageShare(own);
    default:
      throw new Error(`question must be one of ${HUB_QUERIES.join(', ')}, found "${ask}"`);
  }
}

/** Why the answer of another hub is malformed; undefined if it is not. */
export function answerProblem({ ask }: { readonly ask: string }, value: unknown): string | undefined {
  return SHAPES[ask as HubQuery['ask']]?.explain(value, ask)?.toString();
}

/** The source, with the hub's name if this hub is connected to it. Empty without updates or connection. */
function ownSources(source: HealthSource, hub: string): HealthSource[] {
  if (source.reconnects !== undefined) return [{ ...source, hub }];
  return source.number_of_updates === 0 ? [] : [source];
}

function usageShare({ usage, active }: OwnParts): UsageShare {
  const { month, ended } = usage.unkept();
  return { month, active: [...active], ended: ended.map(([name, value]) => [name, JSON.stringify(value)]) };
}
