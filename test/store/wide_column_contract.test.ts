import { openStore } from '../../src/store/open.ts';
import { testCassandra } from '../cassandra/test_cassandra.ts';
import { testStoreContract } from './contract.ts';

const cassandra = testCassandra();

testStoreContract({
  name: 'openStore on Cassandra',
  skip: cassandra.skip,
  place() {
    const settings = cassandra.settings();
    return { open: () => openStore(settings) };
  },
});
