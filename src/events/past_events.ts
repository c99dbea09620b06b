import type { EventTopic } from '../model/logged_event.ts';
import type { EventLog } from './event_log.ts';
import { selectionOf } from './selection.ts';

const MINUTE_MS = 60_000;
/** Spans that are tried in turn, so that a busy log answers with a shorter one. */
const SPANS_MS = [24 * 60 * MINUTE_MS, 60 * MINUTE_MS, 10 * MINUTE_MS, MINUTE_MS];
/** Maximum number of events, and of reads of the log, for one span. */
const [EVENTS_MAX, READS_MAX] = [20_000, 16] as const;

/** All events of a topic in a span of wall-clock time, oldest first. */
interface PastEvents {
  readonly fromMs: number;
  readonly toMs: number;
  readonly events: readonly { readonly timeMs: number; readonly json: string }[];
}

/**
 * Reads the events of a topic in the longest recent span whose events are not too many: 24 hours, an hour, 10 minutes or a
 * minute, or since the oldest event of the log. Undefined if the log is empty, or has too many events in any span.
 */
export async function recentEvents(log: EventLog, topic: EventTopic, nowMs: number): Promise<PastEvents | undefined> {
  const { oldestMs } = log.extent;
  if (oldestMs === undefined) return undefined;
  for (const spanMs of SPANS_MS) {
    const fromMs = Math.max(nowMs - spanMs, oldestMs);
    const events = await eventsSince(log, topic, fromMs);
    if (events !== undefined) return { fromMs, toMs: Math.max(nowMs, fromMs), events };
  }
  return undefined;
}

async function eventsSince(
  log: EventLog,
  topic: EventTopic,
  fromMs: number,
): Promise<PastEvents['events'] | undefined> {
  const selection = selectionOf({ topics: [topic], filters: {} });
  let after = await log.positionAt(fromMs);
  const events: { readonly timeMs: number; readonly json: string }[] = [];
  for (let reads = 0; reads < READS_MAX && events.length < EVENTS_MAX; reads++) {
    const page = await log.select(after, selection, EVENTS_MAX - events.length);
    events.push(...page.events.map((event) => log.logged(event)));
    after = page.to;
    if (!page.hasMore) return events;
  }
  return undefined;
}
