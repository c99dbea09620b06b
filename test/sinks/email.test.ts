import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { OutgoingTargets } from '../../src/entities/outgoing_targets.ts';
import type { QueuedEvent } from '../../src/sinks/delivery_queue.ts';
import { endOfQuietHours } from '../../src/sinks/email.ts';
import { openSender } from '../../src/sinks/open_sender.ts';
import type { OpenedSender, SenderDeps } from '../../src/sinks/sender.ts';
import { schedule } from '../../src/time/clock.ts';

interface Mailbox {
  readonly port: number;
  readonly mails: { readonly to: readonly string[]; readonly text: string }[];
}

/** An SMTP server that stores mails, and accepts only one user. */
async function openMailbox(t: TestContext, { limit }: { readonly limit?: number } = {}): Promise<Mailbox> {
  const mails: Mailbox['mails'] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    ...(limit !== undefined && { size: limit }),
    onAuth({ username, password }, _session, done) {
      if (username === 'hub' && password === 'correct') done(null, { user: username });
      else done(new Error('Invalid user or password'));
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        if (stream.sizeExceeded === true) {
          done(Object.assign(new Error('Message exceeds fixed maximum message size'), { responseCode: 552 }));
          return;
        }
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: Buffer.concat(parts).toString() });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  t.after(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { mails, port: (server.server.address() as AddressInfo).port };
}

function open(port: number, { secret = 'hub:correct', allowed = ['127.0.0.1'] } = {}): Promise<OpenedSender> {
  const targets = new OutgoingTargets('sink_allowed_hosts', allowed);
  const deps: SenderDeps = {
    now: Date.now,
    schedule,
    fetch: () => assert.fail('no request is sent'),
    whyNotHost: (hostname) => targets.whyNotHost(hostname),
    resolve: (hostname) => targets.resolve(hostname),
    hubId: '1',
    source: 'urn:omlox-hub:1',
  };
  const sink = { id: '1', name: 'Shift leader', type: 'email', url: `smtp://127.0.0.1:${port}`, secret } as const;
  const addresses = { sender: 'hub@example.com', recipients: ['a@example.com', 'b@example.com'] };
  return openSender({ ...sink, ...addresses, topics: ['alert_changes'], digest_interval: 60_000 }, deps);
}

const alert = (id: string, name: string): QueuedEvent => ({
  ...{ id, topic: 'alert_changes', key: id, timeMs: 1_795_000_000_000, cursor: id },
  json: JSON.stringify({ event_type: 'create', object: { severity: 'critical', name, state: 'raised' } }),
});

test('Many alerts are one mail to all recipients', async (t) => {
  const mailbox = await openMailbox(t);
  const { sender, limits } = await open(mailbox.port);
  assert.equal(limits.gatherMs, 60_000);
  const outcome = await sender.send([alert('1', 'Forklift in Dock A'), alert('2', 'Person in Dock B')]);
  assert.deepEqual(outcome, { what: 'delivered' });
  const [mail] = mailbox.mails;
  assert.deepEqual(mail?.to, ['a@example.com', 'b@example.com']);
  assert.match(mail?.text ?? '', /Subject: 2 events: 2026-11-18T11:06:40\.000Z critical: Forklift in Dock A/);
  assert.match(mail?.text ?? '', /critical: Person in Dock B \(raised\)/);
  assert.equal(mailbox.mails.length, 1);
});

test('A name of an alert cannot add headers to a mail', async (t) => {
  const mailbox = await openMailbox(t);
  const { sender } = await open(mailbox.port);
  await sender.send([alert('1', 'A\r\nBcc: c@example.com\r\n\r\nB')]);
  const [headers = ''] = (mailbox.mails[0]?.text ?? '').split('\r\n\r\n');
  assert.doesNotMatch(headers, /^Bcc:/m);
  assert.deepEqual(mailbox.mails[0]?.to, ['a@example.com', 'b@example.com']);
});

test('A wrong password, a server that is away, and one that is not allowed have a reason', async (t) => {
  const mailbox = await openMailbox(t);
  const outcomes = await Promise.all(
    [
      await open(mailbox.port, { secret: 'hub:wrong' }),
      await open(9),
      await open(mailbox.port, { allowed: ['*'] }),
    ].map(({ sender }) => sender.send([alert('1', 'A')])),
  );
  const reasons = outcomes.map((outcome) => (outcome.what === 'failed' ? outcome.why : outcome.what));
  assert.match(reasons[0] ?? '', /Invalid/);
  assert.match(reasons[1] ?? '', /ECONNREFUSED/);
  assert.match(reasons[2] ?? '', /is not public/);
  assert.equal(mailbox.mails.length, 0);
});

test('A mail that is too large is rejected', async (t) => {
  const mailbox = await openMailbox(t, { limit: 500 });
  const { sender } = await open(mailbox.port);
  const outcome = await sender.send([alert('1', 'A'.repeat(2000))]);
  assert.equal(outcome.what, 'rejected');
});

const QUIET: readonly (readonly [
  now: string,
  from: string,
  to: string,
  zone: string | undefined,
  end: string | undefined,
])[] = [
  ['2026-11-27T21:59:59Z', '22:00', '06:00', undefined, undefined],
  ['2026-11-27T22:00:00Z', '22:00', '06:00', undefined, '2026-11-28T06:00:00Z'],
  ['2026-11-28T05:59:30Z', '22:00', '06:00', undefined, '2026-11-28T06:00:00Z'],
  ['2026-11-28T06:00:00Z', '22:00', '06:00', undefined, undefined],
  ['2026-11-27T21:30:00Z', '22:00', '06:00', 'Europe/Berlin', '2026-11-28T05:00:00Z'],
  ['2026-07-27T20:30:00Z', '22:00', '06:00', 'Europe/Berlin', '2026-07-28T04:00:00Z'],
  ['2026-11-27T12:30:00Z', '12:00', '13:00', undefined, '2026-11-27T13:00:00Z'],
  ['2026-11-27T12:30:00Z', '00:00', '00:00', undefined, undefined],
];

for (const [now, from, to, zone, end] of QUIET) {
  test(`At ${now}, quiet hours from ${from} to ${to} (${zone ?? 'UTC'}) end at ${end ?? 'no time'}`, () => {
    const quiet = { from, to, ...(zone !== undefined && { time_zone: zone }) };
    assert.equal(endOfQuietHours(Date.parse(now), quiet), end === undefined ? 0 : Date.parse(end));
  });
}
