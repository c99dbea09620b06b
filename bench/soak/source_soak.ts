import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { freePort } from '../process/free_port.ts';
import { BenchHub } from '../process/hub.ts';
import { Mosquitto } from '../process/mosquitto.ts';
import { residentMb } from '../process/proc.ts';
import { Rest } from '../process/rest.ts';
import { type Device, type Endpoint, openDevice } from './source_devices.ts';
import { FLOOR, geographic, HALL, KITCHEN, payloadOf, type Script, SCRIPTS } from './source_scripts.ts';

/** At a low rate, a young generation of 64 MB grows for longer than the run. In a small one, growth means a leak. */
const NODE_ARGS = ['--max-semi-space-size=4'];
/** The minimum interval of a polled source. */
const POLL_INTERVAL_MS = 100;
const SAMPLE_MS = 2000;
const REPORT_SAMPLES = 15;
const CONNECT_MS = 20_000;
const NO_PROGRESS_MS = 5000;
const LOOK_MS = 100;
/** Meters. */
const SIDE = 100;

export interface SourceSoakOptions {
  readonly minutes: number;
  /** Payloads per second of each device. */
  readonly rate: number;
  progress(text: string): void;
}

/** Numbers of the payloads of one device: as sent, and as the hub counts them. */
export interface DeviceCount {
  readonly name: string;
  readonly kind: string;
  readonly sent: Readonly<Record<string, number>>;
  /** `mapped`, `skipped`, `throttled` and the reasons of refusals. An adapter counts only accepted payloads, as `mapped`. */
  readonly counted: Readonly<Record<string, number>>;
  /** Connections that failed, and replies that the device did not expect. */
  readonly failures: readonly string[];
}

export interface SourceSoaked {
  readonly devices: readonly DeviceCount[];
  readonly memory: readonly { readonly residentMb: number }[];
  /** Locations of all devices that a subscriber received. */
  readonly seen: number;
  /** The hub's own counters. */
  readonly counters: ReadonlyMap<string, number>;
}

/** Lets a device of each transport, preset and adapter send payloads to one hub, and counts what becomes of them. */
export async function soakSources(options: SourceSoakOptions): Promise<SourceSoaked> {
  const broker = await Mosquitto.start();
  const ports = { broker: broker.port, udp: await freePort() };
  const devices = await Promise.all(SCRIPTS.map(({ kind }) => openDevice(kind, ports)));
  try {
    const streams = SCRIPTS.flatMap(({ kind }, index) => {
      const { port } = devices[index] as Device;
      return kind === 'iso24730' ? [{ host: '127.0.0.1', port, type: 'uwb', foreign_id: HALL }] : [];
    });
    const settings = {
      source_allowed_hosts: '["127.0.0.1"]',
      source_udp_ports: `[${ports.udp}]`,
      iso_24730_connections: JSON.stringify(streams),
    };
    const hub = await BenchHub.start({ settings, nodeArgs: NODE_ARGS });
    try {
      return await new Run(hub, devices).play(options);
    } finally {
      await hub.stop();
    }
  } finally {
    for (const device of devices) device.close();
    await broker.stop();
  }
}

/** A device with its source in the hub. */
interface Part {
  readonly script: Script;
  readonly device: Device;
  /** Id of the source; undefined for an adapter. */
  readonly id: string | undefined;
  readonly endpoint: Endpoint;
  readonly sent: Record<string, number>;
  readonly failures: string[];
}

class Run {
  readonly #hub: BenchHub;
  readonly #rest: Rest;
  readonly #devices: readonly Device[];
  #seen = 0;

  constructor(hub: BenchHub, devices: readonly Device[]) {
    this.#hub = hub;
    this.#rest = new Rest(hub.port);
    this.#devices = devices;
  }

  async play({ minutes, rate, progress }: SourceSoakOptions): Promise<SourceSoaked> {
    const socket = await this.#subscribe();
    try {
      await this.#createZones();
      const parts: Part[] = [];
      for (const [index, script] of SCRIPTS.entries()) {
        parts.push(await this.#create(script, this.#devices[index] as Device));
      }
      await this.#receiving(parts);
      const endMs = performance.now() + minutes * 60_000;
      const sending = parts.map((part) => send(part, rate, endMs));
      const memory = await this.#sample(endMs, progress);
      await Promise.all(sending);
      const devices = await this.#drained(parts);
      return { devices, memory, seen: this.#seen, counters: await this.#rest.metrics() };
    } finally {
      socket.terminate();
      this.#rest.close();
    }
  }

  async #subscribe(): Promise<WebSocket> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#hub.port}/hub/v2/ws/socket`);
    const subscribed = Promise.withResolvers<void>();
    socket.on('error', subscribed.reject);
    socket.on('open', () => socket.send('{"event":"subscribe","topic":"location_updates"}'));
    socket.on('message', (message) => {
      const { event, payload } = JSON.parse(String(message));
      if (event === 'subscribed') subscribed.resolve();
      else if (event === 'message') this.#seen += payload.length;
    });
    await subscribed.promise;
    return socket;
  }

  async #createZones(): Promise<void> {
    const corners = [
      [0, 0],
      [SIDE, 0],
      [SIDE, SIDE],
    ] as const;
    const points = corners.flatMap(([x, y]) => [geographic(x, y), [x, y]]);
    await this.#rest.createAll('/zones', [
      { type: 'uwb', foreign_id: HALL, ground_control_points: points },
      { type: 'wifi', foreign_id: FLOOR, ground_control_points: points },
      { type: 'ibeacon', foreign_id: KITCHEN, position: { type: 'Point', coordinates: geographic(0, 0) }, radius: 5 },
    ]);
  }

  async #create(script: Script, device: Device): Promise<Part> {
    const { name, kind, preset, columns, map } = script;
    const base = `http://127.0.0.1:${this.#hub.port}/hub/v2`;
    const common = { script, device, sent: {}, failures: [] };
    if (kind === 'cisco' || kind === 'iso24730') {
      return { ...common, id: undefined, endpoint: { url: `${base}/adapters/cisco/locations` } };
    }
    const presets = JSON.parse((await this.#rest.call('GET', '/sources/presets')).text) as {
      id: string;
      source: Preset;
    }[];
    const { source = { kind, format: 'csv', map: {} } } = presets.find(({ id }) => id === preset) ?? {};
    const body = { ...source, name, ...device.source, map: { ...source.map, ...map }, ...(columns && { columns }) };
    const { status, text } = await this.#rest.call('POST', '/sources', body);
    if (status !== 201) throw new Error(`Cannot create the source ${name}: answered ${status}: ${text}`);
    const { id, token } = JSON.parse(text);
    return { ...common, id, endpoint: { url: `${base}/sources/${id}/data`, token } };
  }

  /** Waits until the hub has connected to the devices. A polled one counts as connected after the first payload. */
  async #receiving(parts: readonly Part[]): Promise<void> {
    const ids = parts.flatMap(({ id, script }) => (id === undefined || script.kind === 'poll' ? [] : [id]));
    const untilMs = performance.now() + CONNECT_MS;
    for (;;) {
      const { text } = await this.#rest.call('GET', '/sources/status');
      const waiting = (JSON.parse(text) as { id: string; state: string }[]).filter(
        ({ id, state }) => ids.includes(id) && state !== 'receiving',
      );
      if (waiting.length === 0) return;
      if (performance.now() > untilMs) throw new Error(`The hub does not connect to ${JSON.stringify(waiting)}`);
      await delay(LOOK_MS);
    }
  }

  async #sample(endMs: number, progress: SourceSoakOptions['progress']): Promise<SourceSoaked['memory']> {
    const memory: { residentMb: number }[] = [];
    while (performance.now() < endMs) {
      await delay(Math.min(SAMPLE_MS, Math.max(0, endMs - performance.now())));
      memory.push({ residentMb: residentMb(this.#hub.pid) });
      if (memory.length % REPORT_SAMPLES !== 1) continue;
      progress(`memory ${memory.at(-1)?.residentMb.toFixed(0)} MB, ${this.#seen} locations`);
    }
    return memory;
  }

  /** Waits until the hub has received all payloads, or no longer makes progress. */
  async #drained(parts: readonly Part[]): Promise<readonly DeviceCount[]> {
    let [last, sinceMs] = ['', performance.now()];
    for (;;) {
      const counts = await Promise.all(parts.map((part) => this.#count(part)));
      const text = JSON.stringify([counts, this.#seen]);
      if (text !== last) [last, sinceMs] = [text, performance.now()];
      const mapped = counts.reduce((sum, { counted }) => sum + (counted['mapped'] ?? 0), 0);
      if (this.#seen >= mapped && counts.every(isBalanced)) return counts;
      if (performance.now() - sinceMs > NO_PROGRESS_MS) return counts;
      await delay(LOOK_MS);
    }
  }

  async #count({ script, id, sent, failures }: Part): Promise<DeviceCount> {
    const { name, kind } = script;
    const common = { name, kind, sent: { ...sent }, failures };
    if (id === undefined) {
      const via = kind === 'cisco' ? 'cisco' : 'iso-24730';
      const { text } = await this.#rest.call('GET', '//metrics');
      const accepted = new RegExp(`^hub_locations_accepted_total\\{via="${via}"\\} (\\d+)`, 'm').exec(text)?.[1];
      // An adapter answers or logs what it does not accept: it has no counters of that.
      return { ...common, counted: { ...sent, mapped: Number(accepted ?? 0) } };
    }
    const status = JSON.parse((await this.#rest.call('GET', `/sources/${id}/status`)).text);
    const { mapped, skipped, throttled, refused_by: refused } = status;
    const failed = status.failures > 0 ? [`${status.failures} failed connections: ${status.error}`] : [];
    const counted = Object.entries({ mapped, skipped, throttled, ...refused }).filter(([, count]) => count !== 0);
    return {
      ...common,
      counted: Object.fromEntries(counted) as Record<string, number>,
      failures: [...failures, ...failed],
    };
  }
}

interface Preset {
  readonly map: object;
}

/** Whether the hub has counted each payload that was sent, with the outcome that was expected. */
export function isBalanced({ sent, counted, failures }: DeviceCount): boolean {
  const outcomes = new Set([...Object.keys(sent), ...Object.keys(counted)]);
  return failures.length === 0 && [...outcomes].every((outcome) => sent[outcome] === counted[outcome]);
}

/** Sends payloads at a rate, consecutively; a polled device as often as it can be polled at most. After a delay, the following ones are sent without a pause. */
async function send({ script, device, endpoint, sent, failures }: Part, rate: number, endMs: number): Promise<void> {
  const startMs = performance.now();
  const intervalMs = Math.max(1000 / rate, script.kind === 'poll' ? POLL_INTERVAL_MS : 0);
  for (let n = 0; ; n++) {
    const dueMs = startMs + n * intervalMs;
    if (dueMs >= endMs) return;
    await delay(Math.max(0, dueMs - performance.now()));
    const payload = payloadOf(script, n, Date.now());
    await device.send(payload, endpoint).then(
      () => (sent[payload.outcome] = (sent[payload.outcome] ?? 0) + 1),
      (error: unknown) => failures.push(String(error)),
    );
  }
}
