import { testBusContract } from './contract.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();

testBusContract({ name: 'NatsBus', skip: nats.skip, world: (context) => natsWorld(context, nats) });
