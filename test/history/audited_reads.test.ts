import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntries } from '../../src/model/audit.ts';
import { openTestHub } from '../support/running_hub.ts';
import type { TestHub } from '../support/test_hub.ts';
import { walk } from './walk.ts';

const SPAN = 'from=2026-11-29T10:00:00Z&to=2026-11-29T11:00:00Z';

async function reads(hub: TestHub, query = ''): Promise<AuditEntries['entries']> {
  const { status, body } = await hub.get(`/audit?kind=read${query}`);
  assert.equal(status, 200);
  return (body as AuditEntries).entries;
}

test('Each read of the history has an entry with its objects and its span', async (t) => {
  const hub = await openTestHub({ history: true }, { isAlone: true });
  t.after(hub.close);
  await walk(hub, 2);
  const asked = [
    `/providers/a/history?${SPAN}`,
    `/providers/a/history?${SPAN}&format=csv`,
    `/history/tracks?${SPAN}&kind=provider`,
    `/history/snapshot?at=2026-11-29T10:30:00Z&kind=provider&bbox=9,50,9.1,50.1`,
    `/history/events?${SPAN}&topic=fence_events&provider_id=a,b`,
  ];
  for (const path of asked) {
    const { status, text } = await hub.get(path);
    assert.equal(status, 200, `${path} ${text}`);
  }
  const [from, to] = ['2026-11-29T10:00:00.000Z', '2026-11-29T11:00:00.000Z'];
  const entries = await reads(hub);
  assert.deepEqual(
    entries.map(({ id, action, via, patch, read }) => [id, action, via, patch, read]),
    [
      ['a', 'read', 'rest', undefined, { question: 'places', ids: ['a'], from, to }],
      ['a', 'read', 'rest', undefined, { question: 'places', ids: ['a'], from, to }],
      ['', 'read', 'rest', undefined, { question: 'tracks', from, to }],
      [
        ...['', 'read', 'rest', undefined],
        {
          question: 'snapshot',
          from: '2026-11-29T10:30:00.000Z',
          to: '2026-11-29T10:30:00.000Z',
          bbox: [9, 50, 9.1, 50.1],
        },
      ],
      ['', 'read', 'rest', undefined, { question: 'events', ids: ['a', 'b'], from, to }],
    ],
  );
  // Both ids of the last one.
  assert.equal((await reads(hub, '&id=b')).length, 1);
  assert.equal((await reads(hub, '&id=a')).length, 3);
});

test('A hub with audit_reads false records changes only', async (t) => {
  const hub = await openTestHub({ history: true, audit_reads: false }, { isAlone: true });
  t.after(hub.close);
  await walk(hub, 1);
  assert.equal((await hub.get(`/history/tracks?${SPAN}&kind=provider`)).status, 200);
  assert.deepEqual(await reads(hub), []);
  assert.ok(((await hub.get('/audit')).body as AuditEntries).entries.length > 0);
});
