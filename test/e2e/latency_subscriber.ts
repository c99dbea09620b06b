/**
 * A subscriber in its own process. It sends its parent the time when it has read a fence event, by the monotonic clock
 * that all processes of a machine share.
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
