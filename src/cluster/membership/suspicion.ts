import { changed, isSuperseded, type Member, type Members, NEVER, successorOf } from './members.ts';
import { afterLeave, type PartitionMap } from './partition_map.ts';

/**
 * Judgement of this hub about silent members, and its steps against them.
 *
 * A member is a *suspect* once it has been silent for `suspectMs`, or for a second if requests to it find no responders.
 * Silence counts only while this hub is connected, and a member. A member whose name a later one has was a process of a hub
 * that has started again: it is a suspect as soon as a request finds no responders. This hub *may accuse* a suspect only while
 * all of these hold; the first that does not is the reason why not:
 *
 *   notMember     it is a member itself
 *   down          it has a connection
 *   reconnected   it has had it for 3 s, or the name of the suspect belongs to a later member
 *   minority      more than half of the members are no suspects, itself included; or half of them, with the one that joined
 *                 last; or there are two members; or some have been suspects for longer, and only those are accused. Members
 *                 whose journals are sealed, and those whose name a later member has, do not count: the former can accuse no
 *                 one, and the latter were processes of a hub that has started again
 *   notCommitted  one of its own appends was stored within the last second; an idle hub makes an empty one
 *
 * The majority rule stops a hub that can append, but receives nothing, from expelling all others while these do receive each
 * other's messages: they must be faster, and seal it. Of two halves the one with the member that joined last is faster: after a
 * restart of the whole cluster that is the live half. The rule must not last forever: a hub that returns alone after three have
 * failed would wait for the failed ones. A minority waits for 3 s more if a suspect's connection is lost, and for 10 s more if
 * it is only silent. A majority would have acted within that time, and this hub's append would have been rejected.
 */

/** An action of this hub. The outcome of `seal` and `expel` must be signaled; of `append`, only its success. */
export type MembershipStep =
  /** Append a seal to the journal of a member, in both streams. */
  | { readonly do: 'seal'; readonly incarnation: string }
  /** Append an `expel` to the configuration log, with the new map if there is one. `expects`: the last record. */
  | {
      readonly do: 'expel';
      readonly incarnation: string;
      readonly expects: number;
      readonly map: PartitionMap | undefined;
    }
  /** Append something, to test whether that is possible. Repeated with every look; one in flight is enough. */
  | { readonly do: 'append' };

/** Whether this hub may accuse suspects; otherwise the condition that fails. */
export type Accusing = 'may' | 'notMember' | 'down' | 'reconnected' | 'minority' | 'notCommitted';

/** Silence after which an unreachable member is suspected. */
const UNREACHABLE_SUSPECT_MS = 1000;
/** Additional time before a minority accuses a suspect: one whose connection is lost, and one that is silent. */
const MINORITY_MS = { unreachable: 3000, silent: 10_000 };
const COMMITTED_WITHIN_MS = 1000;
const RECONNECTED_MS = 3000;

/** Returns the steps to take now, and the state with these in progress. Call it after each signal, and at `nextLookMs`. */
export function look(
  members: Members,
  nowMs: number,
): { readonly members: Members; readonly steps: readonly MembershipStep[] } {
  if (members.connection.at === 'down' || !members.all.has(members.self)) return { members, steps: [] };
  const accusing = accusation(members, nowMs);
  const suspected = suspects(members, nowMs);
  const accused = accusable(members, nowMs).filter(({ standing }) => standing.at === 'member');
  const steps: MembershipStep[] = accused.length > 0 && accusing === 'notCommitted' ? [{ do: 'append' }] : [];
  let next = members;
  const ask = (step: MembershipStep, { incarnation }: Member, at: 'sealing' | 'sealed'): void => {
    steps.push(step);
    next = changed(next, incarnation, (member) => ({ ...member, standing: { at, askAtMs: NEVER } }));
  };
  const isDue = ({ standing }: Member): boolean => standing.at !== 'member' && standing.askAtMs <= nowMs;
  const others = [...members.all.values()];
  const again = others.filter((member) => member.standing.at === 'sealing' && isDue(member));
  for (const member of [...again, ...(accusing === 'may' ? accused : [])]) {
    ask({ do: 'seal', incarnation: member.incarnation }, member, 'sealing');
  }
  const sealed = others.filter(({ standing }) => standing.at === 'sealed');
  const isExpelling = sealed.some(({ standing }) => standing.at === 'sealed' && standing.askAtMs === NEVER);
  const first = isExpelling ? undefined : sealed.find(isDue);
  if (first !== undefined) ask(expulsion(next, first, suspected), first, 'sealed');
  return { members: next, steps };
}

/** Members that have been silent for too long, whether or not this hub may accuse them. */
export function suspects(members: Members, nowMs: number): readonly Member[] {
  return [...members.all.values()].filter((member) => suspectAtMs(members, member) <= nowMs);
}

/** Whether this hub may begin to seal and expel suspects, or why not. */
export function accusation(members: Members, nowMs: number): Accusing {
  const { all, connection, committedAtMs } = members;
  if (!all.has(members.self)) return 'notMember';
  if (connection.at === 'down') return 'down';
  const accused = accusable(members, nowMs);
  if (accused.length === 0 && isReconnected(members, nowMs)) return 'reconnected';
  if (accused.length === 0 && suspects(members, nowMs).length > 0) return 'minority';
  if (nowMs >= committedAtMs + COMMITTED_WITHIN_MS) return 'notCommitted';
  return 'may';
}

/** Time of the next look if there is no signal until then; Infinity if never. */
export function nextLookMs(members: Members, nowMs: number): number {
  const { connection, committedAtMs, all } = members;
  const times = [committedAtMs + COMMITTED_WITHIN_MS];
  if (connection.at === 'up') times.push(connection.sinceMs + RECONNECTED_MS);
  for (const member of all.values()) {
    times.push(suspectAtMs(members, member), overdueAtMs(members, member));
    if (member.standing.at !== 'member') times.push(member.standing.askAtMs);
  }
  return Math.min(NEVER, ...times.filter((atMs) => atMs > nowMs));
}

function isUnreachable({ ping }: Member): boolean {
  return ping === 'noResponders';
}

function suspectAtMs(members: Members, member: Member): number {
  const { self, connection, suspectMs } = members;
  if (member.incarnation === self || connection.at === 'down') return NEVER;
  const silentFromMs = Math.max(member.lastSeenMs, connection.sinceMs);
  if (!isUnreachable(member)) return silentFromMs + suspectMs;
  return silentFromMs + (isSuperseded(members, member) ? 0 : Math.min(UNREACHABLE_SUSPECT_MS, suspectMs));
}

/** Whether messages of others may have been missed until a moment ago. */
function isReconnected({ connection }: Members, nowMs: number): boolean {
  return connection.at === 'up' && nowMs < connection.sinceMs + RECONNECTED_MS;
}

/** Time from which a minority may accuse a member. */
function overdueAtMs(members: Members, member: Member): number {
  return suspectAtMs(members, member) + (isUnreachable(member) ? MINORITY_MS.unreachable : MINORITY_MS.silent);
}

/** Suspects that this hub may accuse, if it may accuse at all. */
function accusable(members: Members, nowMs: number): readonly Member[] {
  const suspected = suspects(members, nowMs);
  const all = [...members.all.values()];
  const voters = all.filter((member) => member.standing.at !== 'sealed' && !isSuperseded(members, member));
  const seen = voters.filter((member) => !suspected.includes(member));
  const hasMajority = seen.length * 2 > voters.length || members.all.size === 2;
  const hasHalf = seen.length * 2 === voters.length && seen.at(-1) === voters.at(-1);
  const judged = isReconnected(members, nowMs) ? suspected.filter((each) => isSuperseded(members, each)) : suspected;
  if (hasMajority || hasHalf) return judged;
  return judged.filter((member) => overdueAtMs(members, member) <= nowMs);
}

/** Members that may be given partitions, in the order of indexes: neither suspects nor members being expelled. */
export function successors({ all }: Members, suspected: readonly Member[]): readonly string[] {
  const passedOver = new Set(suspected.map(({ incarnation }) => incarnation));
  return [...all.values()]
    .filter(({ incarnation, standing }) => standing.at === 'member' && !passedOver.has(incarnation))
    .map(({ incarnation }) => incarnation);
}

/** Suspects get none of its partitions. The process that its hub has started since gets most of them. */
function expulsion(members: Members, member: Member, suspected: readonly Member[]): MembershipStep {
  const { map, applied, ownersMax } = members;
  const { incarnation } = member;
  const preferred = successorOf(members, member)?.incarnation;
  const those = { members: successors(members, suspected), ownersMax, preferred };
  const next = map && afterLeave(map, { gone: incarnation, ...those });
  return { do: 'expel', incarnation, expects: applied, map: next };
}
