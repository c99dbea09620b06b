import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntries } from '../../src/model/audit.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { HubProcess } from './hub_process.ts';

const ROUNDS = 3;
const WRITERS = 8;
/** Acknowledged changes after which the hub is killed. */
const ENOUGH = 40;

test('After kill -9, the audit log has one entry for each stored change, and none for others', async () => {
  const folder = temporaryFolder();
  const acknowledged = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const hub = await HubProcess.start(folder);
    let crash: Promise<unknown> | undefined;
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; crash === undefined; i++) {
        const id = `${round}-${writer}-${i}`;
        const answered = await hub.request('POST', '/providers', { id, type: 'uwb' });
        if (answered === undefined) return;
        assert.equal(answered.status, 201, JSON.stringify(answered.body));
        acknowledged.add(id);
        if (acknowledged.size >= (round + 1) * ENOUGH) crash ??= hub.crash();
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    await crash;
  }
  const hub = await HubProcess.start(folder);
  const stored = (await hub.request('GET', '/providers'))?.body as string[];
  const audited: string[] = [];
  for (let at = '', hasMore = true; hasMore; ) {
    const answered = await hub.request('GET', `/audit?limit=1000${at}`);
    const page = answered?.body as AuditEntries;
    audited.push(...page.entries.map(({ id }) => id));
    at = `&cursor=${page.next}`;
    hasMore = page.has_more;
  }
  await hub.crash();
  assert.ok(acknowledged.size >= ROUNDS * ENOUGH);
  assert.deepEqual(acknowledged.difference(new Set(stored)), new Set());
  assert.deepEqual(audited.toSorted(), stored.toSorted());
});
