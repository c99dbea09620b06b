import type { StreamSettings } from './bus.ts';
import type { JournalPlaces } from './hub_journal.ts';

/** What the journal of an incarnation is called: all hubs find it by these names. */

/** Where the journal of an incarnation is kept. `name`: of the cluster. */
export function journalPlaces(name: string, incarnation: string): JournalPlaces {
  const [a, b] = journalStreams(name, incarnation);
  return [
    { stream: a.name, subject: `${name}.j.${incarnation}.a` },
    { stream: b.name, subject: `${name}.j.${incarnation}.b` },
  ];
}

type JournalStream = Pick<StreamSettings, 'name' | 'subjects'>;

/** The streams of an incarnation's journal: A, and B. */
export function journalStreams(name: string, incarnation: string): readonly [JournalStream, JournalStream] {
  return [
    { name: `${name}_J_${incarnation}_A`, subjects: [`${name}.j.${incarnation}.a`] },
    { name: `${name}_J_${incarnation}_B`, subjects: [`${name}.j.${incarnation}.b`] },
  ];
}
