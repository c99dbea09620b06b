import { hubError, type HubError } from '../../errors.ts';
import type { ClusterContext } from '../context.ts';
import type { AppliedRecord } from '../config/config_log.ts';
import { APPLIED } from '../messages/messages.ts';
import { appliedByAll } from './member_views.ts';
import type { Members } from './members.ts';

export type AppliedReportsOptions = Pick<ClusterContext, 'bus' | 'name' | 'schedule'>;

/** What the reports depend on. */
interface Reported {
  members(): Members;
  /** Whether this hub is a member. */
  isMember(): boolean;
}

/** A request that waits until all have applied a record. */
interface Waiting {
  readonly sequence: number;
  end(error?: HubError): void;
}

/** Least interval between reports of the applied sequence. */
const APPLIED_MS = 1;
/** Most requests that may wait until all have applied a record. */
const WAITING_MAX = 10_000;

const WAIT = { operation: 'wait_for_configuration' } as const;

/**
 * Reports of applied records: a change of entities is answered when all members have applied its record. Each of them reports
 * that to the hub that has appended it, and to all hubs with its next heartbeat.
 */
export class AppliedReports {
  readonly #options: AppliedReportsOptions;
  readonly #of: Reported;
  readonly #waiting = new Set<Waiting>();
  #isTelling = false;
  /** Member ids of the hubs that wait until this one has applied their changes. */
  #waitingHubs = new Set<string>();

  constructor(options: AppliedReportsOptions, of: Reported) {
    this.#options = options;
    this.#of = of;
  }

  /** This hub has applied a record as a member. */
  applied(record: AppliedRecord): void {
    this.#note(record);
    this.#say();
  }

  /**
   * Resolves when every member has applied a record of the configuration log, or is expelled. Rejects with HUB_UNAVAILABLE if
   * that is not confirmed in time.
   */
  async byAll(sequence: number, timeoutMs: number): Promise<void> {
    const members = this.#of.members();
    if (!this.#of.isMember()) {
      throw hubError('not_a_member', WAIT);
    }
    if (appliedByAll(members) >= sequence) return;
    if (this.#waiting.size >= WAITING_MAX) {
      throw hubError('too_many_waiting', { ...WAIT, count: WAITING_MAX });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      sequence,
      end: (error) => {
        cancel();
        this.#waiting.delete(waiting);
        if (error === undefined) resolve();
        else reject(error);
      },
    };
    const cancel = this.#options.schedule(timeoutMs, () => waiting.end(this.#lateError(sequence, timeoutMs)));
    this.#waiting.add(waiting);
    return promise;
  }

  /** Resolves what has waited for a report. */
  answer(): void {
    if (this.#waiting.size === 0) return;
    const sequence = appliedByAll(this.#of.members());
    for (const waiting of this.#waiting) if (waiting.sequence <= sequence) waiting.end();
  }

  #lateError(sequence: number, timeoutMs: number): HubError {
    const { all, self, applied: own } = this.#of.members();
    const late = [...all.values()]
      .filter(({ incarnation, applied }) => (incarnation === self ? own : applied) < sequence)
      .map(({ name, applied }) => `${name} ${applied}`);
    return hubError('members_late', { sequence, limit: timeoutMs, members: late });
  }

  /** Rejects everything that waits: this hub is no member any more. */
  end(): void {
    for (const { end } of this.#waiting) end(hubError('not_a_member', WAIT));
  }

  /** The hub that has appended a change of entities answers its client when all hubs have applied it. */
  #note({ body }: AppliedRecord): void {
    if (body.kind !== 'change' && body.kind !== 'regroup') return;
    const { self, all } = this.#of.members();
    for (const { name, incarnation } of all.values()) {
      if (name === body.by && incarnation !== self) this.#waitingHubs.add(incarnation);
    }
  }

  /** Reports the applied sequence at once, and later ones after a millisecond. Heartbeats repeat it, and reach all hubs. */
  #say(): void {
    if (this.#isTelling || this.#waitingHubs.size === 0) return;
    this.#isTelling = true;
    // After the record is applied as a whole.
    queueMicrotask(() => {
      const { bus, name, schedule } = this.#options;
      if (!this.#of.isMember()) return;
      const { self: incarnation, applied: sequence } = this.#of.members();
      const waiting = this.#waitingHubs;
      this.#waitingHubs = new Set();
      for (const hub of waiting) bus.publish(appliedSubject(name, hub), APPLIED.pack({ incarnation, sequence }));
      schedule(APPLIED_MS, () => {
        this.#isTelling = false;
        this.#say();
      });
    });
  }
}

/** Subject of reports to a hub. */
export function appliedSubject(name: string, incarnation: string): string {
  return `${name}.applied.${incarnation}`;
}
