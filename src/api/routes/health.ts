import { HubError } from '../../errors.ts';
import { HealthSource, SocketHealth, SystemHealth } from '../../model/health.ts';
import { ArrayOf } from '../../model/schema.ts';
import { show } from '../../model/show.ts';
import { onlyOwned } from '../ownership.ts';
import { type Route, route } from '../route.ts';

const LIST = { 200: { description: 'One for each.', schema: ArrayOf(HealthSource) } };
const ONE = { 200: { description: 'What has come from it.', schema: HealthSource } };

export const HEALTH_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health/system',
    summary: 'How long the hub has run, and its configuration without secrets',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the hub.', schema: SystemHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.system())),
  }),
  route({
    method: 'GET',
    path: '/health/ws',
    summary: 'WebSocket clients, their subscriptions, and when they were last sent something',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the WebSocket.', schema: SocketHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.socket())),
  }),
  route({
    method: 'GET',
    path: '/health/zones/summary',
    summary: 'What has come from each zone',
    permission: { operation: 'READ', resource: 'zone_id', owned: 'reply' },
    replies: LIST,
    handle({ owned, reply }, { entities, operation }) {
      const zones = onlyOwned(entities.list('zone'), 'zone_id', owned);
      return reply.json(JSON.stringify(zones.map((zone) => operation.health.zone(zone))));
    },
  }),
  route({
    method: 'GET',
    path: '/health/zones/:zone_id',
    summary: 'What has come from a zone',
    permission: { operation: 'READ', resource: 'zone_id' },
    replies: ONE,
    handle({ id, reply }, { entities, operation }) {
      const zone = entities.zoneBy(id);
      if (zone !== undefined) return reply.json(JSON.stringify(operation.health.zone(zone)));
      throw new HubError('HUB_NOT_FOUND', `Cannot find zone ${show(id)}: no zone has that id`);
    },
  }),
  route({
    method: 'GET',
    path: '/health/sources/summary',
    summary: 'What has come from each source of locations',
    permission: { operation: 'READ', resource: 'source_id', owned: 'reply' },
    replies: LIST,
    handle({ owned, reply }, { operation }) {
      return reply.json(JSON.stringify(onlyOwned(operation.health.sources(), 'source_id', owned)));
    },
  }),
  route({
    method: 'GET',
    path: '/health/sources/:source_id',
    summary: 'What has come from a source of locations',
    permission: { operation: 'READ', resource: 'source_id' },
    notes: { path: { source_id: 'As locations name it.' } },
    replies: ONE,
    handle({ id, reply }, { operation }) {
      const source = operation.health.source(id);
      if (source !== undefined) return reply.json(JSON.stringify(source));
      throw new HubError('HUB_NOT_FOUND', `Cannot find source ${show(id)}: no location has come from it`);
    },
  }),
];
