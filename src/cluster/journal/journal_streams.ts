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
  const [a, b] = journalStreams(name, incarnation);
  return [
    { stream: a.name, subject: `${name}.j.${incarnation}.a` },
    { stream: b.name, subject: `${name}.j.${incarnation}.b` },
  ];
}

type JournalStream = Pick<StreamSettings, 'name' | 'subjects'>;

/** Streams of a member's journal: A, and B. */
export function journalStreams(name: string, incarnation: string): readonly [JournalStream, JournalStream] {
  return [
    { name: `${name}_J_${incarnation}_A`, subjects: [`${name}.j.${incarnation}.a`] },
    { name: `${name}_J_${incarnation}_B`, subjects: [`${name}.j.${incarnation}.b`] },
  ];
}
