import type { StreamSettings } from './bus.ts';
import type { JournalPlaces } from './journal_lane.ts';

/** What the journals of an incarnation are called: all hubs find them by these names. */

/** Where a lane, the shard of an incarnation, is kept. `name`: of the cluster. */
export function lanePlaces(name: string, incarnation: string, shard: number): JournalPlaces {
  const [a, b] = journalStreams(name, incarnation);
  return [
    { stream: a.name, subject: `${name}.j.${incarnation}.a.${shard}` },
    { stream: b.name, subject: `${name}.j.${incarnation}.b.${shard}` },
  ];
}

type JournalStream = Pick<StreamSettings, 'name' | 'subjects'>;

/** The streams of an incarnation, with all of its lanes: A, and B. */
export function journalStreams(name: string, incarnation: string): readonly [JournalStream, JournalStream] {
  return [
    { name: `${name}_J_${incarnation}_A`, subjects: [`${name}.j.${incarnation}.a.*`] },
    { name: `${name}_J_${incarnation}_B`, subjects: [`${name}.j.${incarnation}.b.*`] },
  ];
}
