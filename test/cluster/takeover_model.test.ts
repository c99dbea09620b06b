import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ModelOptions, RULES, search } from './takeover_model.ts';

/** Small enough for every state to be visited, large enough to break without any of the rules. */
const SITES: readonly Pick<ModelOptions, 'locations' | 'failures' | 'handovers'>[] = [
  { locations: [2, 0], failures: 1, handovers: 0 },
  { locations: [2, 0], failures: 0, handovers: 1 },
  { locations: [1, 1], failures: 1, handovers: 0 },
  { locations: [1, 0], failures: 2, handovers: 0 },
  { locations: [1, 0], failures: 0, handovers: 2 },
  { locations: [1, 0], failures: 1, handovers: 1 },
];

for (const site of SITES) {
  const { locations, failures, handovers } = site;
  test(`All promises hold in every state with ${locations.join(' and ')} locations, ${failures} failures and ${handovers} handovers`, () => {
    const { broken, actions, states } = search(site);
    assert.equal(broken, undefined, actions.join(', '));
    assert.ok(states > 1000, `${states} states`);
  });
}

for (const without of RULES) {
  test(`A promise is broken without the rule "${without}"`, () => {
    const broken = SITES.some((site) => search({ ...site, without }).broken !== undefined);
    assert.equal(broken, true);
  });
}
