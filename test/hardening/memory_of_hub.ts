import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { HubProcess } from '../durability/hub_process.ts';
import type { TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

export const MIB = 2 ** 20;

/** A hub in a separate process, whose memory can be measured. */
export async function startHub(settings: TestSettings = {}, folder = temporaryFolder()): Promise<HubProcess> {
  const hub = await HubProcess.start(folder, settings);
  // The first requests allocate memory that remains.
  for (let n = 0; n < 20; n++) await hub.get('/version');
  return hub;
}

function rssOf(hub: HubProcess): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

/** Peak memory of the hub during an action, in bytes above its earlier memory. */
export async function growthOf(hub: HubProcess, attack: () => Promise<void>): Promise<number> {
  const before = rssOf(hub);
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, rssOf(hub));
  }, 20);
  await attack();
  clearInterval(look);
  return Math.max(most, rssOf(hub)) - before;
}

/** A connection for raw bytes that counts received bytes. */
export class Attacker {
  readonly socket: Socket;
  received = '';

  /** Half-open: it continues after the hub has closed its side. */
  constructor(t: TestContext, hub: HubProcess, allowHalfOpen = false) {
    const { hostname, port } = new URL(hub.base);
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen });
    this.socket.on('error', () => undefined);
    t.after(() => this.socket.destroy());
  }

  /** Reads a response. Resolves to its first line, or to an empty string if the connection closes without one. */
  answer(): Promise<string> {
    return new Promise((resolve) => {
      const lineOf = () => this.received.split('\r\n')[0] ?? '';
      this.socket.on('data', (chunk: Buffer) => {
        this.received += String(chunk);
        if (this.received.includes('\r\n')) resolve(lineOf());
      });
      this.socket.once('close', () => resolve(lineOf()));
    });
  }

  /** Sends all bytes, as far as the hub reads them. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('close', () => resolve());
      this.socket.write(bytes, () => resolve());
    });
  }
}
