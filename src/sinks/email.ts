import { createTransport } from 'nodemailer';
import { messageOf as errorText } from '../errors.ts';
import { isObject } from '../model/json_tree.ts';
import type { Sink } from '../model/sink.ts';
import { failureWith, reasonOfFailure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { Outcome, QueuedEvent } from './delivery_queue.ts';
import { type OpenedSender, QUEUE_BOUNDS, type SenderDeps } from './sender.ts';

const [PORT, TLS_PORT] = [25, 465] as const;
const TIMEOUT_MS = 15_000;
const DIGEST_MS = 60_000;
/** Maximum number of events in one mail. */
const EVENTS_MAX = 500;
/** Answers of SMTP servers for a message that is too large. */
const TOO_LARGE = new Set([552, 523]);

/**
 * Opens a sink that sends e-mails. Events wait until `digest_interval` has passed since the first one, and share one mail, so
 * that many alerts do not become many mails.
 */
export function openEmail(sink: Sink, deps: SenderDeps): OpenedSender {
  const { digest_interval: digestMs, overflow } = sink;
  const limits = {
    ...QUEUE_BOUNDS,
    batchMax: EVENTS_MAX,
    concurrency: 1,
    gatherMs: digestMs ?? DIGEST_MS,
    isolates: false,
    overflow: overflow ?? 'newest_per_object',
  };
  const send = async (events: readonly QueuedEvent[]): Promise<Outcome> => {
    try {
      await sendMail(sink, events, deps);
      return { what: 'delivered' };
    } catch (error) {
      const { responseCode } = error as { readonly responseCode?: number };
      const why = errorText(error);
      if (responseCode !== undefined && TOO_LARGE.has(responseCode)) {
        return { what: 'rejected', ...failureWith('target_rejects', why) };
      }
      const isUnknownUser = (error as { readonly code?: string }).code === 'EAUTH';
      return { what: 'failed', why, problem: isUnknownUser ? problemOf('target_credentials') : reasonOfFailure(error) };
    }
  };
  const { quiet_hours: quiet } = sink;
  return {
    limits,
    sender: { send, close: async () => undefined },
    ...(quiet != null && { notBeforeMs: (nowMs: number) => endOfQuietHours(nowMs, quiet) }),
  };
}

const DAY_MINUTES = 1440;
const MINUTE_MS = 60_000;

/** Returns the end of quiet hours that contain a time; otherwise 0. */
export function endOfQuietHours(nowMs: number, { from, to, time_zone }: NonNullable<Sink['quiet_hours']>): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: time_zone ?? 'UTC',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const [now, start, end] = [minutesOf(format.format(nowMs)), minutesOf(from), minutesOf(to)];
  const isQuiet = start <= end ? now >= start && now < end : now >= start || now < end;
  if (!isQuiet) return 0;
  const minutes = (end - now + DAY_MINUTES) % DAY_MINUTES;
  return nowMs - (nowMs % MINUTE_MS) + minutes * MINUTE_MS;
}

/** Minutes since midnight. */
function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

async function sendMail(sink: Sink, events: readonly QueuedEvent[], deps: SenderDeps): Promise<void> {
  const { hostname, port, protocol } = new URL(sink.url);
  const isSecure = protocol === 'smtps:';
  const timeoutMs = sink.timeout ?? TIMEOUT_MS;
  const secret = sink.secret ?? undefined;
  const colon = secret?.indexOf(':') ?? -1;
  const transport = createTransport({
    host: await deps.resolve(hostname),
    port: port === '' ? (isSecure ? TLS_PORT : PORT) : Number(port),
    secure: isSecure,
    tls: { servername: hostname },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(secret !== undefined && { auth: { user: secret.slice(0, colon), pass: secret.slice(colon + 1) } }),
  });
  try {
    const lines = events.map(lineOf);
    const [first = ''] = lines;
    await transport.sendMail({
      from: sink.sender ?? '',
      to: [...(sink.recipients ?? [])],
      subject: events.length === 1 ? first.slice(0, 150) : `${events.length} events: ${first.slice(0, 120)}`,
      text: `${lines.join('\n')}\n\nSent by the sink "${sink.name}" of the location hub.\n`,
      messageId: `<${events[0]?.id}.${events.length}@omlox-hub>`,
    });
  } finally {
    transport.close();
  }
}

/** Describes an event in one line. */
function lineOf({ topic, key, timeMs, json }: QueuedEvent): string {
  const time = new Date(timeMs).toISOString();
  const event = JSON.parse(json) as { readonly object?: unknown; readonly event_type?: string };
  if (topic === 'alert_changes' && isObject(event.object)) {
    const { severity, name, state } = event.object as Readonly<Record<string, string>>;
    return `${time} ${severity}: ${name} (${state})`;
  }
  return `${time} ${topic} ${event.event_type ?? ''} ${key}`;
}
