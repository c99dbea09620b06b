import type { ClusterContext } from '../context.ts';
import { sealJournal } from '../journal/hub_journal.ts';
import { journalStreams, journalSubjects } from '../journal/journal_streams.ts';
import type { StreamState } from '../nats/bus.ts';

export interface JournalSealerOptions extends Pick<ClusterContext, 'bus' | 'name' | 'hubName' | 'notice' | 'schedule'> {
  /** Creates the journal streams of a member, as each hub does with its own before it joins. */
  makeJournal(incarnation: string): Promise<void>;
}

/** Time after which the streams of an unsealed journal are inspected. */
const SEAL_MS = 2000;
/** Additional size of a full stream. */
const SEAL_BYTES = 1 << 20;

/**
 * Seals the journal of a member. Resolves when it is sealed, or when `isOff` says that this is no longer needed.
 *
 * Journals are sealed in existing streams, since a hub creates them before it joins. If a seal does not succeed within 2 s, the
 * streams are inspected. A missing one, which only another hub can have deleted, is created as its owner would, so that the
 * seal is its first message, whichever hub appends later. A full one is enlarged for seals.
 */
export async function sealMember(
  options: JournalSealerOptions,
  { incarnation, isOff }: { readonly incarnation: string; isOff(): boolean },
): Promise<void> {
  const { bus, name, hubName, schedule } = options;
  let isDone = false;
  const lookLater = (): (() => void) =>
    schedule(SEAL_MS, () => {
      if (isDone || isOff()) return;
      cancel = lookLater();
      void mend(options, incarnation);
    });
  let cancel = lookLater();
  const places = journalSubjects(name, incarnation);
  try {
    await sealJournal({ bus, places, schedule, by: hubName, isOff });
  } finally {
    isDone = true;
    cancel();
  }
}

/** Makes the streams of a member accept seals. */
async function mend({ bus, name, makeJournal, notice }: JournalSealerOptions, incarnation: string): Promise<void> {
  const wanted = journalStreams(name, incarnation);
  try {
    const found = await bus.streams(`${name}_J_${incarnation}_`);
    const missing = wanted.filter((stream) => !found.some((state) => state.name === stream.name));
    if (missing.length > 0) {
      notice(`Making ${missing.map((stream) => stream.name).join(', ')} again, so that they can be sealed`);
      await makeJournal(incarnation);
    }
    for (const state of found) if (isFull(state)) await bus.alterStream(withRoom(state));
  } catch (error) {
    notice(`Cannot repair the journal streams of ${incarnation}: ${(error as Error).message}`);
  }
}

function isFull({ bytes, bytesMax }: StreamState): boolean {
  return bytesMax !== undefined && bytes + SEAL_BYTES / 2 > bytesMax;
}

function withRoom({ name, subjects, replicas, storage, ageMaxMs, bytesMax = 0 }: StreamState) {
  const settings = { name, subjects, replicas, storage, bytesMax: bytesMax + SEAL_BYTES };
  return ageMaxMs === undefined ? settings : { ...settings, ageMaxMs };
}
