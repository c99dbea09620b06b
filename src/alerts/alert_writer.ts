import type { AuditedChange } from '../entities/audited.ts';
import { hubError } from '../errors.ts';
import type { AuditedWrites, DefinedWrite } from '../entities/documents.ts';

export interface AlertWriterDeps {
  /** Returns the writes that store a document in its current state. */
  documentsOf(name: string): readonly DefinedWrite[];
  /** Stores documents. Rejects with HUB_UNAVAILABLE. */
  commit(documents: readonly DefinedWrite[], logged: AuditedWrites): Promise<void>;
  schedule(delayMs: number, callback: () => void): () => void;
}

const RETRY_MS = 2000;
/** Maximum number of audited changes that wait for a commit. */
const AUDITED_MAX = 10_000;

/** Stores changed documents, in one commit at a time. A failed commit is repeated with the current states. */
export class AlertWriter {
  readonly #deps: AlertWriterDeps;
  /** Names of documents that differ from their stored versions. */
  readonly #dirty = new Set<string>();
  /** Audited changes that wait for the commit of their documents. */
  #audited: readonly AuditedChange[] = [];
  #flushing: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(deps: AlertWriterDeps) {
    this.#deps = deps;
  }

  /** Marks a document as changed. */
  changed(name: string): void {
    this.#dirty.add(name);
  }

  /** Adds changes to the audit log, with the next commit. Throws HUB_UNAVAILABLE if too many wait. */
  audit(changes: readonly AuditedChange[]): void {
    const count = this.#audited.length;
    if (count >= AUDITED_MAX) throw hubError('too_many_waiting', { operation: 'change_alerts', count });
    this.#audited = [...this.#audited, ...changes.filter(({ before, after }) => before !== after)];
  }

  /** Discards changes that are not stored. */
  discard(): void {
    this.#dirty.clear();
    this.#audited = [];
  }

  flushSoon(): void {
    if (this.#dirty.size > 0 && this.#cancelRetry === undefined) this.flushed().catch(() => undefined);
  }

  /**
   * Resolves when all changes so far are committed. Rejects with HUB_UNAVAILABLE if a commit fails, which is then
   * retried.
   */
  async flushed(): Promise<void> {
    while (this.#dirty.size > 0 || this.#flushing !== undefined) {
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = undefined;
      });
      await this.#flushing;
    }
  }

  /** Cancels retries. Resolves when the commit in flight is done or has failed. */
  async close(): Promise<void> {
    this.#cancelRetry?.();
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    const names = [...this.#dirty];
    const audited = this.#audited;
    this.#dirty.clear();
    this.#audited = [];
    const documents = names.flatMap((name) => this.#deps.documentsOf(name));
    if (documents.length === 0) return;
    try {
      await this.#deps.commit(documents, { audited });
    } catch (error) {
      for (const name of names) this.#dirty.add(name);
      this.#audited = [...audited, ...this.#audited];
      this.#cancelRetry ??= this.#deps.schedule(RETRY_MS, () => {
        this.#cancelRetry = undefined;
        this.flushSoon();
      });
      throw error;
    }
  }
}
