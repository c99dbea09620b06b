import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientOf, RateLimit } from '../../src/transport/rate_limit.ts';

function limited(perSecond: number) {
  const time = { nowMs: 5_000 };
  return { time, limit: new RateLimit(perSecond, () => time.nowMs) };
}

function allowed(limit: RateLimit, client: string, asked: number): number {
  let count = 0;
  for (let i = 0; i < asked; i++) if (limit.allows(client)) count++;
  return count;
}

describe('RateLimit', () => {
  it('allows a client a burst of twice its rate, and its rate in the long run', () => {
    const { time, limit } = limited(10);
    assert.equal(allowed(limit, 'a', 100), 20);
    time.nowMs += 500;
    assert.equal(allowed(limit, 'a', 100), 5);
    let sum = 0;
    for (let i = 0; i < 1000; i++) {
      time.nowMs += 10;
      sum += allowed(limit, 'a', 3);
    }
    assert.ok(Math.abs(sum - 100) <= 1, String(sum));
  });

  it('counts clients separately', () => {
    const { limit } = limited(1);
    assert.equal(allowed(limit, 'a', 5), 2);
    assert.equal(allowed(limit, 'b', 5), 2);
  });

  it('tracks at most 20,000 clients, and still limits the latest', () => {
    const { time, limit } = limited(1);
    for (let i = 0; i < 100_000; i++) assert.ok(limit.allows(`client ${i}`));
    assert.equal(allowed(limit, 'client 99999', 5), 1);
    time.nowMs += 3_000;
    assert.equal(allowed(limit, 'client 99999', 5), 2);
  });
});

describe('clientOf', () => {
  const bytes = (...values: number[]): ArrayBuffer => new Uint8Array(values).buffer;
  const v6 = (...tail: number[]): ArrayBuffer => bytes(0x20, 1, 0xd, 0xb8, 0, 1, 0, 2, ...tail);

  it('is an IPv4 address in any notation, or an IPv6 network', () => {
    const mapped = bytes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1);
    assert.equal(clientOf(bytes(192, 0, 2, 1)), clientOf(mapped));
    assert.notEqual(clientOf(bytes(192, 0, 2, 1)), clientOf(bytes(192, 0, 2, 2)));
    assert.equal(clientOf(v6(1, 2, 3, 4, 5, 6, 7, 8)), clientOf(v6(8, 7, 6, 5, 4, 3, 2, 1)));
    assert.notEqual(clientOf(v6(1, 2, 3, 4, 5, 6, 7, 8)), clientOf(bytes(...Array<number>(16).fill(9))));
  });
});
