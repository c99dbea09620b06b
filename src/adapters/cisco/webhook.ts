import { errorOfAll, hubError } from '../../errors.ts';
import type { Problem } from '../../problem.ts';
import type { EachResult } from '../../ingest/ingest.ts';
import type { Location } from '../../model/location.ts';
import { show } from '../../model/error_value_text.ts';
import type { Zone } from '../../model/zone.ts';
import { ThrottledWarning, type SourceLog } from '../log_throttle.ts';
import { Hierarchies } from './hierarchy.ts';
import { decodeNotification } from './notification.ts';
import { isObject } from '../../model/json_tree.ts';

/** Services of the hub that the webhook uses. */
export interface WebhookNeeds {
  /**
   * Delivers each valid location. `nameOf` returns its name in messages. Throws HUB_UNAVAILABLE if the hub is at
   * capacity.
   */
  deliver(locations: readonly Location[], nameOf: (index: number) => string): EachResult;
  /** Returns milliseconds since 1970; never decreases. */
  now(): number;
  readonly log: SourceLog;
}

const NOTIFICATIONS_MAX = 1000;
/** Maximum number of problems in an error. */
const PROBLEMS_MAX = 10;

/** Receives location notifications that Cisco CMX and Cisco Spaces post. */
export class CiscoWebhook {
  readonly #needs: WebhookNeeds;
  readonly #warning: ThrottledWarning;
  readonly #hierarchies = new Hierarchies();

  constructor(needs: WebhookNeeds) {
    this.#needs = needs;
    this.#warning = new ThrottledWarning(needs.log);
  }

  /** Updates a zone; undefined if it was deleted. */
  zone(id: string, zone: Zone | undefined): void {
    this.#hierarchies.set(id, zone);
  }

  /**
   * Delivers the locations of a body, in order. The sender does not retry, so valid locations are accepted even if
   * others are not. If none is accepted and some are invalid, throws HUB_BAD_REQUEST with their problems. Returns a
   * promise for which the response must wait, if any.
   */
  accept(body: unknown): Promise<void> | undefined {
    const values = notificationsOf(body);
    const locations: Location[] = [];
    const names: string[] = [];
    const problems: Problem[] = [];
    for (let index = 0; index < values.length; index++) {
      const at = `notifications[${index}]`;
      const decoded = decodeNotification(values[index], { at, zone: (name) => this.#hierarchies.find(name) });
      if (decoded.is === 'refused') problems.push(decoded.problem);
      if (decoded.is !== 'location') continue;
      locations.push(decoded.location);
      names.push(at);
    }
    const taken = locations.length === 0 ? undefined : this.#needs.deliver(locations, (index) => names[index] ?? '');
    if (taken !== undefined) problems.push(...taken.problems);
    if (problems.length === 0) return taken?.committed;
    this.#warning.warn(this.#needs.now(), 'Cisco notifications are refused', { problem: String(problems[0]) });
    if (taken !== undefined && taken.problems.length < locations.length) return taken.committed;
    throw errorOfAll(problems, PROBLEMS_MAX);
  }
}

/** Returns the notifications of an envelope, a list, or a single object. Throws HUB_BAD_REQUEST for any other body. */
function notificationsOf(body: unknown): readonly unknown[] {
  const values = isObject(body) ? inObject(body) : body;
  if (!Array.isArray(values)) throw hubError('not_an_object', { path: 'body', found: show(body) });
  if (values.length <= NOTIFICATIONS_MAX) return values;
  const limit = NOTIFICATIONS_MAX;
  throw hubError('too_many', { path: 'notifications', limit, unit: 'elements', found: values.length });
}

function inObject(body: Readonly<Record<string, unknown>>): unknown {
  const { notifications } = body;
  if (Array.isArray(notifications)) return notifications;
  const isBare = notifications === undefined && typeof body['notificationType'] === 'string';
  if (isBare) return [body];
  throw hubError('not_an_array', { path: 'notifications', found: show(notifications) });
}
