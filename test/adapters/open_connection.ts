import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { RtlsConnection } from '../../src/adapters/iso24730/connection.ts';
import type { EachResult } from '../../src/ingest/ingest.ts';
import type { Location } from '../../src/model/location.ts';
import { RtlsServer, until } from './rtls_server.ts';
import { SimulatedTime } from './simulated_time.ts';

/** Accepts everything. */
export const TAKEN: EachResult = { problems: [], committed: undefined };

interface Given {
  readonly port: number;
  readonly deliver?: (locations: readonly Location[]) => EachResult;
  readonly dial?: () => Socket;
}

/** A connection in simulated time, with its locations. */
export function openConnection(t: TestContext, { port, deliver = () => TAKEN, dial }: Given) {
  const time = new SimulatedTime();
  const locations: Location[] = [];
  const logged: { readonly message: string; readonly facts: Record<string, unknown> }[] = [];
  const log = (message: string, facts: object = {}) => void logged.push({ message, facts: { ...facts } });
  const connection = new RtlsConnection(
    { host: '127.0.0.1', port, providerType: 'uwb', source: 'hall' },
    {
      deliver(values) {
        const taken = deliver(values);
        locations.push(...values);
        return taken;
      },
      dial: dial ?? ((address) => connect(address)),
      now: time.now,
      timeOfDay: (ms) => ms,
      schedule: time.schedule,
      random: () => 0.5,
      log: { debug: log, info: log, warn: log },
    },
  );
  t.after(() => connection.close());
  connection.start();
  const isAt = (state: string) => until(() => connection.status().state === state, `the connection is ${state}`);
  return { connection, time, locations, logged, isAt };
}

/** A server that is closed at the end of the test. */
export async function openServer(t: TestContext, port = 0): Promise<RtlsServer> {
  const server = await RtlsServer.open(port);
  t.after(() => server.close().catch(() => undefined));
  return server;
}

/** A line with a locate message. */
export function fix(tag: string, second = 0): string {
  return `North,DFT,02,${tag},1,2,0,0,2026-11-20T09:00:${String(second).padStart(2, '0')}Z\r\n`;
}
