import { HubError } from '../errors.ts';
import { grouped } from '../model/bounds.ts';
import { idKey } from '../model/id.ts';
import { type Body, badRequest, bodyObject, withId, withIdOf } from './body.ts';

/** What people define in the page and the hub keeps beside entities: each under a name of its own, among the settings. */
export interface DocumentKind<T extends Defined> {
  /** Begins the names of its documents. */
  readonly prefix: string;
  /** As messages call one. */
  readonly noun: string;
  /** So many may be kept. */
  readonly max: number;
  /** The document as it is kept. Throws HUB_BAD_REQUEST naming the field and the value found. */
  check(body: Body): T;
  /** What else changes when a document is written. */
  besides?(written: T, others: readonly T[]): readonly T[];
}

export interface Defined {
  readonly id: string;
  readonly name: string;
}

/** A document under the name by which it is kept; undefined: none any more. */
export type DefinedWrite = readonly [name: string, document: object | undefined];

function orderOf({ name, id }: Defined): string {
  return `${name.toLowerCase()} ${id}`;
}

export interface DocumentsDeps {
  newId(): string;
  /**
   * Keeps documents by their names, all or none; undefined deletes one. Resolves with `applied` where `apply` has taken
   * them already, as it takes all that hubs keep in a log that they share. Rejects with HUB_UNAVAILABLE.
   */
  commit(documents: readonly DefinedWrite[]): Promise<'applied' | undefined>;
  /** Documents have changed. */
  changed(): void;
}

/** The documents of one kind. */
export class Documents<T extends Defined> {
  readonly #kind: DocumentKind<T>;
  readonly #deps: DocumentsDeps;
  readonly #documents = new Map<string, T>();

  constructor(kind: DocumentKind<T>, deps: DocumentsDeps) {
    this.#kind = kind;
    this.#deps = deps;
  }

  /** In the order of their names, which is the same after a restart. */
  get list(): readonly T[] {
    return [...this.#documents.values()].sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  }

  /** Throws HUB_NOT_FOUND. */
  get(id: string): T {
    const found = this.#documents.get(idKey(id));
    if (found !== undefined) return found;
    throw new HubError('HUB_NOT_FOUND', `Cannot find ${this.#kind.noun} "${id}": none has that id`);
  }

  /** Takes what is kept under a name, unchecked; null: nothing any more. False where that is none of this kind. */
  apply(name: string, text: string | null): boolean {
    if (!name.startsWith(this.#kind.prefix)) return false;
    const key = idKey(name.slice(this.#kind.prefix.length));
    if (text === null) this.#documents.delete(key);
    else this.#documents.set(key, JSON.parse(text) as T);
    this.#deps.changed();
    return true;
  }

  /** The document as it would be created. Throws HUB_BAD_REQUEST. */
  checked(body: unknown): T {
    return this.#kind.check(withId(bodyObject(body), this.#deps.newId()));
  }

  /** Creates a document, with an id of the hub's. Rejects with HUB_BAD_REQUEST, and with HUB_UNAVAILABLE. */
  async create(body: unknown): Promise<T> {
    const created = this.checked(body);
    const { noun, max } = this.#kind;
    if (this.#documents.size >= max) {
      throw badRequest(`body: must be one of at most ${grouped(max)} ${noun}s, found as many already`);
    }
    await this.#write(created);
    return created;
  }

  /** Rejects with HUB_NOT_FOUND, HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  async replace(id: string, body: unknown): Promise<T> {
    const replaced = this.#kind.check(withIdOf(bodyObject(body), this.get(id)));
    await this.#write(replaced);
    return replaced;
  }

  /** Rejects with HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  async remove(id: string): Promise<void> {
    await this.keep([[this.#nameOf(this.get(id)), undefined]]);
  }

  /** Keeps documents of this kind, which are checked already, all or none. Rejects with HUB_UNAVAILABLE. */
  async keep(documents: readonly DefinedWrite[]): Promise<void> {
    if ((await this.#deps.commit(documents)) === 'applied') return;
    this.take(documents);
  }

  /** Takes documents of this kind that are kept. */
  take(documents: readonly DefinedWrite[]): void {
    for (const [name, document] of documents)
      this.apply(name, document === undefined ? null : JSON.stringify(document));
  }

  #write(written: T): Promise<void> {
    const others = this.list.filter(({ id }) => id !== written.id);
    const all = [written, ...(this.#kind.besides?.(written, others) ?? [])];
    return this.keep(all.map((document) => [this.#nameOf(document), document]));
  }

  #nameOf({ id }: Defined): string {
    return this.#kind.prefix + id;
  }
}
