/**
 * Room accuracy and zone changes of proximity arbitration on real Wi-Fi scans: `node bench/kernel/proximity_ipft.ts FOLDER`.
 * FOLDER has ipftrain.csv, ipftest.csv and ipfpwap.csv, the data sets of the R package ipft 0.7.2 (GPL) of CRAN, written by
 * `write.csv(…, row.names = FALSE)`. The scans were made at the IPIN 2016 tutorial, by Universitat Jaume I, Castellón.
 *
 * The readers are the access points within 10 m of the corridor in which the scans were made. The room of a scan is the
 * reader that the training scans at the closest position receive best on average. Each network that an access point
 * sends is one sighting, in the order of the data.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { arbitrate, heldBy, type ProximityState } from '../../src/core/location/proximity_arbitration.ts';
import type { Zone } from '../../src/model/zone.ts';

type Row = Readonly<Record<string, string>>;

interface Scan {
  readonly atMs: number;
  readonly x: number;
  readonly y: number;
  /** Reader and RSSI in dBm. */
  readonly sightings: readonly (readonly [reader: string, rssi: number])[];
}

interface Reader {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

/** A pause between scans that ends a walk. */
const PAUSE_MS = 60_000;
/** The corridor, in meters, and the distance of its readers. */
const [X, Y, REACH] = [[-0.6, 4.39], [0, 30.42], 10] as const;

function rowsOf(file: string): Row[] {
  const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const names = head.replaceAll('"', '').split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [names[i], value])));
}

const folder = process.argv[2];
if (folder === undefined)
  throw new Error('Cannot start: name the folder with ipftrain.csv, ipftest.csv and ipfpwap.csv');
const readers = new Map<string, Reader>();
const readerOfNetwork = new Map<string, string>();
for (const [i, row] of rowsOf(path.join(folder, 'ipfpwap.csv')).entries()) {
  const [x, y] = [Number.parseFloat(row['X'] ?? ''), Number.parseFloat(row['Y'] ?? '')];
  const away = Math.hypot(Math.max(X[0] - x, 0, x - X[1]), Math.max(Y[0] - y, 0, y - Y[1]));
  if (!(away <= REACH)) continue;
  const id = `${x},${y}`;
  readers.set(id, { id, x, y });
  readerOfNetwork.set(`wap${i + 1}`, id);
}

function scansOf(file: string): Scan[] {
  return rowsOf(path.join(folder as string, file))
    .map((row): Scan => {
      const sightings: (readonly [string, number])[] = [];
      for (const [network, reader] of readerOfNetwork) {
        const rssi = Number.parseFloat(row[network] ?? '');
        if (rssi < 0) sightings.push([reader, rssi]);
      }
      return { atMs: Number(row['TIMESTAMP']) * 1000, x: Number(row['X']), y: Number(row['Y']), sightings };
    })
    .filter(({ sightings }) => sightings.length > 0)
    .sort((a, b) => a.atMs - b.atMs);
}

const training = scansOf('ipftrain.csv');
const scans = scansOf('ipftest.csv');

/** Returns the reader with the highest mean RSSI in the training scans closest to the position of the scan. */
function roomOf({ x, y }: Scan): string {
  const distances = training.map((scan) => Math.hypot(scan.x - x, scan.y - y));
  const least = Math.min(...distances);
  const sums = new Map<string, [sum: number, count: number]>();
  for (const [i, { sightings }] of training.entries()) {
    if ((distances[i] as number) > least + 0.01) continue;
    for (const [reader, rssi] of sightings) {
      const sum = sums.get(reader) ?? [0, 0];
      sums.set(reader, [sum[0] + rssi, sum[1] + 1]);
    }
  }
  const means = [...sums].map(([reader, [sum, count]]) => [sum / count, reader] as const);
  return means.sort(([a], [b]) => b - a)[0]?.[1] as string;
}

/** Returns a function that decides the rooms after each sighting of a scan. Scans come in order. */
type Method = () => (scan: Scan) => readonly string[];

const zones = new Map<string, Zone>();
for (const { id } of readers.values()) {
  zones.set(id, { id, type: 'ibeacon', position: { type: 'Point', coordinates: [0, 0] }, proximity_resolution: {} });
}

function arbitration(withSignal: boolean): Method {
  return () => {
    let state: ProximityState | undefined;
    return ({ atMs, sightings }) =>
      sightings.map(([source, rssi]) => {
        const zone = zones.get(source) as Zone;
        state ??= heldBy(zone, source, atMs);
        const sighting = {
          zone,
          source,
          eventTimeMs: atMs,
          rssi: withSignal ? rssi : undefined,
          confidence: undefined,
        };
        return arbitrate(state, sighting, (id) => zones.get(id)).id;
      });
  };
}

const METHODS: readonly (readonly [name: string, method: Method])[] = [
  [
    'last sighting (without `proximity_resolution`)',
    () =>
      ({ sightings }) =>
        sightings.map(([reader]) => reader),
  ],
  [
    'nearest reader: strongest of each scan',
    () =>
      ({ sightings }) =>
        sightings
          .toSorted((a, b) => b[1] - a[1])
          .slice(0, 1)
          .map(([reader]) => reader),
  ],
  ['stickiness: `exit_grace_duration` alone, without RSSI', arbitration(false)],
  ['arbitration: median RSSI, 6 dB in two windows', arbitration(true)],
];

const rooms = scans.map(roomOf);
let minutes = 0;
let trueChanges = 0;
for (const [i, { atMs }] of scans.entries()) {
  if (i === 0) continue;
  minutes += Math.min(PAUSE_MS, atMs - (scans[i - 1] as Scan).atMs) / 60_000;
  if (rooms[i] !== rooms[i - 1]) trueChanges++;
}
console.log(
  `${scans.length} scans, ${minutes.toFixed(1)} minutes, ${readers.size} readers, ${(trueChanges / minutes).toFixed(2)} true changes per minute`,
);
console.log('| method | correct room | changes per minute |\n|---|---:|---:|');
for (const [name, method] of METHODS) {
  const decide = method();
  let [correct, changes, last] = [0, 0, ''];
  for (const [i, scan] of scans.entries()) {
    const decided = decide(scan);
    correct += decided.filter((room) => room === rooms[i]).length / decided.length;
    for (const room of decided) {
      if (last !== '' && room !== last) changes++;
      last = room;
    }
  }
  console.log(`| ${name} | ${((100 * correct) / scans.length).toFixed(1)} % | ${(changes / minutes).toFixed(2)} |`);
}
