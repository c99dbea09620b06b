import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { documentOf, ROOT } from './documents.ts';
import { pasted, whyNotPasted } from './pasted.ts';

const skip = whyNotPasted();

/** Pastes a tutorial into a shell, with a hub of its own. */
async function follow(
  t: TestContext,
  name: string,
  without: readonly string[],
): Promise<{ hub: TestHub; out: string }> {
  const path = `docs/tutorials/${name}.md`;
  const folder = temporaryFolder();
  const hub = await openTestHub();
  t.after(async () => {
    await hub.close();
  });
  const port = String(hub.hub.port);
  const out = await pasted(documentOf(path, readFileSync(ROOT + path, 'utf8')), {
    replaced: { '127.0.0.1:8081': `127.0.0.1:${port}`, '/tmp/': `${folder}/` },
    env: { HUB_PORT: port },
    without,
  });
  return { hub, out };
}

test('The tutorial of a geofence ends with an entry, an exit and an acknowledged alert', { skip }, async (t) => {
  const { hub, out } = await follow(t, 'geofence', ['npm start', 'npm run tail']);
  assert.match(out, /"event_type":"region_entry".*"event_type":"region_exit"/s);
  assert.match(out, /"name":"A truck has arrived".*"state":"raised"/s);
  const [alert] = (await hub.get('/alerts')).body;
  assert.equal(alert.state, 'cleared');
});

test('The tutorial of a data source ends with two tags where the text says', { skip }, async (t) => {
  const { hub, out } = await follow(t, 'data-source', []);
  assert.match(out, /^204$/m);
  const { body } = await hub.get('/providers/locations?crs=local&zone_id=hall-4');
  const places = body.map(({ provider_id: id, position: { coordinates } }: Located) => [id, ...coordinates]);
  const round = (value: unknown) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  assert.deepEqual(places.map((place: readonly unknown[]) => place.map(round)).toSorted(), [
    ['hall-4-7', 12.5, 7.85],
    ['hall-4-8', 88, 31.4],
  ]);
  assert.match(out, /hall-4-7/);
});

interface Located {
  readonly provider_id: string;
  readonly position: { readonly coordinates: readonly number[] };
}
