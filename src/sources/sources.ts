import { createHash, timingSafeEqual } from 'node:crypto';
import { type DefinedWrite, Documents, type DocumentsDeps, withMaskedSecrets } from '../entities/documents.ts';
import { withId } from '../entities/body.ts';
import { SOURCES } from '../entities/sources.ts';
import { errorOfAll, hubError } from '../errors.ts';
import type { Author } from '../model/audit.ts';
import { show } from '../model/error_value_text.ts';
import { isObject } from '../model/json_tree.ts';
import type { Source, SourcePreview, SourceStatus } from '../model/source.ts';
import { Intake, type IntakeDeps, type ReceivedPayload } from './intake.ts';
import type { PreviewContext, Sample } from './preview.ts';
import type { SourceRunner, SourceRunnerDeps } from './source_runner.ts';

/**
 * The sources of a hub: systems whose payloads it maps to locations. Two settings are stored for each:
 *
 *   `source <id>`         the source, as its clients define it, with its secrets
 *   `source_token <id>`   hash of the token with which an http source posts
 *
 * In a cluster all hubs apply these settings. Sources that send to the hub, http and udp, may send to any of them. To the
 * others exactly one hub connects: the owner of the partition to which the source's id belongs. When it fails, the new
 * owner connects.
 *
 *   post, datagram, message, line, response ──▶ Intake: rate limit, decode, map ──▶ ingest
 */
export interface SourcesDeps extends SourceRunnerDeps, IntakeDeps, Pick<PreviewContext, 'zones' | 'zone'> {
  newId(): string;
  /** Returns a token with at least 128 random bits. */
  newToken(): string;
  readonly commit: DocumentsDeps['commit'];
  /** Whether this hub connects to a source. */
  isElected(id: string): boolean;
  /** Ports on which sources may receive datagrams. */
  readonly udpPorts: readonly number[];
}

const TOKEN = 'source_token ';
/** Maximum problems in the error of a refused payload. */
const PROBLEMS_MAX = 10;

interface StoredToken {
  /** SHA-256, in base64url. */
  readonly hash: string;
}

interface Running {
  /** The version of the source for which it was started. */
  readonly source: Source;
  readonly intake: Intake;
  /** Undefined for a source that posts, and while its code is loaded. */
  runner: SourceRunner | undefined;
  isClosed: boolean;
}

export class Sources {
  readonly documents: Documents<Source>;
  readonly #deps: SourcesDeps;
  readonly #tokens = new Map<string, StoredToken>();
  readonly #running = new Map<string, Running>();
  #isStarted = false;

  constructor(deps: SourcesDeps) {
    this.#deps = deps;
    const { newId, commit } = deps;
    this.documents = new Documents(SOURCES, {
      newId,
      commit: async (documents, logged) => {
        const tokens = documents.flatMap(([name, document]): readonly DefinedWrite[] => {
          const id = name.slice(SOURCES.prefix.length);
          return document === undefined && this.#tokens.has(id) ? [[TOKEN + id, undefined]] : [];
        });
        const applied = await commit([...documents, ...tokens], logged);
        if (applied === undefined) for (const [name] of tokens) this.apply(name, null);
        return applied;
      },
      changed: () => this.elect(),
      admit: (source) => this.#admit(source),
    });
  }

  /** Applies a stored setting; null if it was deleted. Returns false if the setting is not about sources. */
  apply(name: string, json: string | null): boolean {
    if (this.documents.apply(name, json)) return true;
    if (!name.startsWith(TOKEN)) return false;
    const id = name.slice(TOKEN.length);
    if (json === null) this.#tokens.delete(id);
    else this.#tokens.set(id, JSON.parse(json) as StoredToken);
    return true;
  }

  /** Connects to the sources. All stored settings must have been applied. */
  start(): void {
    this.#isStarted = true;
    this.elect();
  }

  /** Disconnects. Payloads that arrive later are rejected. */
  close(): void {
    this.#isStarted = false;
    for (const [id, running] of this.#running) this.#stop(id, running);
  }

  /** Starts and stops sources until they match the stored ones and the election of hubs. */
  elect(): void {
    if (!this.#isStarted) return;
    const wanted = new Map(
      this.documents.list.filter((source) => this.#isHere(source)).map((source) => [source.id, source]),
    );
    for (const [id, running] of this.#running) if (wanted.get(id) !== running.source) this.#stop(id, running);
    for (const [id, source] of wanted) if (!this.#running.has(id)) this.#start(id, source);
  }

  /** Returns the status of all sources, in the order of `documents`. */
  statuses(): readonly SourceStatus[] {
    return this.documents.list.map(({ id }) => this.status(id));
  }

  /** Throws HUB_NOT_FOUND. */
  status(id: string): SourceStatus {
    const source = this.documents.get(id);
    const running = this.#running.get(source.id);
    const counts = running?.intake.status() ?? NOTHING;
    const connection = running?.runner?.status() ?? { failures: 0 };
    return { id: source.id, state: this.#stateOf(source, running), ...counts, ...connection };
  }

  /** Replaces the token of an http source; former ones are no longer valid. Rejects with HUB_NOT_FOUND and HUB_BAD_REQUEST. */
  async rotateToken(id: string, by?: Author): Promise<{ readonly token: string }> {
    const source = this.documents.get(id);
    if (source.kind !== 'http') throw hubError('source_not_http', { id: source.id });
    const token = this.#deps.newToken();
    const stored: StoredToken = { hash: hashOf(token).toString('base64url') };
    const name = TOKEN + source.id;
    const masked = withMaskedSecrets({ token: '' }, { token }, { secrets: { paths: [['token']], receivers: [] } });
    const audited = by === undefined ? [] : [{ kind: 'source', id: source.id, by, ...masked } as const];
    const applied = await this.#deps.commit([[name, stored]], { audited });
    if (applied === undefined) this.apply(name, JSON.stringify(stored));
    return { token };
  }

  /**
   * Accepts a payload that was posted with a token. Returns the promise for which the response must wait, if any. Throws
   * HUB_NOT_FOUND; HUB_NOT_AUTHENTICATED; HUB_BAD_REQUEST if every item is refused;
   * HUB_TOO_MANY_REQUESTS; and HUB_UNAVAILABLE.
   */
  post(id: string, token: string | undefined, payload: ReceivedPayload): Promise<void> | undefined {
    const source = this.documents.get(id);
    const stored = this.#tokens.get(source.id);
    const isValid =
      token !== undefined &&
      stored !== undefined &&
      timingSafeEqual(hashOf(token), Buffer.from(stored.hash, 'base64url'));
    if (!isValid) throw hubError('source_token', { id: source.id });
    const running = this.#running.get(source.id);
    if (running === undefined) throw hubError('source_disabled', { id: source.id });
    const result = running.intake.accept(payload);
    switch (result.what) {
      case 'flooded':
        throw hubError('source_flooded', { id: source.id, limit: running.intake.limit });
      case 'busy':
        throw result.error;
      case 'refused':
        throw errorOfAll(result.problems, PROBLEMS_MAX);
      case 'accepted':
        return result.committed;
    }
  }

  /** Returns what a source would make of a sample. Rejects with HUB_BAD_REQUEST for an invalid source. */
  async preview(body: unknown, sample: Sample): Promise<SourcePreview> {
    if (!isObject(body)) throw hubError('not_an_object', { path: 'source', found: show(body) });
    const source = SOURCES.check(withId({ name: 'preview', ...body }, 'preview'));
    const { previewOf } = await import('./preview.ts');
    const { zones, zone } = this.#deps;
    return previewOf(source, sample, { nowMs: this.#deps.now(), zones, zone });
  }

  #isHere({ id, kind, enabled }: Source): boolean {
    if (enabled === false) return false;
    return kind === 'http' || kind === 'udp' || this.#deps.isElected(id);
  }

  #stateOf(source: Source, running: Running | undefined): SourceStatus['state'] {
    if (source.enabled === false) return 'disabled';
    if (running === undefined) return 'elsewhere';
    return running.runner?.status().state ?? (source.kind === 'http' ? 'receiving' : 'connecting');
  }

  #start(id: string, source: Source): void {
    const running: Running = { source, intake: new Intake(source, this.#deps), runner: undefined, isClosed: false };
    this.#running.set(id, running);
    if (source.kind === 'http') return;
    import('./source_runner.ts').then(
      ({ SourceRunner: Runner }) => {
        if (!running.isClosed) running.runner = new Runner(source, { intake: running.intake, deps: this.#deps });
      },
      (error: unknown) =>
        this.#deps.warn('A source cannot be started', { source: source.name, id, error: String(error) }),
    );
  }

  #stop(id: string, running: Running): void {
    running.isClosed = true;
    running.runner?.close();
    this.#running.delete(id);
  }

  /** Throws HUB_BAD_REQUEST for an address or a port that is not allowed. */
  #admit({ url, port }: Source): void {
    if (port != null && !this.#deps.udpPorts.includes(port)) {
      throw hubError('source_port_not_allowed', { path: 'port', found: String(port) });
    }
    const why = url == null ? undefined : this.#deps.whyNotHost(new URL(url).hostname);
    if (why !== undefined)
      throw hubError('source_host_not_allowed', { path: 'url', found: show(url) }, { detail: why });
  }
}

const NOTHING = { received: 0, mapped: 0, skipped: 0, refused: 0, refused_by: {}, throttled: 0 };

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
