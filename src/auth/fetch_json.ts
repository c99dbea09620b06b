/** Fetch function for the identity server, with the hub's proxy and TLS settings. */
export type Fetch = (url: string, init: { readonly signal: AbortSignal; readonly headers: object }) => Promise<Fetched>;

interface Fetched {
  readonly ok: boolean;
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array> | null;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1 << 20;

/**
 * Fetches a JSON object. Rejects with an Error that contains the address if the response is invalid or takes too long.
 */
export async function fetchJson(
  url: string,
  { fetch, signal }: { readonly fetch: Fetch; readonly signal: AbortSignal },
): Promise<Readonly<Record<string, unknown>>> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let text: string;
  try {
    const response = await fetch(url, { signal: limited, headers: { Accept: 'application/json' } });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    text = await textOf(response.body);
  } catch (cause) {
    throw new Error(`Cannot get ${url}: ${reasonOf(cause)}`, { cause });
  }
  const value = parse(text);
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  throw new Error(`Cannot get ${url}: it did not answer with a JSON object`);
}

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`it answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the reason of a failure. fetch reports all failures as "fetch failed", with the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name;
}
