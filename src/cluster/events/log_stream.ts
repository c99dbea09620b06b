import type { StreamSettings } from '../nats/bus.ts';

/** Bounds of the event log, beyond which the oldest events are removed. */
export interface EventLogBounds {
  readonly retentionMs: number;
  readonly bytesMax: number;
}

/** Name of the stream of the event log. `name`: of the cluster, or auditName. */
export function eventStream(name: string): string {
  return `${name.replaceAll('.', '_')}_EVENTS`;
}

/** Name of the audit log of a cluster in place of the cluster's name: it is another event log. */
export function auditName(name: string): string {
  return `${name}.audit`;
}

/** Subject of the events of a writer; of all writers without one. */
export function eventSubject(name: string, writer = '*'): string {
  return `${name}.events.${writer}`;
}

/** Settings of the stream of the event log. */
export function eventStreamSettings(
  { name, replicas, storage }: Pick<StreamSettings, 'name' | 'replicas' | 'storage'>,
  { retentionMs, bytesMax }: EventLogBounds,
): StreamSettings {
  const subjects = [eventSubject(name)];
  return { name: eventStream(name), subjects, replicas, storage, ageMaxMs: retentionMs, bytesMax, dropsOldest: true };
}
