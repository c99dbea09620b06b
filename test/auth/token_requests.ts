import assert from 'node:assert/strict';
import { gps } from '../support/hall.ts';
import type { TestHub } from '../support/running_hub.ts';
import { withToken } from './authorized_hub.ts';

interface Given {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A user with the role tag-owner, who owns tag-1. The client itself has the role hub-admin. */
  readonly username: string;
  readonly password: string;
}

interface Token {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: string;
  readonly scope: string;
}

/** Requests tokens in both forms that clients use, and uses them over REST and WebSocket. */
export async function checkTokenRequests(hub: TestHub, given: Given): Promise<void> {
  const { clientId: client_id, clientSecret: client_secret, username, password } = given;
  const common = { client_id, username, password, scope: 'openid', client_secret };
  const ofClient = await requestToken(given.tokenUrl, { grant_type: 'client_credentials', ...common });
  // Some clients use this name for the field.
  const { username: user_name, ...others } = { grant_type: 'client_credentials', ...common };
  await checkAdmin(withToken(hub, (await requestToken(given.tokenUrl, { ...others, user_name })).access_token));
  const ofOwner = await requestToken(given.tokenUrl, { grant_type: 'password', ...common });
  const refused = await fetch(given.tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', ...common, password: 'wrong' }),
  });
  assert.equal(refused.status, 400);
  await checkAdmin(withToken(hub, ofClient.access_token));
  await checkOwner(hub, ofOwner.access_token);
  const forged = `${ofOwner.access_token.slice(0, -5)}AAAAA`;
  assert.equal((await withToken(hub, forged).get('/providers')).status, 401);
}

async function requestToken(url: string, form: Readonly<Record<string, string>>): Promise<Token> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const token = JSON.parse(text) as Token;
  assert.equal(token.token_type.toLowerCase(), 'bearer');
  // On a busy server, some of the 900 seconds have passed before the response.
  assert.ok(token.expires_in > 800 && token.expires_in <= 900, `${token.expires_in} s`);
  assert.ok(token.scope.split(' ').includes('openid'), token.scope);
  return token;
}

async function checkAdmin(admin: TestHub): Promise<void> {
  for (const id of ['tag-1', 'tag-9']) {
    const { status, text } = await admin.put(`/providers/${id}/location`, gps(id));
    assert.equal(status, 204, text);
  }
  assert.deepEqual((await admin.get('/providers')).body.sort(), ['tag-1', 'tag-9']);
  const socket = await admin.socket();
  const events = await socket.subscribe('location_updates');
  socket.publish('location_updates', gps('tag-9'));
  assert.equal((await events.next()).provider_id, 'tag-9');
  await socket.close();
}

async function checkOwner(hub: TestHub, token: string): Promise<void> {
  const owner = withToken(hub, token);
  assert.deepEqual((await owner.get('/providers')).body, ['tag-1']);
  assert.equal((await owner.get('/providers/tag-9')).status, 403);
  assert.equal((await owner.get('/zones')).status, 403);
  // The frame contains the token, as WebSocket clients send it.
  const socket = await hub.socket();
  const events = await socket.subscribe('location_updates', { provider_id: 'tag-1', token });
  assert.equal((await owner.put('/providers/tag-1/location', gps('tag-1'))).status, 204);
  assert.equal((await events.next()).provider_id, 'tag-1');
  const frames = await socket.ask({
    event: 'subscribe',
    topic: 'location_updates',
    params: { provider_id: 'tag-9', token },
  });
  assert.equal(frames[0]?.code, 10004);
  await socket.close();
}
