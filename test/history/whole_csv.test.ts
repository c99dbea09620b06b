import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { get as request } from 'node:http';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { COLUMNS, copyTo } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import { HOUR_MS, pathOf } from '../../src/history/layout.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { NOW_MS } from './recorded_places.ts';

/** More than a reply lists by default, and more than are fetched at once. Some of them have equal times. */
const PLACES = 120_003;
const PART = { topic: 'locations', hourMs: NOW_MS, first: 1, last: 1 } as const;
const SPAN = `from=${new Date(NOW_MS).toISOString()}&to=${new Date(NOW_MS + HOUR_MS).toISOString()}`;

async function writePlaces(folder: string): Promise<void> {
  const values: Readonly<Record<string, string>> = {
    ...{ time: `make_timestamptz(${1000 * NOW_MS} + (i // 7) * 100000)`, id: "'tag'", source: 'i::VARCHAR' },
    ...{ longitude: 'i / 1e5', latitude: '50.0' },
  };
  const columns = Object.entries(COLUMNS.locations).map(
    ([name, type]) => `(${values[name] ?? 'NULL'})::${type} AS ${name}`,
  );
  const path = join(folder, pathOf(PART));
  mkdirSync(dirname(path), { recursive: true });
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  await duck.run(copyTo(path, `SELECT ${columns} FROM range(${PLACES}) t(i) ORDER BY i`));
  duck.close();
}

describe('History in CSV', () => {
  let folder: string;
  let hub: TestHub;
  before(async () => {
    folder = temporaryFolder();
    await writePlaces(folder);
    hub = await openTestHub({ history: true, history_path: folder, history_retention_days: 36_500 });
  });
  after(async () => {
    await hub.close();
  });

  test('has all positions without a limit, one header, and no further pages', async () => {
    const { status, text, headers } = await hub.get(`/providers/tag/history?${SPAN}&format=csv`);
    assert.equal(status, 200);
    assert.equal(headers.link, undefined);
    const [header, ...rows] = text.split('\r\n');
    assert.match(header ?? '', /^time,id,longitude/);
    assert.equal(rows.pop(), '');
    assert.equal(rows.length, PLACES);
    assert.equal(new Set(rows).size, PLACES);
    assert.ok(!rows.includes(header ?? ''));
  });

  test('has the requested number with a limit, and a link to the others', async () => {
    const { text, headers } = await hub.get(`/providers/tag/history?${SPAN}&format=csv&limit=10`);
    assert.equal(text.split('\r\n').length, 12);
    assert.match(String(headers.link), /cursor=.*; rel="next"/);
    for (const format of ['geojson', 'mfjson']) {
      const { body } = await hub.get(`/providers/tag/history?${SPAN}&format=${format}&limit=10`);
      assert.equal(typeof body.next_cursor, 'string', format);
    }
  });

  test('is no longer fetched after its client has disconnected, and others are answered', async () => {
    const url = new URL(`/v2/providers/tag/history?${SPAN}&format=csv`, hub.origin);
    for (let i = 0; i < 5; i++) {
      await new Promise<void>((resolve, reject) => {
        request(url, (response) => {
          response.once('data', () => {
            response.destroy();
            resolve();
          });
        }).on('error', reject);
      });
    }
    assert.equal((await hub.get(`/providers/tag/history?${SPAN}&limit=1`)).status, 200);
  });
});
