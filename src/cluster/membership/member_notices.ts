import type { Notice } from '../context.ts';
import { clockDifferences } from './member_views.ts';
import type { Member, Members, Signal } from './members.ts';
import { accusation, type Accusing, suspects } from './suspicion.ts';

/** Time that a reason against accusing must last before it is logged. */
const REASON_MS = 500;

/** Log lines about members: one when a condition begins, and one when it ends. */
export class MemberNotices {
  readonly #notice: Notice;
  readonly #once = new Set<string>();
  readonly #suspected = new Set<string>();
  #reason: { readonly accusing: Accusing; readonly sinceMs: number; readonly isReported: boolean } | undefined;

  constructor(notice: Notice) {
    this.#notice = notice;
  }

  once(what: string, text: string): void {
    if (this.#once.has(what)) return;
    this.#once.add(what);
    this.#notice(text);
  }

  /** Call it before the signal is applied. */
  record({ all }: Members, signal: Signal): void {
    if (signal.is !== 'expel' && signal.is !== 'leave') return;
    const member = all.get(signal.incarnation);
    this.#suspected.delete(signal.incarnation);
    this.#once.delete(clockOf(signal.incarnation));
    if (member === undefined) return;
    if (signal.is === 'expel') this.#notice(`Hub ${shown(member)} was expelled`);
    else this.#notice(`Hub ${shown(member)} has left`, 'info');
  }

  look(members: Members, nowMs: number): void {
    const suspected = suspects(members, nowMs);
    for (const member of suspected) {
      if (this.#suspected.has(member.incarnation)) continue;
      this.#suspected.add(member.incarnation);
      const silentMs = Math.round(nowMs - member.lastSeenMs);
      const why = member.ping === 'noResponders' ? ', and its connection is gone' : '';
      this.#notice(`Hub ${shown(member)} is suspected: it was silent for ${silentMs} ms${why}`);
    }
    this.#clearRecovered(members, suspected, nowMs);
    this.#sayReason(members, suspected, nowMs);
    this.#compareClocks(members);
  }

  /** Clears members that are no longer suspected. A lost connection ends suspicion, too, without a log line. */
  #clearRecovered({ all, suspectMs }: Members, suspected: readonly Member[], nowMs: number): void {
    const still = new Set(suspected.map(({ incarnation }) => incarnation));
    for (const incarnation of this.#suspected) {
      if (still.has(incarnation)) continue;
      this.#suspected.delete(incarnation);
      const member = all.get(incarnation);
      if (member && nowMs - member.lastSeenMs < suspectMs)
        this.#notice(`Hub ${shown(member)} sends heartbeats again`, 'info');
    }
  }

  #sayReason(members: Members, suspected: readonly Member[], nowMs: number): void {
    const accusing = accusation(members, nowMs);
    const isWaiting = suspected.some(({ standing }) => standing.at === 'member');
    if (!isWaiting || accusing === 'may') {
      this.#reason = undefined;
      return;
    }
    if (this.#reason?.accusing !== accusing) this.#reason = { accusing, sinceMs: nowMs, isReported: false };
    if (this.#reason.isReported || nowMs - this.#reason.sinceMs < REASON_MS) return;
    this.#reason = { ...this.#reason, isReported: true };
    const names = suspected.map(shown).join(', ');
    this.#notice(`Not expelling ${names} yet: ${REASONS[accusing]}`);
  }

  #compareClocks(members: Members): void {
    for (const { incarnation, aheadMs, isWarning } of clockDifferences(members)) {
      const member = members.all.get(incarnation);
      if (!isWarning || member === undefined) continue;
      const text = `The clock of hub ${shown(member)} is ${Math.round(Math.abs(aheadMs))} ms`;
      this.once(clockOf(incarnation), `${text} ${aheadMs > 0 ? 'ahead of' : 'behind'} this one's`);
    }
  }
}

const REASONS: Readonly<Record<Exclude<Accusing, 'may'>, string>> = {
  notMember: 'this hub is no member',
  down: 'this hub has no connection',
  reconnected: 'this hub has just got its connection back',
  minority: 'this hub receives heartbeats of no more than half of the members',
  notCommitted: 'this hub can append nothing',
};

function shown({ name, incarnation }: Member): string {
  return `"${name}" (${incarnation})`;
}

function clockOf(incarnation: string): string {
  return `clock ${incarnation}`;
}
