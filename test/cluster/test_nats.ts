import { after, before, type TestContext } from 'node:test';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { NatsServers, type NatsServersOptions } from '../../bench/process/nats_server.ts';
import type { BusSettings } from '../../src/cluster/nats/frames.ts';
import { type NatsBus, openNatsBus } from '../../src/cluster/nats/nats_bus.ts';
import type { BusWorld } from './contract.ts';
import { NatsProxy } from './nats_proxy.ts';

/** The NATS servers of a test file. */
export interface TestNats {
  /** Reason to skip tests that need them; false where they run. */
  readonly skip: string | false;
  readonly servers: NatsServers;
}

/** A bus of a test, and its own network. */
export interface TestBus {
  readonly bus: NatsBus;
  readonly proxy: NatsProxy;
}

/** Servers for the tests of a file. */
export async function testNats(options: Omit<NatsServersOptions, 'path'> = {}): Promise<TestNats> {
  const program = await natsProgram();
  let servers: NatsServers | undefined;
  if ('path' in program) {
    before(async () => {
      servers = await NatsServers.start({ ...options, path: program.path });
    });
    after(() => servers?.stop());
  }
  return {
    skip: 'missing' in program ? `no nats-server: ${program.missing}` : false,
    get servers() {
      if (servers === undefined) throw new Error('NATS is not started yet');
      return servers;
    },
  };
}

/** A bus through a proxy in front of one server. */
export async function openTestBus(
  context: TestContext,
  nats: TestNats,
  settings: Partial<BusSettings> & { readonly name: string },
  notice?: (text: string) => void,
): Promise<TestBus> {
  const proxy = await NatsProxy.open(nats.servers.servers[0]?.port ?? 0);
  const bus = openNatsBus({ servers: [proxy.address], memberName: 'test', ...settings }, notice);
  context.after(async () => {
    await bus.close();
    proxy.close();
  });
  return { bus, proxy };
}

let worlds = 0;

/** Members of one cluster of this server, with a name of its own. */
export async function natsWorld(context: TestContext, nats: TestNats): Promise<BusWorld> {
  const name = `world${++worlds}`;
  const members = new Map<string, NatsProxy>();
  const proxies = await Promise.all([1, 2, 3].map(() => NatsProxy.open(nats.servers.servers[0]?.port ?? 0)));
  context.after(() => {
    for (const proxy of proxies) proxy.close();
  });
  return {
    name,
    bus(memberName) {
      const proxy = proxies[members.size];
      if (proxy === undefined) throw new Error(`There are ${proxies.length} members already`);
      members.set(memberName, proxy);
      const bus = openNatsBus({ servers: [proxy.address], name, memberName });
      context.after(() => bus.close());
      return bus;
    },
    cut: (member) => members.get(member)?.cut(),
    deafen(member) {
      const proxy = members.get(member);
      if (proxy !== undefined) proxy.isDeaf = true;
    },
    restore: (member) => members.get(member)?.restore(),
  };
}
