/** Fixed parameters of the session with a broker. */

/** Time for which the broker stores the session of a disconnected hub, in seconds. */
export const SESSION_SECONDS = 3600;
export const KEEPALIVE_SECONDS = 30;
/** Maximum size of a packet from the broker, which silently discards larger ones. */
export const PACKET_BYTES_MAX = 1 << 20;
/** Maximum payload of a source's message. Parsing one of this size takes some milliseconds. */
export const PAYLOAD_BYTES_MAX = 256 << 10;
/** Maximum number of unacknowledged QoS 1 messages from the broker. */
export const RECEIVE_MAX = 5000;

/** MQTT 5 reason code: another client has connected with the same client id. */
export const SESSION_TAKEN_OVER = 0x8e;

/** Retained status of the hub. OFFLINE is also its last will. */
export const ONLINE = '{"status":"online"}';
export const OFFLINE = '{"status":"offline"}';

/** Returns host and port as in a URL. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
