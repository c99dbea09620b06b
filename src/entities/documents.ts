import { hubError } from '../errors.ts';
import type { Author } from '../model/audit.ts';
import { idKey } from '../model/id.ts';
import { isObject, isSame, lookUp } from '../model/json_tree.ts';
import type { AuditedChange } from './audited.ts';
import { type EntityBody, bodyObject, withId, withIdOf } from './body.ts';

/**
 * A kind of document that users define in the web UI. Documents are stored among the settings, each under its own name.
 */
export interface DocumentKind<T extends DefinedDocument> {
  /** Prefix of the names of its documents. */
  readonly prefix: string;
  readonly kind: 'alert_rule' | 'alert_snooze' | 'api_key' | 'link' | 'sink' | 'source' | 'view' | 'walk_test';
  /** Maximum number of documents. */
  readonly max: number;
  /** Returns the document in stored form. Throws HUB_BAD_REQUEST naming the field and the value found. */
  check(body: EntityBody): T;
  /** Other documents that change when a document is written. */
  besides?(written: T, others: readonly T[]): readonly T[];
  /** Its write-only members. */
  readonly secrets?: DocumentSecrets;
}

/**
 * Write-only members of documents, such as passwords. They are stored, but no reply, export or log contains them.
 *
 *     request           stored secret
 *     member absent     retained, if the servers that receive it are unchanged; otherwise rejected
 *     member null       removed
 *     member            replaced
 */
export interface DocumentSecrets {
  /** Paths of the secrets, such as `['oidc', 'client_secret']`. */
  readonly paths: readonly Path[];
  /** Paths of the addresses that receive them. A secret must not reach a server that its author has not seen. */
  readonly receivers: readonly Path[];
}

type Path = readonly string[];

export interface DefinedDocument {
  readonly id: string;
  readonly name: string;
}

/** A document under the name by which it is stored; undefined deletes it. */
export type DefinedWrite = readonly [name: string, document: object | undefined];

function orderOf({ name, id }: DefinedDocument): string {
  return `${name.toLowerCase()} ${id}`;
}

/** Audited changes of a commit. */
export interface AuditedWrites {
  readonly audited?: readonly AuditedChange[];
}

export interface DocumentsDeps<T extends DefinedDocument = DefinedDocument> {
  newId(): string;
  /** Checks a document against the settings of the hub. Throws HUB_BAD_REQUEST. */
  admit?(document: T): void;
  /**
   * Stores documents by name atomically; undefined deletes one. Resolves with `applied` if `apply` has already received
   * them, as happens with a shared log of hubs. Rejects with HUB_UNAVAILABLE.
   */
  commit(documents: readonly DefinedWrite[], logged?: AuditedWrites): Promise<'applied' | undefined>;
  /** Called when documents have changed. */
  changed(): void;
}

interface RemoveOptions<T> {
  /** Throws if the document must not be deleted as it is then. */
  admit?(document: T): void;
  readonly by?: Author;
}

/** The documents of one kind. */
export class Documents<T extends DefinedDocument> {
  readonly #kind: DocumentKind<T>;
  readonly #deps: DocumentsDeps<T>;
  readonly #documents = new Map<string, T>();
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(kind: DocumentKind<T>, deps: DocumentsDeps<T>) {
    this.#kind = kind;
    this.#deps = deps;
  }

  get kind(): DocumentKind<T>['kind'] {
    return this.#kind.kind;
  }

  /** Sorted by name, so stable across restarts. */
  get list(): readonly T[] {
    return [...this.#documents.values()].sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  }

  /** The document with that id; undefined without one. */
  find(id: string): T | undefined {
    return this.#documents.get(idKey(id));
  }

  /** Throws HUB_NOT_FOUND. */
  get(id: string): T {
    const found = this.find(id);
    if (found !== undefined) return found;
    throw hubError('not_found', { action: 'find', kind: this.#kind.kind, id });
  }

  /** Applies a stored document, unchecked; null: it was deleted. Returns false if the name belongs to another kind. */
  apply(name: string, text: string | null): boolean {
    if (!name.startsWith(this.#kind.prefix)) return false;
    const key = idKey(name.slice(this.#kind.prefix.length));
    if (text === null) this.#documents.delete(key);
    else this.#documents.set(key, JSON.parse(text) as T);
    this.#deps.changed();
    return true;
  }

  /** The document without its secrets. */
  shown(document: T): T {
    return withoutSecrets(document, this.#kind);
  }

  /** The document as it would be created. Throws HUB_BAD_REQUEST. */
  checked(body: unknown): T {
    return this.#kind.check(withId(bodyObject(body), this.#deps.newId()));
  }

  /** Creates a document with a generated id. Rejects with HUB_BAD_REQUEST, and with HUB_UNAVAILABLE. */
  async create(body: unknown, by?: Author): Promise<T> {
    const created = this.checked(body);
    const { kind, max } = this.#kind;
    if (this.#documents.size >= max) {
      throw hubError('too_many_stored', { path: 'body', limit: max, unit: `${kind}s` });
    }
    await this.#write(created, by);
    return created;
  }

  /** Rejects with HUB_NOT_FOUND, HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  async replace(id: string, body: unknown, by?: Author): Promise<T> {
    const before = this.get(id);
    const sent = withIdOf(bodyObject(body), before);
    const replaced = this.#kind.check(withSecretsOf(before, sent, this.#kind));
    await this.#write(replaced, by);
    return replaced;
  }

  /**
   * Replaces a document by a change of it, after earlier changes: two changes at the same time are both stored. Rejects
   * like `replace`.
   */
  change(id: string, changed: (document: T) => unknown, by?: Author): Promise<T> {
    return this.#inOrder(() => this.replace(id, changed(this.get(id)), by));
  }

  /**
   * Deletes a document after earlier changes. `admit` throws if it must not be deleted as it is then. Rejects with
   * HUB_NOT_FOUND and HUB_UNAVAILABLE.
   */
  remove(id: string, { admit, by }: RemoveOptions<T> = {}): Promise<void> {
    return this.#inOrder(async () => {
      const document = this.get(id);
      admit?.(document);
      await this.keep([[this.#nameOf(document), undefined]], by);
    });
  }

  /** Stores checked documents of this kind atomically. Rejects with HUB_UNAVAILABLE. */
  async keep(documents: readonly DefinedWrite[], by?: Author): Promise<void> {
    if ((await this.#deps.commit(documents, { audited: this.audited(documents, by) })) === 'applied') return;
    this.take(documents);
  }

  /** Returns what the audit log records about writes of this kind, before they are applied: nothing without an author. */
  audited(documents: readonly DefinedWrite[], by: Author | undefined): readonly AuditedChange[] {
    if (by === undefined) return [];
    const { kind, prefix } = this.#kind;
    return documents.flatMap(([name, document]) => {
      if (!name.startsWith(prefix)) return [];
      const id = name.slice(prefix.length);
      return [{ kind, id, by, ...withMaskedSecrets(this.find(id), document, this.#kind) }];
    });
  }

  /** Applies stored documents of this kind. */
  take(documents: readonly DefinedWrite[]): void {
    for (const [name, document] of documents)
      this.apply(name, document === undefined ? null : JSON.stringify(document));
  }

  #inOrder<Result>(write: () => Promise<Result>): Promise<Result> {
    const written = this.#lastChange.then(write);
    this.#lastChange = written.catch(() => undefined);
    return written;
  }

  async #write(written: T, by: Author | undefined): Promise<void> {
    this.#deps.admit?.(written);
    const others = this.list.filter(({ id }) => id !== written.id);
    const all = [written, ...(this.#kind.besides?.(written, others) ?? [])];
    await this.keep(
      all.map((document) => [this.#nameOf(document), document]),
      by,
    );
  }

  #nameOf({ id }: DefinedDocument): string {
    return this.#kind.prefix + id;
  }
}

type Secretive = Pick<DocumentKind<DefinedDocument>, 'secrets'>;

/** Returns a document without its secrets. */
export function withoutSecrets<T extends object>(document: T, { secrets }: Secretive): T {
  if (secrets === undefined) return document;
  return secrets.paths.reduce<EntityBody>((left, path) => without(left, path), document as EntityBody) as T;
}

/**
 * Returns the body with the stored secrets that it omits. Throws HUB_BAD_REQUEST if it omits one and changes a server
 * that receives it.
 */
export function withSecretsOf(before: object, body: EntityBody, { secrets }: Secretive): EntityBody {
  if (secrets === undefined) return body;
  const { paths, receivers } = secrets;
  const isSameServer = receivers.every((path) => lookUp(before, path) === lookUp(body, path));
  let result = body;
  for (const path of paths) {
    const secret = lookUp(before, path);
    const parent = lookUp(body, path.slice(0, -1));
    if (secret == null || !isObject(parent) || lookUp(body, path) !== undefined) continue;
    if (!isSameServer) throw hubError('missing_for', { path: path.join('.'), purpose: 'other_server' });
    result = withValue(result, path, secret);
  }
  return result;
}

/**
 * Returns a document before and after a change with `***` for each secret. The two differ where the secrets differ, so that a
 * patch between them names the changed ones.
 */
export function withMaskedSecrets(
  before: object | undefined,
  after: object | undefined,
  { secrets }: Secretive,
): Pick<AuditedChange, 'before' | 'after'> {
  let masked = { before, after };
  for (const path of secrets?.paths ?? []) {
    const [former, current] = [lookUp(before, path), lookUp(after, path)];
    masked = {
      before: maskedAt(masked.before, path, isSame(former, current) ? MASK : ''),
      after: maskedAt(masked.after, path, MASK),
    };
  }
  return masked;
}

const MASK = '***';

function maskedAt(document: object | undefined, path: Path, mask: string): object | undefined {
  return lookUp(document, path) == null ? document : withValue(document as EntityBody, path, mask);
}

function without(value: EntityBody, [name = '', ...rest]: Path): EntityBody {
  const { [name]: member, ...others } = value;
  if (member === undefined) return value;
  if (rest.length === 0) return others;
  return isObject(member) ? { ...value, [name]: without(member as EntityBody, rest) } : value;
}

function withValue(value: EntityBody, [name = '', ...rest]: Path, set: unknown): EntityBody {
  return { ...value, [name]: rest.length === 0 ? set : withValue(value[name] as EntityBody, rest, set) };
}
