import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A location in the middle of nowhere: the hub has no zones. */
const LOCATION = { provider_id: 'tag-1', provider_type: 'gps', source: 'outdoors', crs: 'EPSG:4326' };
const POSITION = { type: 'Point', coordinates: [8.4, 49.0] };

/** A program that starts a hub, with only these environment variables. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts a hub, sends a location, reads the location and the web UI, and stops the hub. `also` checks more of the running
 * hub.
 */
export async function usesHub({ command, args, cwd, env }: Program, also?: (url: URL) => void): Promise<void> {
  const hub = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...env, HUB_PORT: '0', HUB_HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(hub, 'exit');
  try {
    const url = await addressOf(hub.stdout);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    const body = JSON.stringify([{ ...LOCATION, position: POSITION }]);
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(`${url}/hub/v2/providers/locations`, { method: 'PUT', headers, body });
    assert.equal(sent.status, 204);
    const listed = (await (await fetch(`${url}/hub/v2/providers/tag-1/location`)).json()) as { position: object };
    assert.deepEqual(listed.position, POSITION);
    for (const path of ['/hub-ui/', '/hub/docs', '/hub/docs/swagger-ui-bundle.js']) {
      assert.equal((await fetch(url + path)).status, 200, path);
    }
    also?.(new URL(url));
  } finally {
    hub.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  }
}

async function addressOf(printed: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(printed)) {
    const address = line.match(/^ +API +(http:.+)\/hub\/v2$/)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('The hub ended without naming its address');
}
