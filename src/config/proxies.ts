import { isIP } from 'node:net';
import { show } from '../model/error_value_text.ts';
import type { PartProblem } from './part_problems.ts';

/** Problems of the value of trusted_proxies. */
export function proxyProblems(value: unknown): readonly PartProblem[] {
  if (!Array.isArray(value)) return [{ path: [], text: `must be a list of addresses, found ${show(value)}` }];
  return value.flatMap((proxy: unknown, index) => {
    if (typeof proxy === 'string' && isProxy(proxy)) return [];
    return [
      { path: [index], text: `must be an IP address, a network such as 10.0.0.0/8, or "*", found ${show(proxy)}` },
    ];
  });
}

const TARGET_NAME = /^(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/i;

/** Problems of the value of sink_allowed_hosts, link_allowed_hosts or source_allowed_hosts. */
export function targetProblems(value: unknown): readonly PartProblem[] {
  if (!Array.isArray(value)) return [{ path: [], text: `must be a list of hosts, found ${show(value)}` }];
  const wanted = 'must be a host name, *.example.com, an IP address, a network such as 10.0.0.0/8, or "*"';
  return value.flatMap((host: unknown, index) => {
    const isAddress = typeof host === 'string' && /^[\d.]+(\/|$)|:/.test(host);
    if (typeof host === 'string' && (isAddress ? isNetwork(host) : TARGET_NAME.test(host))) return [];
    return [{ path: [index], text: `${wanted}, found ${show(host)}` }];
  });
}

/** The web UI derives the prefix from its own URL, before the first /hub-ui. */
const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$)|hub-ui(?:\/|$))[\w.~-]+)*$/;

/** Problems of the value of base_path. */
export function basePathProblems(value: unknown): readonly PartProblem[] {
  if (typeof value === 'string' && BASE_PATH.test(value)) return [];
  const wanted = 'must be a path such as /rtls, without a slash at its end and without hub-ui in it';
  return [{ path: [], text: `${wanted}, found ${show(value)}` }];
}

function isProxy(proxy: string): boolean {
  return proxy === '*' || isNetwork(proxy);
}

function isNetwork(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const family = isIP(address);
  return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}
