import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Document } from './json_schema.ts';
import { type Names, namesIn } from './named.ts';
import { readReferenceDocument } from './reference.ts';

/** Names of the public omlox Hub API, stored here so that they can be tested without the reference. */
const LIST = new URL('omlox_names.json', import.meta.url);
const { $comment, ...omlox } = JSON.parse(readFileSync(LIST, 'utf8')) as Names & { readonly $comment: string };
const reference = readReferenceDocument();
const skip = reference ? false : 'the reference is not here';

/** A PUT in the reference, but a WebSocket. */
const SOCKET = 'PUT /ws/socket';
const DOCUMENTS = ['v1/openapi.json', 'v1/openapi-3.0.json', 'v2/openapi.json', 'v2/openapi-3.0.json'];
/** Names that differ in v1, with the reason. */
const OTHER_REPLIES: Readonly<Record<string, string>> = {
  'GET /trackables/{trackable_id}/providers': 'v1 names related entities by their ids',
  'GET /providers/{provider_id}/trackables': 'v1 names related entities by their ids',
};

describe('the names of the omlox Hub API', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub();
  });
  after(() => hub.close());

  it('are those of the reference', { skip }, () => {
    assert.deepEqual(omlox, namesIn(reference ?? {}));
  });

  for (const path of DOCUMENTS) {
    it(`are those of ${path} for all operations that it has`, async (t) => {
      const { status, body } = await hub.get(`${hub.origin}/hub/${path}`);
      assert.equal(status, 200);
      const own = namesIn(body as unknown as Document);
      for (const [title, { id, tag, body, reply }] of Object.entries(omlox.operations)) {
        if (title === SOCKET) continue;
        const named = own.operations[title];
        const isOther = reply === null || (path.startsWith('v1') && title in OTHER_REPLIES);
        const wanted = { id: id ?? named?.id, tag, body, reply: isOther ? named?.reply : reply };
        assert.deepEqual(named, wanted, title);
      }
      assert.deepEqual(
        omlox.schemas.filter((name) => !own.schemas.includes(name)),
        [],
      );
      for (const [key, name] of Object.entries(omlox.parameters)) assert.equal(own.parameters[key], name);
      t.diagnostic(`${Object.keys(omlox.operations).length} operations and ${omlox.schemas.length} schemas`);
    });
  }
});
