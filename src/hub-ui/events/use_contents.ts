import { useEffect, useRef, useState } from 'preact/hooks';
import { happenings, heardSinceMs } from '../hub/event_log.ts';
import { entityPath, get } from '../hub/rest.ts';
import { runAll } from '../lists/run_all.ts';
import type { Contents, Counted } from './occupancy.ts';

/** What was in each of the fences when the hub was asked; asked again after the connection was lost. */
export function useContentsOf(ids: readonly string[], counted: Counted): ReadonlyMap<string, Contents> {
  const sinceMs = heardSinceMs.value;
  const epoch = `${counted} ${sinceMs}`;
  const [known, setKnown] = useState<{ epoch: string; contents: ReadonlyMap<string, Contents> }>({
    epoch,
    contents: new Map(),
  });
  const asked = useRef(new Set<string>());
  const askedIn = useRef(epoch);
  useEffect(() => {
    if (askedIn.current !== epoch) asked.current.clear();
    askedIn.current = epoch;
    const missing = ids.filter((id) => !asked.current.has(id));
    if (missing.length === 0) return;
    for (const id of missing) asked.current.add(id);
    const found = new Map<string, Contents>();
    const ask = async (id: string): Promise<void> => {
      const inside = await get<readonly { readonly id: string }[]>(`${entityPath('fences', id)}/${counted}`);
      // What is heard from here on is later than the answer, or in it already.
      found.set(id, { ids: inside.map((each) => each.id), key: happenings.peek().at(-1)?.key ?? 0 });
    };
    const { signal } = new AbortController();
    void runAll(missing, ask, { signal, onDone: () => undefined }).then((failures) => {
      if (askedIn.current !== epoch) return;
      for (const { item } of failures) asked.current.delete(item);
      setKnown((before) => {
        const contents = before.epoch === epoch ? [...before.contents, ...found] : found;
        return { epoch, contents: new Map(contents) };
      });
    });
  }, [ids, epoch]);
  return known.contents;
}
