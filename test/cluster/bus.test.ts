import { testBusContract } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();

testBusContract({ name: 'NatsBus', skip: nats.skip, world: (context) => natsWorld(context, nats) });

testBusContract({
  name: 'SimulatedBus',
  async world(context) {
    const clock = new SimulatedClock();
    const cluster = new SimulatedCluster({ clock, seed: 1 });
    context.after(clock.run());
    return {
      name: 'world',
      bus: (member) => cluster.bus(member),
      cut: (member) => cluster.isolate(member),
      deafen: (member) => cluster.deafen(member),
      restore: (member) => cluster.restore(member),
    };
  },
});
