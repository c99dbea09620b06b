import { connect } from 'node:net';
import { randomFrom } from '../durability/hub_process.ts';
import { RawSocket } from '../support/raw_socket.ts';
import { hostileFrame } from './hostile_frames.ts';
import { hostileRequest } from './hostile_requests.ts';
import { Dice } from './hostile_values.ts';

/** Outcome of hostile requests and frames. */
export interface AttackReport {
  requests: number;
  frames: number;
  /** Complete requests without a response. */
  unanswered: number;
  /** Counts by HTTP status; 0 for connections that closed without one. */
  readonly statuses: Map<number, number>;
  /** Counts by code of error frames, and of close frames. */
  readonly codes: Map<number, number>;
}

export function newReport(): AttackReport {
  return { requests: 0, frames: 0, unanswered: 0, statuses: new Map(), codes: new Map() };
}

const CONNECTIONS = 12;
const FRAMES_PER_CONNECTION = 40;
const ANSWER_MS = 30_000;

/** Sends this many hostile requests and frames, half each, over raw connections, some of them in parallel. */
export async function attack(
  port: number,
  { count, seed, report }: { count: number; seed: number; report: AttackReport },
) {
  const attackers = Array.from({ length: CONNECTIONS }, async (_, i) => {
    const dice = new Dice(randomFrom(seed * 1000 + i));
    const share = Math.ceil(count / CONNECTIONS / 2);
    for (let left = share; left > 0; left--) await sendRequest(port, dice, report);
    for (let left = share; left > 0; left -= FRAMES_PER_CONNECTION) {
      await sendFrames(port, { dice, count: Math.min(left, FRAMES_PER_CONNECTION), report });
    }
  });
  await Promise.all(attackers);
}

async function sendRequest(port: number, dice: Dice, report: AttackReport): Promise<void> {
  const { bytes, isWhole } = hostileRequest(dice);
  const status = await answerTo(port, bytes, isWhole);
  report.requests++;
  if (status === undefined) report.unanswered++;
  else tally(report.statuses, status);
}

/**
 * Returns the status of the first response, 0 if the connection closed before one, and undefined if neither happens.
 */
function answerTo(port: number, bytes: Buffer, isWhole: boolean): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (status: number | undefined): void => {
      clearTimeout(timer);
      // Ports of connections that close cleanly are not available again for a minute.
      socket.resetAndDestroy();
      resolve(status);
    };
    const timer = setTimeout(() => done(undefined), ANSWER_MS);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      // Any number of interim responses may come first (RFC 9110, 15.2).
      const status = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)*HTTP\/1\.1 (?!100)(\d{3}) /.exec(text)?.[1];
      if (status !== undefined) done(Number(status));
    });
    socket.on('error', () => done(0));
    socket.on('close', () => done(0));
    if (isWhole) socket.write(bytes);
    else socket.end(bytes);
  });
}

async function sendFrames(
  port: number,
  { dice, count, report }: { dice: Dice; count: number; report: AttackReport },
): Promise<void> {
  let left = count;
  while (left > 0) {
    const socket = await RawSocket.open(port, `/hub/v${1 + dice.below(2)}/ws/socket`, 'hostile');
    for (; left > 0 && !socket.hasEnded; left--) {
      socket.sendBytes(hostileFrame(dice));
      report.frames++;
      // A frame shorter than its declared length would consume bytes of the following ones.
      if (dice.oneIn(8) && !(await isThrough(socket, left))) break;
    }
    await isThrough(socket, 0);
    for (const { opcode, payload } of socket.frames) {
      if (opcode === 8) tally(report.codes, payload.length < 2 ? 1005 : payload.readUInt16BE(0));
      const code = opcode === 1 ? /"code":(\d+)/.exec(payload.toString('utf8', 0, 100))?.[1] : undefined;
      if (code !== undefined) tally(report.codes, Number(code));
    }
    socket.close();
  }
}

/** Returns whether the hub has processed all frames so far: it answers a final one. */
async function isThrough(socket: RawSocket, mark: number): Promise<boolean> {
  socket.send(1, `{"event":"unsubscribe","subscription_id":${900_000_000 + mark}}`);
  try {
    return await socket.frameOrEnd(({ payload }) => payload.includes(`Cannot unsubscribe ${900_000_000 + mark}`));
  } catch {
    // A frame with a larger declared length swallows the following ones.
    return false;
  }
}

function tally(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
