import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AuthorizedHub, openAuthorizedHub } from '../auth/authorized_hub.ts';
import { openAgent } from './agent.ts';

/** For each role: its permissions, and the tools that it may use. All others are refused with 403. */
const ROLES: Readonly<Record<string, { readonly rules: string; readonly tools: readonly string[] }>> = {
  lists: {
    rules: `'/v2/trackables/*': [READ_ANY]\n  '/v2/providers/*': [READ_ANY]\n  '/v2/zones/*': [READ_ANY]\n  '/v2/fences/*': [READ_ANY]`,
    tools: ['find_object', 'where_is', 'who_is_in', 'history_of', 'explain_locating', 'hub://zones', 'hub://fences'],
  },
  finder: { rules: `'/v2/search': [READ_ANY]`, tools: ['nearest'] },
  analyst: { rules: `'/v2/analytics/*': [READ_ANY]`, tools: ['dwell', 'flows'] },
  guard: {
    rules: `'/v2/alerts/*': [READ_ANY, UPDATE_ANY]`,
    tools: ['open_alerts', 'acknowledge_alert', 'clear_alert'],
  },
  operator: { rules: `'/v2/health/*': [READ_ANY]`, tools: ['health'] },
  designer: { rules: `'/v2/fences/*': [CREATE_ANY]`, tools: ['create_fence'] },
  remover: { rules: `'/v2/fences/*': [DELETE_ANY]`, tools: ['delete_fence'] },
};
const CALLS: Readonly<Record<string, object>> = {
  find_object: { text: 'any' },
  where_is: { id: 'any' },
  who_is_in: { fence_id: 'any' },
  nearest: { longitude: 9, latitude: 50 },
  dwell: {},
  flows: {},
  history_of: { id: 'any' },
  explain_locating: { trackable_id: 'any' },
  open_alerts: {},
  health: {},
  acknowledge_alert: { alert_id: 'any' },
  clear_alert: { alert_id: 'any' },
  create_fence: { name: 'Any', longitude: 9, latitude: 50, radius: 1 },
  delete_fence: { fence_id: 'any' },
};

describe('Tools and resources have the permissions of REST:', () => {
  let opened: AuthorizedHub;
  before(async () => {
    const roles = Object.entries(ROLES).map(([role, { rules }]) => `${role}:\n  ${rules}`);
    opened = await openAuthorizedHub(`\n${roles.join('\n')}\n`, { mcp: true, mcp_write: true, history: true });
  });
  after(() => opened.close());

  async function usable(token: string | undefined, refusedBy: number): Promise<string[]> {
    const agent = await openAgent(opened.hub.origin, token);
    const found: string[] = [];
    for (const [name, args] of Object.entries(CALLS)) {
      const { isError, body } = await agent.call(name, args as Record<string, unknown>);
      // An object that does not exist is an answer as well.
      if (!isError || body.code === 404) found.push(name);
      else assert.equal(body.code, refusedBy, name);
    }
    for (const uri of ['hub://zones', 'hub://fences']) {
      const read = await agent.client.readResource({ uri }).then(
        () => true,
        (error: Error) => assert.match(error.message, new RegExp(`"code":${refusedBy}`)),
      );
      if (read === true) found.push(uri);
    }
    await agent.close();
    return found;
  }

  for (const [role, { tools }] of Object.entries(ROLES)) {
    test(`the role ${role} may use ${tools.join(', ')}`, async () => {
      assert.deepEqual(await usable(await opened.issuer.token({ roles: [role] }), 403), tools);
    });
  }

  test('an administrator may use all', async () => {
    const all = [...Object.keys(CALLS), 'hub://zones', 'hub://fences'];
    assert.deepEqual(await usable(await opened.issuer.token({ roles: ['admin'] }), 403), all);
  });

  test('an agent without a token may use none', async () => {
    assert.deepEqual(await usable(undefined, 401), []);
  });
});
