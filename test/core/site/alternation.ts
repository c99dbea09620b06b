import assert from 'node:assert/strict';
import type { FenceEvent } from '../../../src/model/events.ts';

/** Whether entries and exits of each object and fence alternate, starting with an entry. */
export class Alternation {
  readonly #inside = new Map<string, string | null | undefined>();

  /** A deleted fence drops its members without events. */
  fenceDeleted(id: string): void {
    for (const key of this.#inside.keys()) if (key.startsWith(`${id} `)) this.#inside.delete(key);
  }

  observed(event: FenceEvent): void {
    const key = `${event.fence_id} ${event.trackable_id ?? event.provider_id}`;
    if (event.event_type === 'region_entry') {
      assert.equal(this.#inside.has(key), false, `${key} enters twice`);
      this.#inside.set(key, event.entry_time);
      return;
    }
    assert.equal(this.#inside.has(key), true, `${key} leaves without having entered`);
    assert.equal(event.entry_time, this.#inside.get(key), `${key} leaves with another entry time`);
    this.#inside.delete(key);
  }
}
