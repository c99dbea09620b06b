import { InvalidArgumentError, Option } from 'commander';
import { parseTime } from '../model/time.ts';
import { defaultHubUrl } from './default_hub_url.ts';

/** `--hub URL`, an option of every command: by default the hub that would start here. */
export function hubOption(): Option {
  return new Option('--hub <url>', 'address of the hub').default(defaultHubUrl()).argParser(hubAddress);
}

/** Checks the address of a hub. A path is preserved, for hubs behind a proxy, without a trailing slash. */
function hubAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new InvalidArgumentError('It must begin with http:// or https://.');
  }
  let path = url.pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return url.origin + path;
}

/** Parses the address of an MQTT broker: a host, one with a port, or a URL, which may have a user and a password. */
export function brokerAddress(text: string): string {
  const address = text.includes('://') ? text : `mqtt://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === '' || !/^(mqtts?|wss?):$/.test(url.protocol)) {
    throw new InvalidArgumentError(
      'It must be a host, or host:port, or a URL that begins with mqtt, mqtts, ws or wss.',
    );
  }
  return address;
}

/** Creates a parser of numbers within limits. */
export function number(bounds: { above?: number; min?: number; max?: number; whole?: boolean }) {
  const { above = -Infinity, min = -Infinity, max = Infinity, whole = false } = bounds;
  return (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (value > above && value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
    const limits = [
      Number.isFinite(above) ? `above ${above}` : '',
      Number.isFinite(min) ? `of ${min} or more` : '',
      Number.isFinite(max) ? `of ${max} or less` : '',
    ].filter((limit) => limit !== '');
    throw new InvalidArgumentError(`It must be a ${whole ? 'whole ' : ''}number ${limits.join(' and ')}.`);
  };
}

/** Parses an RFC 3339 time to milliseconds since 1970. */
export function time(text: string): number {
  const ms = parseTime(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a time as in 2026-03-01T10:00:00Z.');
  return ms;
}

/** Aborts on Ctrl-C, or when the process is asked to stop. Further signals have no effect. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

/** Parses a multiple of the recorded speed; Infinity for 0 and max. */
export function speed(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const factor = number({ min: 0 })(text);
  return factor === 0 ? Number.POSITIVE_INFINITY : factor;
}
