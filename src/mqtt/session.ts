/** What the hub and its broker agree on when they meet, whatever the settings say. */

/** How long the broker keeps the session of a hub that is gone, in seconds. */
export const SESSION_SECONDS = 3600;
export const KEEPALIVE_SECONDS = 30;
/** The largest packet that the broker may send. It discards larger ones, of which then nobody learns. */
export const PACKET_BYTES_MAX = 1 << 20;
/** The largest payload of a source that is taken: what is read at once takes some milliseconds. */
export const PAYLOAD_BYTES_MAX = 256 << 10;
/** Messages of QoS 1 that the broker may send before any is acknowledged. */
export const RECEIVE_MAX = 5000;

/** Reason code of MQTT 5: another client has connected with the same client id. */
export const SESSION_TAKEN_OVER = 0x8e;

/** What the hub says of itself, retained; the second is its last will, too. */
export const ONLINE = '{"status":"online"}';
export const OFFLINE = '{"status":"offline"}';

/** Host and port of a broker in one, as addresses have them. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
