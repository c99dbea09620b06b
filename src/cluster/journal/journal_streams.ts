import type { StreamSettings } from '../nats/bus.ts';

/** Names of the streams and subjects of a member's journal, the same on all hubs. */

/** Streams A and B of a journal. */
export type JournalSubjects = readonly [JournalSubject, JournalSubject];

export interface JournalSubject {
  readonly stream: string;
  readonly subject: string;
}

/** Streams and subjects of a member's journal. `name`: of the cluster. */
export function journalSubjects(name: string, incarnation: string): JournalSubjects {
  return [
    { stream: `${name}_J_${incarnation}_A`, subject: `${name}.j.${incarnation}.a` },
    { stream: `${name}_J_${incarnation}_B`, subject: `${name}.j.${incarnation}.b` },
  ];
}

/** Settings of the streams of a member's journal: A, and B. */
export function journalStreams(name: string, incarnation: string): Pick<StreamSettings, 'name' | 'subjects'>[] {
  return journalSubjects(name, incarnation).map(({ stream, subject }) => ({ name: stream, subjects: [subject] }));
}
