import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pairsText, readPairs, withTypesOf } from '../../src/hub-ui/controls/pairs.ts';
import { bodyOf as linkBody, formOf as linkForm, problemOf as linkProblem } from '../../src/hub-ui/links/link_form.ts';
import { meaningOf as linkMeaning, outageText, problemText } from '../../src/hub-ui/links/link_text.ts';
import { bodyOf, formatsOf, formOf, listOf, problemOf, topicsOf } from '../../src/hub-ui/sinks/sink_form.ts';
import { meaningOf, typeLabel } from '../../src/hub-ui/sinks/sink_text.ts';
import { SINKS } from '../../src/entities/sinks.ts';
import { LINKS } from '../../src/entities/links.ts';
import type { LinkState } from '../../src/model/link.ts';
import { type Sink, SINK_TYPES } from '../../src/model/sink.ts';

const ZONE = 'Europe/Berlin';

/** A body as the hub receives it. */
const sent = (body: object): Record<string, unknown> => JSON.parse(JSON.stringify(body));

const WEBHOOK: Sink = {
  id: 'a',
  name: 'Warehouse',
  type: 'webhook',
  url: 'https://hooks.example.com/',
  topics: ['fence_events'],
  params: { floor: 2, event_type: 'region_entry' },
  format: 'plain',
  timeout: 5_000,
};
const EMAIL: Sink = {
  id: 'b',
  name: 'Shift',
  type: 'email',
  url: 'smtp://mail.example.com',
  topics: [],
  sender: 'hub@example.com',
  recipients: ['kim@example.com', 'lee@example.com'],
  digest_interval: 30_000,
  quiet_hours: { from: '22:00', to: '06:00' },
};

test('Saving the form of an unchanged sink changes nothing', () => {
  assert.deepEqual(sent(bodyOf(formOf(WEBHOOK, ZONE), WEBHOOK)), { ...WEBHOOK });
  const { quiet_hours, ...rest } = EMAIL;
  // Quiet hours without a time zone are in UTC, whatever the zone of the page.
  assert.deepEqual(sent(bodyOf(formOf(EMAIL, ZONE), EMAIL)), {
    ...rest,
    quiet_hours: { ...quiet_hours, time_zone: 'UTC' },
  });
});

test('A sink whose type changes loses the members and secrets of the former type', () => {
  const form = { ...formOf(WEBHOOK, ZONE), type: 'email' as const, url: EMAIL.url, sender: 'hub@example.com' };
  const body = sent(bodyOf({ ...form, recipients: 'kim@example.com; lee@example.com' }, WEBHOOK));
  assert.deepEqual([body['secret'], body['headers'], body['format']], [null, null, undefined]);
  assert.deepEqual(SINKS.check({ ...body, id: 'a' } as never).recipients, ['kim@example.com', 'lee@example.com']);
});

test('The secrets of a sink are retained, replaced or deleted as the inputs say', () => {
  const form = formOf(WEBHOOK, ZONE);
  const table = [
    [{ text: '', isDeleted: false }, undefined, undefined],
    [{ text: 'X: 1', isDeleted: false }, 'X: 1', { X: '1' }],
    [{ text: '', isDeleted: true }, null, null],
  ] as const;
  for (const [input, secret, headers] of table) {
    const body = sent(bodyOf({ ...form, secret: input, headers: input }, WEBHOOK));
    assert.deepEqual([body['secret'], body['headers']], [secret, headers]);
  }
});

test('A new sink of every type has a name in the form, and only members of its type', () => {
  for (const type of SINK_TYPES) {
    assert.notEqual(typeLabel(type), '');
    const body = sent(bodyOf({ ...formOf(undefined, ZONE), type, name: 'A', url: 'https://a' }, undefined));
    assert.ok(!('headers' in body) && body['secret'] == null, type);
  }
});

test('A format that a type lacks is not sent', () => {
  assert.deepEqual(formatsOf('kafka'), ['cloudevents', 'plain']);
  const form = { ...formOf(WEBHOOK, ZONE), format: 'cloudevents_batch' } as const;
  assert.equal(sent(bodyOf(form, WEBHOOK))['format'], 'cloudevents_batch');
  assert.equal(sent(bodyOf({ ...form, type: 'kafka' as never }, WEBHOOK))['format'], undefined);
});

test('A sink of another hub has the topic, the token and the client credentials of a link', () => {
  const hub = { ...formOf(undefined, ZONE), name: 'A', url: 'https://hub/v2', type: 'hub' as never };
  assert.equal(problemOf({ ...hub, way: 'token' })?.params?.path, 'secret');
  const withToken = sent(bodyOf({ ...hub, way: 'token', token: 'abc', topics: topicsOf('hub') }, undefined));
  assert.deepEqual(
    [withToken['topics'], withToken['secret'], withToken['oidc']],
    [['location_updates'], 'abc', undefined],
  );
  const changed = sent(bodyOf({ ...formOf(WEBHOOK, ZONE), type: 'hub' as never }, WEBHOOK));
  assert.equal(changed['secret'], null, 'a signing key is no token');
  const oidc = { token_url: 'https://auth/token', client_id: 'hub' };
  const stored = { ...WEBHOOK, type: 'hub', topics: ['location_updates'], format: undefined, oidc } as never;
  const body = sent(bodyOf(formOf(stored, ZONE), stored));
  assert.deepEqual([body['secret'], body['oidc']], [null, oidc]);
});

test('An incomplete form names the input', () => {
  const form = formOf(WEBHOOK, ZONE);
  for (const [changed, path] of [
    [{ name: ' ' }, 'name'],
    [{ url: '' }, 'url'],
    [{ params: 'floor' }, 'params'],
    [{ headers: { text: 'no colon', isDeleted: false } }, 'headers'],
    [{ quietFrom: '22:00' }, 'quiet_hours'],
  ] as const) {
    assert.equal(problemOf({ ...form, ...changed })?.params?.path, path);
  }
  assert.equal(problemOf(form), undefined);
  const link = linkForm({ id: 'l', name: 'L', url: 'http://hub/v2' });
  for (const [changed, path] of [
    [{ name: '' }, 'name'],
    [{ url: ' ' }, 'url'],
    [{ topics: [] }, 'topics'],
    [{ way: 'token' }, 'token'],
    [{ sources: 'hall' }, 'sources'],
  ] as const) {
    assert.equal(linkProblem({ ...link, ...changed })?.params?.path, path);
  }
});

test('Pairs are read as written, and unchanged values keep their types', () => {
  const pairs = { floor: 2, event_type: 'region_entry', near: true };
  const text = pairsText(pairs, '=');
  assert.equal(text, 'floor = 2\nevent_type = region_entry\nnear = true');
  assert.deepEqual(withTypesOf(pairs, readPairs(text, '=') as Record<string, string>), pairs);
  assert.deepEqual(withTypesOf(pairs, { floor: '3' }), { floor: '3' });
  assert.deepEqual(readPairs('Authorization: Basic a==\n\n  X:  y: z ', ':'), {
    Authorization: 'Basic a==',
    X: 'y: z',
  });
  assert.equal(readPairs('a = 1\n= 2', '='), '= 2');
  assert.deepEqual(listOf('a@b, c@d;\n e@f\n'), ['a@b', 'c@d', 'e@f']);
});

test('The sign-in of a link is retained, removed or replaced', () => {
  const oidc = { token_url: 'https://auth/token', client_id: 'hub', scope: 'rtls' };
  const stored = { id: 'l', name: 'L', url: 'http://hub/v2', topics: ['location_updates' as const], oidc };
  const body = (changed: object): Record<string, unknown> =>
    sent(linkBody({ ...linkForm(stored), ...changed }, stored));
  assert.deepEqual(body({}), { ...stored, token: null });
  assert.deepEqual(LINKS.check(body({}) as never).oidc, oidc);
  assert.deepEqual(body({ way: 'none' })['oidc'], undefined);
  assert.equal(body({ way: 'token', token: 'abc' })['token'], 'abc');
  const { oidc: _, ...plain } = stored;
  const kept = sent(linkBody(linkForm(plain), { ...plain, state: { status: 'connected' } } as never));
  assert.deepEqual(kept, plain, 'the state is not sent');
});

test('States are sentences', () => {
  const nowMs = Date.parse('2026-11-27T12:00:00Z');
  const status = { id: 'a', state: 'failing', delivering: true } as const;
  assert.equal(meaningOf(status, nowMs), 'Events cannot be delivered.');
  assert.equal(
    meaningOf({ ...status, retry_at: '2026-11-27T12:00:30Z' }, nowMs),
    'The last attempt failed. The next one is in 30 s.',
  );
  assert.equal(meaningOf({ ...status, state: 'active', waiting: 3 }, nowMs), 'Events are being delivered.');
  assert.equal(meaningOf({ ...status, state: 'active', error: 'bad filter' }, nowMs), 'Events cannot be delivered.');
  const state = {
    status: 'waiting',
    down_from: '2026-11-27T11:59:00Z',
    last_error: 'Cannot reach it',
  } as unknown as LinkState;
  const link = { id: 'l', name: 'L', url: 'http://hub/v2', state };
  assert.equal(problemText(link, nowMs), 'Down for 60 s: Cannot reach it');
  assert.match(linkMeaning(link, nowMs), /^Down since .*, 60 s ago\./);
  assert.equal(outageText(state), undefined);
  assert.match(outageText({ ...state, down_to: '2026-11-27T11:59:30Z' }) ?? '', / to /);
  assert.match(linkMeaning({ ...link, enabled: false }, nowMs), /resumed/);
});
