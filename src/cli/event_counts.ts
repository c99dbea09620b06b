/** Counts events by what they say has happened, or by their topic where they do not say. */
export class EventCounts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  add(topic: string, payload: readonly unknown[]): void {
    for (const event of payload) {
      const kind = kindOf(event) ?? topic;
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
      this.#total += 1;
    }
  }

  get total(): number {
    return this.#total;
  }

  count(kind: string): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** `region_entry 12, region_exit 9`, in the order of the alphabet. */
  toString(): string {
    const entries = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return entries.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none';
  }
}

function kindOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  if ('event_type' in event && typeof event.event_type === 'string') return event.event_type;
  if ('collision_type' in event && typeof event.collision_type === 'string') return event.collision_type;
  return undefined;
}
