import type { Failure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { Peer } from '../remote/remote_api.ts';

/**
 * The connection of a link, as a state machine without clock, random numbers and sockets.
 *
 *   state        signal                          next          actions
 *   -----------  ------------------------------  ------------  --------------------------------------------------
 *   stopped      start                           identifying   identify
 *   identifying  identified, another hub         opening       open
 *   identifying  identified, this hub            self          -
 *   opening      opened                          subscribing   subscribe
 *   subscribing  acknowledged, the last topic    live          read
 *   live         read finished                   live          -
 *   live         the entities are outdated       live          read
 *   live         read failed                     live          read, after the next delay
 *   live         nothing received for QUIET_MS   live          ping
 *   any of the   failed, or past the deadline    waiting       close
 *     last four
 *   waiting      its time has come               identifying   identify
 *   any          stop                            stopped       close
 *
 * Only a live link receives events. Each time it becomes live, it reads the last location of every object, because it
 * has missed all events before. Its subscriptions exist before it reads, so it receives all later events.
 *
 * Delays between attempts double, up to DELAY_MAX_MS, and are drawn at random from the upper half, so that the links of
 * many hubs do not reconnect at the same moment. The maximum is short: after an outage of any duration, the positions
 * are up to date a few seconds later. A connection that lasted for STABLE_MS resets the delay.
 */
export type LinkPhase =
  | { readonly at: 'stopped' | 'self' }
  | { readonly at: 'identifying' | 'opening'; readonly deadlineMs: number }
  | { readonly at: 'subscribing'; readonly deadlineMs: number; readonly left: number }
  | { readonly at: 'live'; readonly sinceMs: number; readonly read: Reading; readonly pingedMs: number | undefined }
  | { readonly at: 'waiting'; readonly untilMs: number };

export type Reading =
  | { readonly at: 'running' | 'finished' }
  | { readonly at: 'waiting'; readonly untilMs: number; readonly attempts: number };

export interface LinkConnection {
  readonly phase: LinkPhase;
  /** Consecutive failures. */
  readonly attempts: number;
  /** Time of the last change of status. */
  readonly sinceMs: number;
  readonly peer: Peer | undefined;
  readonly error: (Failure & { readonly atMs: number }) | undefined;
  /** Last outage, from the loss of a connection, or the first failure, until the link was live. */
  readonly outage: { readonly fromMs: number; readonly toMs: number | undefined } | undefined;
  /** End of the last complete reading. */
  readonly readMs: number | undefined;
}

export type LinkSignal =
  | { readonly what: 'start' | 'stop' | 'opened' | 'acknowledged' | 'read' | 'outdated' | 'tick' }
  | { readonly what: 'identified'; readonly peer: Peer; readonly isSelf: boolean }
  | (Failure & { readonly what: 'failed' | 'readFailed' });

export type LinkAction = 'identify' | 'open' | 'subscribe' | 'read' | 'ping' | 'close';

export interface LinkInput {
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: number;
  /** Number of topics to subscribe to. */
  readonly topics: number;
  /** Time of the last frame or pong. */
  readonly receivedMs: number;
}

export interface LinkStep {
  readonly connection: LinkConnection;
  readonly actions: readonly LinkAction[];
}

/** Maximum duration of each step of establishing a connection. */
const STEP_MS = 5_000;
const DELAY_MIN_MS = 500;
const DELAY_MAX_MS = 3_000;
const STABLE_MS = 30_000;
/** A silent connection is probed after this time, and closed after twice the time. */
const QUIET_MS = 15_000;

export const STOPPED: LinkConnection = {
  phase: { at: 'stopped' },
  attempts: 0,
  sinceMs: 0,
  peer: undefined,
  error: undefined,
  outage: undefined,
  readMs: undefined,
};

/** Advances a connection. Signals that do not fit its phase, such as late answers, change nothing. */
export function step(connection: LinkConnection, signal: LinkSignal, input: LinkInput): LinkStep {
  const { phase } = connection;
  const { nowMs } = input;
  switch (signal.what) {
    case 'start':
      return phase.at === 'stopped' ? identify({ ...connection, sinceMs: nowMs }, nowMs) : unchanged(connection);
    case 'stop':
      return {
        connection: { ...connection, phase: { at: 'stopped' }, attempts: 0, sinceMs: nowMs },
        actions: isOpen(phase) ? ['close'] : [],
      };
    case 'identified':
      if (phase.at !== 'identifying') return unchanged(connection);
      if (signal.isSelf) return to({ ...connection, peer: signal.peer, sinceMs: nowMs }, { at: 'self' });
      return to({ ...connection, peer: signal.peer }, { at: 'opening', deadlineMs: nowMs + STEP_MS }, 'open');
    case 'opened': {
      if (phase.at !== 'opening') return unchanged(connection);
      const next: LinkPhase = { at: 'subscribing', deadlineMs: nowMs + STEP_MS, left: input.topics };
      return to(connection, next, 'subscribe');
    }
    case 'acknowledged':
      if (phase.at !== 'subscribing') return unchanged(connection);
      if (phase.left > 1) return to(connection, { ...phase, left: phase.left - 1 });
      return live(connection, nowMs);
    case 'read':
      if (phase.at !== 'live') return unchanged(connection);
      return to({ ...connection, readMs: nowMs }, { ...phase, read: { at: 'finished' } });
    case 'outdated':
      if (phase.at !== 'live' || phase.read.at !== 'finished') return unchanged(connection);
      return to(connection, { ...phase, read: { at: 'running' } }, 'read');
    case 'readFailed':
      return phase.at === 'live'
        ? rereadLater(connection, phase, { ...input, ...failureIn(signal) })
        : unchanged(connection);
    case 'failed':
      return isOpen(phase) ? failed(connection, failureIn(signal), input) : unchanged(connection);
    case 'tick':
      return onTick(connection, input);
  }
}

/** Time of the next tick; infinite if the connection waits for signals only. */
export function nextTickMs({ phase }: LinkConnection, receivedMs: number): number {
  switch (phase.at) {
    case 'stopped':
    case 'self':
      return Number.POSITIVE_INFINITY;
    case 'waiting':
      return phase.untilMs;
    case 'live': {
      const quietMs = Math.max(receivedMs, phase.sinceMs) + (isPinged(phase, receivedMs) ? 2 : 1) * QUIET_MS;
      return phase.read.at === 'waiting' ? Math.min(phase.read.untilMs, quietMs) : quietMs;
    }
    default:
      return phase.deadlineMs;
  }
}

type Live = Extract<LinkPhase, { readonly at: 'live' }>;

function isPinged({ pingedMs }: Live, receivedMs: number): boolean {
  return pingedMs !== undefined && pingedMs >= receivedMs;
}

function onTick(connection: LinkConnection, input: LinkInput): LinkStep {
  const { phase } = connection;
  const { nowMs, receivedMs } = input;
  if (nowMs < nextTickMs(connection, receivedMs)) return unchanged(connection);
  if (phase.at === 'waiting') return identify(connection, nowMs);
  if (phase.at !== 'live') {
    const problem = problemOf('link_no_answer', { seconds: STEP_MS / 1000 });
    return failed(connection, { why: `No answer for ${STEP_MS / 1000} s while ${phase.at}`, problem }, input);
  }
  if (phase.read.at === 'waiting' && nowMs >= phase.read.untilMs) {
    return to(connection, { ...phase, read: { at: 'running' } }, 'read');
  }
  if (!isPinged(phase, receivedMs)) return to(connection, { ...phase, pingedMs: nowMs }, 'ping');
  const seconds = (2 * QUIET_MS) / 1000;
  const problem = problemOf('link_no_answer', { seconds });
  return failed(connection, { why: `No sign of life for ${seconds} s`, problem }, input);
}

function identify(connection: LinkConnection, nowMs: number): LinkStep {
  return to(connection, { at: 'identifying', deadlineMs: nowMs + STEP_MS }, 'identify');
}

function live(connection: LinkConnection, nowMs: number): LinkStep {
  const outage = connection.outage && { ...connection.outage, toMs: connection.outage.toMs ?? nowMs };
  const next: Live = { at: 'live', sinceMs: nowMs, read: { at: 'running' }, pingedMs: undefined };
  return to({ ...connection, sinceMs: nowMs, outage }, next, 'read');
}

function rereadLater(
  connection: LinkConnection,
  phase: Live,
  { nowMs, random, why, problem }: LinkInput & Failure,
): LinkStep {
  const attempts = connection.attempts + 1;
  const read: Reading = { at: 'waiting', untilMs: nowMs + delayMs(attempts, random), attempts };
  return to({ ...connection, attempts, error: { why, problem, atMs: nowMs } }, { ...phase, read });
}

function failureIn({ why, problem }: Failure): Failure {
  return { why, problem };
}

function failed(connection: LinkConnection, failure: Failure, { nowMs, random }: LinkInput): LinkStep {
  const { phase, outage } = connection;
  const wasStable = phase.at === 'live' && nowMs - phase.sinceMs >= STABLE_MS;
  const attempts = wasStable ? 1 : connection.attempts + 1;
  const isLasting = outage !== undefined && outage.toMs === undefined;
  return to(
    {
      ...connection,
      attempts,
      error: { ...failure, atMs: nowMs },
      sinceMs: isLasting ? connection.sinceMs : nowMs,
      outage: isLasting ? outage : { fromMs: nowMs, toMs: undefined },
    },
    { at: 'waiting', untilMs: nowMs + delayMs(attempts, random) },
    'close',
  );
}

function delayMs(attempts: number, random: number): number {
  const most = Math.min(DELAY_MIN_MS * 2 ** Math.min(attempts, 10), DELAY_MAX_MS);
  return (most * (1 + random)) / 2;
}

function isOpen({ at }: LinkPhase): boolean {
  return at === 'identifying' || at === 'opening' || at === 'subscribing' || at === 'live';
}

function to(connection: LinkConnection, phase: LinkPhase, ...actions: readonly LinkAction[]): LinkStep {
  return { connection: { ...connection, phase }, actions };
}

function unchanged(connection: LinkConnection): LinkStep {
  return { connection, actions: [] };
}
