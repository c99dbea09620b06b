import Type from 'typebox';
import { type Checker, checker } from '../model/check.ts';
import { HealthSource, SocketHealth } from '../model/health.ts';
import { USAGE_COUNTERS } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';
import type { Health } from './health.ts';
import type { Usage } from './usage.ts';

/**
 * What the hubs of a cluster ask each other:
 *
 *   question  about         what each hub answers
 *   --------  ------------  --------------------------------------------------------------------------
 *   socket                  its WebSocket
 *   zones                   what has come from zones; those of which it knows nothing are left out
 *   zone      id of a zone  the same of one
 *   sources                 what has come from sources
 *   source    a source      the same of one
 *   usage                   what it has counted and not kept yet, and which providers were active
 */
export const QUESTIONS = ['socket', 'zones', 'zone', 'sources', 'source', 'usage'] as const;

export interface Question {
  readonly ask: (typeof QUESTIONS)[number];
  /** Empty where there is nothing to be named. */
  readonly about: string;
}

/** Hubs of a cluster, this one included, and what they answer. */
export interface AllHubs {
  /** Answers others from now on; see Answers in cluster/rpc/member_query.ts. */
  open(answers: {
    answer(question: { readonly ask: string; readonly about: string }): unknown;
    problem(question: { readonly ask: string }, value: unknown): string | undefined;
  }): void;
  /** In one order everywhere. Whoever does not answer is left out. */
  ask(question: Question): Promise<readonly { readonly hub: string; readonly value: unknown }[]>;
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
  /** Months that have just ended: their names, and they themselves as JSON. */
  ended: Type.Array(Type.Tuple([Type.String(), Type.String()])),
});
export type UsageShare = Type.Static<typeof UsageShare>;

const SOURCES = checker(Type.Array(HealthSource));
const SHAPES: Readonly<Record<Question['ask'], Checker<unknown>>> = {
  socket: checker(SocketHealth),
  zones: SOURCES,
  zone: SOURCES,
  sources: SOURCES,
  source: SOURCES,
  usage: checker(UsageShare),
};

/** This hub, as far as others ask for it. */
export interface OwnParts {
  readonly hub: string;
  readonly health: Health;
  readonly usage: Usage;
  readonly zones: { list(kind: 'zone'): readonly Zone[]; zoneBy(id: string): Zone | undefined };
  readonly active: ReadonlySet<string>;
}

/** What this hub answers. Throws an Error for a question of a later version. */
export function ownAnswer({ ask, about }: { readonly ask: string; readonly about: string }, own: OwnParts): unknown {
  const { hub, health } = own;
  switch (ask) {
    case 'socket':
      return { ...health.socket(), hubs: [health.hubSockets(hub)] };
    case 'zones':
      return own.zones.list('zone').flatMap((zone) => heardOf(health.zone(zone), hub));
    case 'zone': {
      const zone = own.zones.zoneBy(about);
      return zone === undefined ? [] : heardOf(health.zone(zone), hub);
    }
    case 'sources':
      return health.sources();
    case 'source': {
      const source = health.source(about);
      return source === undefined ? [] : [source];
    }
    case 'usage':
      return usageShare(own);
    default:
      throw new Error(`question must be one of ${QUESTIONS.join(', ')}, found "${ask}"`);
  }
}

/** Why what another hub has answered cannot be used; undefined where it can. */
export function answerProblem({ ask }: { readonly ask: string }, value: unknown): string | undefined {
  return SHAPES[ask as Question['ask']]?.explain(value, ask);
}

/** Who is connected says so. */
function heardOf(source: HealthSource, hub: string): HealthSource[] {
  if (source.reconnects !== undefined) return [{ ...source, hub }];
  return source.number_of_updates === 0 ? [] : [source];
}

function usageShare({ usage, active }: OwnParts): UsageShare {
  const { month, ended } = usage.unkept();
  return { month, active: [...active], ended: ended.map(([name, value]) => [name, JSON.stringify(value)]) };
}
