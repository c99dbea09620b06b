/** Parameters of the session with a broker that are not configurable. */

/** How long the broker stores the session of a disconnected hub, in seconds. */
export const SESSION_SECONDS = 3600;
export const KEEPALIVE_SECONDS = 30;
/** Largest packet that the broker may send. It silently discards larger ones. */
export const PACKET_BYTES_MAX = 1 << 20;
/** Largest accepted payload of a source: parsing one takes some milliseconds. */
export const PAYLOAD_BYTES_MAX = 256 << 10;
/** Unacknowledged QoS 1 messages that the broker may send. */
export const RECEIVE_MAX = 5000;

/** Reason code of MQTT 5: another client has connected with the same client id. */
export const SESSION_TAKEN_OVER = 0x8e;

/** Retained status of the hub. OFFLINE is also its last will. */
export const ONLINE = '{"status":"online"}';
export const OFFLINE = '{"status":"offline"}';

/** Host and port as in addresses. */
export function addressOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
