import type { TopicStyle } from '../model/mqtt.ts';
import { XCMD } from '../model/rpc.ts';
import { decodedLevel, levelOf, notDecoded, readStatusTopic, STATUS_FILTERS, styled } from './topics.ts';

/**
 * MQTT topics of remote procedure calls:
 *
 *     /omlox/jsonrpc/rpc/available/{method}                   {"id": handler, "method_name": method}, retained for 120 s
 *     /omlox/jsonrpc/rpc/{method}/request                     a request to all handlers of the method
 *     /omlox/jsonrpc/rpc/{method}/request/{handler_id}        to one of them
 *     /omlox/jsonrpc/rpc/{method}/response/{_caller_id}       a response
 *     /omlox/jsonrpc/rpc/com.omlox.core.xcmd/broadcast        a broadcast of a core zone
 *
 *     /omlox/json/hub/{hub_id}/status                         whether a hub, and so its handlers, is connected
 *
 * Each topic also exists without the leading slash. A method named `available` can only be called by handler id,
 * because the topic of a request to all of its handlers would be that of an announcement.
 */
const RPC = 'omlox/jsonrpc/rpc';
const AVAILABLE = 'available';

/** A parsed topic. */
export type RpcTopic = { readonly method: string; readonly style: Exclude<TopicStyle, 'both'> } & (
  | { readonly kind: 'available' }
  /** `handlerId` is undefined for a request to all handlers. */
  | { readonly kind: 'request'; readonly handlerId: string | undefined }
  | { readonly kind: 'response'; readonly callerId: string }
  | { readonly kind: 'broadcast' }
);

/** Topic of a hub's status. */
export interface StatusTopic {
  readonly kind: 'status';
  readonly hubId: string;
}

/** Returns the topic filters of the hub as a handler and caller. */
export function rpcFilters(callerId: string): readonly string[] {
  const responses = `+/response/${levelOf(callerId)}`;
  const filters = [`${AVAILABLE}/+`, '+/request', '+/request/+', responses, `${XCMD}/broadcast`];
  return [...filters.flatMap((filter) => styled(`${RPC}/${filter}`, 'both')), ...STATUS_FILTERS];
}

/** Parses a subscribed topic; returns the problem if it is invalid. */
export function readRpcTopic(topic: string): RpcTopic | StatusTopic | string {
  const hubId = readStatusTopic(topic);
  if (hubId !== undefined) return { kind: 'status', hubId };
  const style = topic.startsWith('/') ? 'slash' : 'plain';
  const start = style === 'slash' ? 1 : 0;
  const parts = topic
    .slice(start + RPC.length + 1)
    .split('/')
    .map(decodedLevel);
  const [first, second, third] = parts;
  const wrong = `topic: must be one of remote procedure calls, found "${topic}"`;
  if (!topic.startsWith(`${RPC}/`, start)) return wrong;
  if (parts.includes(undefined)) return notDecoded(topic);
  if (first === undefined || second === undefined || parts.includes('')) return wrong;
  if (first === AVAILABLE && parts.length === 2) return { kind: 'available', method: second, style };
  const method = first;
  if (second === 'request' && parts.length <= 3) return { kind: 'request', method, handlerId: third, style };
  if (second === 'response' && third !== undefined) return { kind: 'response', method, callerId: third, style };
  if (method === XCMD && second === 'broadcast' && parts.length === 2) return { kind: 'broadcast', method, style };
  return wrong;
}

export function availableTopics(method: string, style: TopicStyle): readonly string[] {
  return styled(`${RPC}/${AVAILABLE}/${levelOf(method)}`, style);
}

/** Returns the topics of core zone broadcasts, in both styles. */
export function broadcastTopics(): readonly string[] {
  return styled(`${RPC}/${XCMD}/broadcast`, 'both');
}

/** Returns the topic of a request. `handlerId` is undefined for all handlers of the method. */
export function requestTopic(
  method: string,
  handlerId: string | undefined,
  style: Exclude<TopicStyle, 'both'>,
): string {
  const all = `${RPC}/${levelOf(method)}/request`;
  return styled(handlerId === undefined ? all : `${all}/${levelOf(handlerId)}`, style)[0] as string;
}

export function responseTopic(method: string, callerId: string, style: Exclude<TopicStyle, 'both'>): string {
  return styled(`${RPC}/${levelOf(method)}/response/${levelOf(callerId)}`, style)[0] as string;
}
