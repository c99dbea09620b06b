/**
 * A subscriber in a process of its own: tells its parent the time of the monotonic clock, which all processes of a
 * machine share, when it has read a fence event.
 */
import { SocketClient } from '../support/socket_client.ts';

const [url = '', params = '{}'] = process.argv.slice(2);

const client = await SocketClient.open(url);
await client.subscribe('fence_events', JSON.parse(params));
client.socket.on('message', (bytes: Buffer) => {
  const readNs = process.hrtime.bigint();
  const { event, payload = [] } = JSON.parse(bytes.toString());
  if (event !== 'message') return;
  for (const { entry_time: entryTime } of payload) process.send?.({ entryTime, readNs: String(readNs) });
});
process.on('disconnect', () => process.exit());
process.send?.('subscribed');
