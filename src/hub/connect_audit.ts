import type { Config } from '../config/schema.ts';
import type { WriteEvents } from '../core/entity_write.ts';
import { auditEntries, type AuditedChange } from '../entities/audited.ts';
import { joinEvents, textEvent } from '../events/event_bytes.ts';
import type { EventLog } from '../events/event_log.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
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

export function auditTo(auditLog: EventLog | undefined, { now }: Pick<Clock, 'now'>): Audit {
  if (auditLog === undefined) return () => undefined;
  return (changes) => {
    if (changes.length === 0) return undefined;
    return joinEvents(auditEntries(changes, now()).map(({ fields, json }) => textEvent('audit', fields, json)));
  };
}
