import assert from 'node:assert/strict';
import { test } from 'node:test';
import { search } from './takeover_model.ts';

test('All promises hold in every state with two locations, a failure and a handover', () => {
  const { broken, actions, states } = search({ locations: [2, 0], failures: 1, handovers: 1 });
  assert.equal(broken, undefined, actions.join(', '));
  assert.ok(states > 100_000, `${states} states`);
});
