import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Config } from '../config/schema.ts';
import type { EncodedEvents, WriteEvents } from '../core/entity_write.ts';
import { auditEntries, type AuditedChange } from '../entities/audited.ts';
import { hubError } from '../errors.ts';
import { joinEvents, partsOf, textEvent } from '../events/event_bytes.ts';
import type { EventLog } from '../events/event_log.ts';
import type { Erasure } from '../history/erasure.ts';
import { type AreaFilter, type BoundingBox, EVER, type HistoryQuery, type Span } from '../history/queries/query.ts';
import type { Author, AuditRead as ReadFacts } from '../model/audit.ts';
import { formatTime } from '../model/time.ts';
import type { Store } from '../store/store.ts';
import { type Clock, schedule } from '../time/clock.ts';
import type { LogDeps } from './connect_events.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the audit entries of changes, for the commit of these changes; undefined without any, or if the hub audits nothing.
 */
export type Audit = (changes: readonly AuditedChange[]) => WriteEvents | undefined;

/** The audit log of a store. */
export function auditOf(store: Store, config: Config): Omit<LogDeps, 'clock'> {
  const { audit_retention: days, audit_max_bytes: bytesMax } = config;
  return { stored: store.audit, name: 'audit', retentionMs: days * DAY_MS, bytesMax };
}

/** Time that NATS may take to store the entry of a read. */
const APPEND_MS = 10_000;
/** Size from which a part of the entries of a record is complete. */
const PART_BYTES = 256 << 10;
/** Maximum number of ids that an entry about a query has. */
const READ_IDS_MAX = 100;

/** Setting of a cluster with the audit entries of the last record: all hubs receive them with its changes. */
export const AUDIT_SETTING = 'audit';

/** Returns audit entries as the value of the setting. They are compressed, since a record is limited to 8 MB. */
export function auditSetting({ count, bytes }: EncodedEvents): string {
  return JSON.stringify([count, deflateRawSync(Buffer.from(bytes)).toString('base64')]);
}

/** Yields the audit entries of a value of the setting, in parts that each fit into a message of the event log. */
export function* auditIn(text: string): Generator<EncodedEvents> {
  const [, bytes] = JSON.parse(text) as [number, string];
  yield* partsOf(inflateRawSync(Buffer.from(bytes, 'base64')), PART_BYTES);
}

export function auditTo(auditLog: EventLog | undefined, { now }: Pick<Clock, 'now'>): Audit {
  if (auditLog === undefined) return () => undefined;
  return (changes) => {
    if (changes.length === 0) return undefined;
    return joinEvents(auditEntries(changes, now()).map(({ fields, json }) => textEvent('audit', fields, json)));
  };
}

/**
 * Stores an audit entry about a query of the history, before the query is executed. Rejects with HUB_UNAVAILABLE if the
 * entry cannot be stored.
 */
export type AuditRead = (query: HistoryQuery, by: Author) => Promise<void>;

interface EntryDeps extends Pick<Clock, 'now'> {
  /** Stores entries that belong to no change. */
  store(entries: WriteEvents): Promise<void>;
}

export function auditReads(auditLog: EventLog | undefined, { now, store }: EntryDeps): AuditRead {
  if (auditLog === undefined) return async () => undefined;
  return (query, by) => {
    const read = factsOf(query);
    const [id = '', ...others] = read.ids ?? [];
    const time = formatTime(now());
    const entry = { time, kind: 'read', id: others.length === 0 ? id : '', action: 'read', ...by, read };
    const audit = textEvent('audit', ['read', id, by.subject, ...others], JSON.stringify(entry));
    return store(audit);
  };
}

/**
 * Stores an audit entry about an erasure of the history, before it is carried out. Rejects with HUB_UNAVAILABLE if the
 * entry cannot be stored.
 */
export type AuditErasure = (request: Omit<Erasure, 'id'>, by: Author) => Promise<void>;

export function auditErasures(auditLog: EventLog | undefined, { now, store }: EntryDeps): AuditErasure {
  if (auditLog === undefined) return async () => undefined;
  return ({ kind, of: id, fromMs, toMs }, by) => {
    const erasure = {
      of: kind,
      ...(fromMs > EVER.fromMs && { from: formatTime(fromMs) }),
      ...(toMs < EVER.toMs && { to: formatTime(toMs) }),
    };
    const entry = { time: formatTime(now()), kind: 'erasure', id, action: 'delete', ...by, erasure };
    return store(textEvent('audit', ['erasure', id, by.subject], JSON.stringify(entry)));
  };
}

/** Members that queries may have besides their ids. */
interface QueryScope extends Readonly<Record<string, unknown>>, Partial<Span & AreaFilter> {
  readonly atMs?: number;
  readonly box?: BoundingBox;
}

/** Members of queries that identify objects or fences. */
const IDS = ['id', 'only', 'trackableId', 'trackableIds', 'providerIds', 'fenceId', 'fenceIds'];

function factsOf(query: HistoryQuery): ReadFacts {
  const {
    fromMs,
    toMs,
    atMs,
    box,
    bbox = box && [box.west, box.south, box.east, box.north],
    floor,
    ...rest
  } = query as unknown as QueryScope;
  const all = IDS.flatMap((name) => rest[name] ?? []).map(String);
  const ids = all.slice(0, READ_IDS_MAX);
  const [from, to] = [fromMs ?? atMs, toMs ?? atMs].map((ms) => (ms === undefined ? undefined : formatTime(ms)));
  return {
    question: query.ask,
    ...(ids.length > 0 && { ids }),
    ...(all.length > ids.length && { more_ids: all.length - ids.length }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(bbox !== undefined && { bbox: [...bbox] }),
    ...(floor !== undefined && { floor }),
  };
}

/** Resolves like a promise of the cluster. Rejects with HUB_UNAVAILABLE if it rejects, or takes too long. */
export async function inTime(appended: Promise<void> | undefined): Promise<void> {
  const late = Promise.withResolvers<never>();
  const cancel = schedule(APPEND_MS, () => late.reject(new Error(`The log has no entry after ${APPEND_MS} ms`)));
  try {
    await Promise.race([appended, late.promise]);
  } catch (cause) {
    throw hubError('database_unavailable', { operation: 'keep_data' }, { cause });
  } finally {
    cancel();
  }
}
