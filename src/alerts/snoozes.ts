import { ALERT_SNOOZES } from '../entities/alert_snoozes.ts';
import { bodyObject } from '../entities/body.ts';
import { Documents, type DocumentsDeps } from '../entities/documents.ts';
import { hubError } from '../errors.ts';
import type { Alert, AlertRule, AlertSnooze } from '../model/alert.ts';
import type { Author } from '../model/audit.ts';
import { show } from '../model/error_value_text.ts';
import { idKey } from '../model/id.ts';
import { formatTime } from '../model/time.ts';

export interface SnoozesDeps extends Pick<DocumentsDeps, 'newId' | 'commit'> {
  /** Wall-clock time. */
  now(): number;
  /** Throws HUB_NOT_FOUND. */
  rule(id: string): AlertRule;
  /** Called with snoozes that were created, changed or deleted, in their former and current states. */
  changed(snoozes: readonly AlertSnooze[]): void;
}

const SUBJECT = ['rule_id', 'fence_id', 'trackable_id', 'other_trackable_id', 'provider_id'] as const;

/**
 * Snoozes of alerts. A snooze applies to all alerts of its subject, also to those that are raised later. It does not
 * change the alerts: until its end, replies and events show it in them.
 */
export class AlertSnoozes {
  readonly documents: Documents<AlertSnooze>;
  readonly #deps: SnoozesDeps;
  #stored: readonly AlertSnooze[] = [];
  #byRule: ReadonlyMap<string, readonly AlertSnooze[]> = new Map();

  constructor(deps: SnoozesDeps) {
    this.#deps = deps;
    this.documents = new Documents<AlertSnooze>(ALERT_SNOOZES, {
      newId: deps.newId,
      commit: deps.commit,
      changed: () => this.#changed(),
    });
  }

  /**
   * Creates a snooze, or changes the end of the one of the same subject. Deletes snoozes that have ended. Rejects with
   * HUB_BAD_REQUEST, HUB_NOT_FOUND if there is no such rule, and HUB_UNAVAILABLE.
   */
  async create(body: unknown, by: Author): Promise<AlertSnooze> {
    const { documents } = this;
    const nowMs = this.#deps.now();
    const sent = documents.checked(body);
    if (Date.parse(sent.until) <= nowMs)
      throw hubError('not_in_the_future', { path: 'until', found: show(sent.until) });
    const named = { ...bodyObject(body), name: this.#deps.rule(sent.rule_id).name };
    const over = documents.list.filter(({ until }) => Date.parse(until) <= nowMs);
    if (over.length > 0) await documents.keep(over.map(({ id }) => [ALERT_SNOOZES.prefix + id, undefined]));
    const same = documents.list.find((other) => SUBJECT.every((member) => isSameId(other[member], sent[member])));
    return same === undefined ? documents.create(named, by) : documents.change(same.id, () => named, by);
  }

  /** Returns the end of the latest snooze that applies to an alert, RFC 3339; undefined if none does now. */
  until(alert: Alert): string | undefined {
    const snoozes = this.#byRule.get(idKey(alert.rule_id));
    if (snoozes === undefined) return undefined;
    const nowMs = this.#deps.now();
    const ends = snoozes.flatMap((snooze) => (isAbout(snooze, alert) ? [Date.parse(snooze.until)] : []));
    const untilMs = Math.max(nowMs, ...ends);
    return untilMs > nowMs ? formatTime(untilMs) : undefined;
  }

  #changed(): void {
    const [before, current] = [new Set(this.#stored), new Set(this.documents.list)];
    this.#stored = [...current];
    this.#byRule = Map.groupBy(current, ({ rule_id: rule }) => idKey(rule));
    this.#deps.changed([...before.symmetricDifference(current)]);
  }
}

/** Whether a snooze applies to an alert, regardless of its end. */
export function isAbout(snooze: AlertSnooze, alert: Alert): boolean {
  return SUBJECT.every((member) => snooze[member] == null || isSameId(snooze[member], alert[member]));
}

function isSameId(one: string | null | undefined, other: string | null | undefined): boolean {
  return one == null || other == null ? (one ?? other) == null : idKey(one) === idKey(other);
}
