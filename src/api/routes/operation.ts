import { hubError, HubError } from '../../errors.ts';
import Type from 'typebox';
import {
  ClusterOwners,
  HealthSource,
  HUB_IDENTITY,
  MqttHealth,
  ProviderOwner,
  SocketHealth,
  SystemHealth,
} from '../../model/health.ts';
import { HistoryHealth } from '../../model/history.ts';
import { LicenseLease, LicenseInfo, LicenseKeyBody } from '../../model/license.ts';
import { ArrayOf } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { Consumption } from '../../model/usage.ts';
import { onlyOwned } from '../ownership.ts';
import { type ApiRoute, route } from '../route.ts';

const Version = Type.Object(
  {
    hub_version: Type.String({ description: 'Version of the hub.' }),
    vendor: Type.String({ description: 'Vendor of the hub.' }),
    api_version: Type.String({ description: 'Version of the omlox Hub API.' }),
    ...HUB_IDENTITY,
  },
  { title: 'Version', description: 'Versions of the hub and of its API, and its id.' },
);

const Health = Type.Object({}, { title: 'Health', description: 'An object without members.' });

const HUB_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Whether the hub is ready',
    unversioned: true,
    permission: { operation: 'READ' },
    notes: {
      refusals: {
        503: 'The hub is not ready, and requests should go to other hubs of the cluster. The message has the reason.',
      },
    },
    replies: { 200: { description: 'The hub is ready.', schema: Health } },
    handle({ reply }, { operation }) {
      const { problem } = operation.health;
      if (problem !== undefined) throw new HubError(problem);
      return reply.json('{}');
    },
  }),
  route({
    method: 'GET',
    path: '/version',
    summary: 'Versions of the hub and of its API',
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The versions.', schema: Version } },
    handle: ({ reply }, { versionInfo }) => reply.json(JSON.stringify(versionInfo)),
  }),
];

const HEALTH_OF_EACH = { 200: { description: 'The health of each.', schema: ArrayOf(HealthSource) } };
const HEALTH_OF_ONE = { 200: { description: 'Its health.', schema: HealthSource } };

const HEALTH_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/health/system',
    summary: 'Uptime of the hub, and its configuration without secrets',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the hub.', schema: SystemHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.system())),
  }),
  route({
    method: 'GET',
    path: '/health/ws',
    summary: 'WebSocket clients, their subscriptions, and the times of the last events',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the WebSocket.', schema: SocketHealth } },
    handle: async ({ reply }, { operation }) => reply.json(JSON.stringify(await operation.health.socket())),
  }),
  route({
    method: 'GET',
    path: '/health/mqtt',
    summary: 'The connection to the MQTT broker, and its counters',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the MQTT client.', schema: MqttHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.mqtt())),
  }),
  route({
    method: 'GET',
    path: '/health/history',
    summary: 'Health of the history',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the history.', schema: HistoryHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.history())),
  }),
  route({
    method: 'GET',
    path: '/health/zones/summary',
    summary: 'Input from each zone',
    permission: { operation: 'READ', resource: 'zone_id', owned: 'reply' },
    replies: HEALTH_OF_EACH,
    async handle({ owned, reply }, { entities, operation }) {
      const zones = onlyOwned(entities.list('zone'), 'zone_id', owned);
      return reply.json(JSON.stringify(await operation.health.zones(zones)));
    },
  }),
  route({
    method: 'GET',
    path: '/health/zones/:zone_id',
    summary: 'Input from a zone',
    permission: { operation: 'READ', resource: 'zone_id' },
    replies: HEALTH_OF_ONE,
    async handle({ id, reply }, { entities, operation }) {
      const zone = entities.zoneBy(id);
      const [health] = zone === undefined ? [] : await operation.health.zones([zone]);
      if (health !== undefined) return reply.json(JSON.stringify(health));
      throw hubError('not_found', { action: 'find', kind: 'zone', id });
    },
  }),
  route({
    method: 'GET',
    path: '/health/sources/summary',
    summary: 'Input from each source of locations',
    permission: { operation: 'READ', resource: 'source_id', owned: 'reply' },
    replies: HEALTH_OF_EACH,
    async handle({ owned, reply }, { operation }) {
      return reply.json(JSON.stringify(onlyOwned(await operation.health.sources(), 'source_id', owned)));
    },
  }),
  route({
    method: 'GET',
    path: '/health/sources/:source_id',
    summary: 'Input from a source of locations',
    permission: { operation: 'READ', resource: 'source_id' },
    notes: { path: { source_id: 'Name of the source in locations.' } },
    replies: HEALTH_OF_ONE,
    async handle({ id, reply }, { operation }) {
      const [source] = await operation.health.sources(id);
      if (source !== undefined) return reply.json(JSON.stringify(source));
      throw hubError('unknown_source', { id });
    },
  }),
];

const CLUSTER_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/cluster/owners',
    versions: ['v2'],
    summary: 'Owners of the partitions, for clients that send locations directly to the owner',
    permission: { operation: 'READ' },
    replies: {
      200: { description: 'The owners. A hub without a cluster owns the only partition.', schema: ClusterOwners },
    },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.owners())),
  }),
  route({
    method: 'GET',
    path: '/cluster/owners/:provider_id',
    versions: ['v2'],
    summary: 'Hub that owns a provider',
    permission: { operation: 'READ', resource: 'provider_id' },
    replies: { 200: { description: 'The owner.', schema: ProviderOwner } },
    handle: ({ id, reply }, { operation }) => reply.json(JSON.stringify(operation.health.ownerOf(id))),
  }),
];

const MONTHS = ArrayOf(Consumption);

const STATS_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/stats/consumption/summary',
    summary: 'Usage by month',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The months, earliest first; the last one is still running.', schema: MONTHS } },
    handle: async ({ reply }, { operation }) => reply.json(JSON.stringify(await operation.usage.all())),
  }),
  route({
    method: 'GET',
    path: '/stats/consumption/current',
    summary: 'Usage of the current month',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The month.', schema: Consumption } },
    handle: async ({ reply }, { operation }) => reply.json(JSON.stringify((await operation.usage.all()).at(-1))),
  }),
  route({
    method: 'GET',
    path: '/stats/consumption/:year/:month',
    summary: 'Usage of a month',
    permission: { operation: 'READ' },
    notes: { path: { year: 'Four digits.', month: '1 to 12.' } },
    replies: { 200: { description: 'A list of that month.', schema: MONTHS } },
    async handle({ id: year, path, reply }, { operation }) {
      const month = path.slice(path.lastIndexOf('/') + 1);
      const months = isMonth(year, month) ? await operation.usage.all() : [];
      const found = months.find((each) => each.year === Number(year) && each.month === Number(month));
      if (found !== undefined) return reply.json(JSON.stringify([found]));
      throw hubError('unknown_month', { month: show(`${year}/${month}`) });
    },
  }),
];

function isMonth(year: string, month: string): boolean {
  return /^\d{4}$/.test(year) && /^\d{1,2}$/.test(month);
}

/** The hub needs no license: these routes serve systems that manage one. */
const LICENSE_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/license/info',
    summary: 'Information about the license; the hub needs none',
    permission: 'public',
    replies: { 200: { description: 'The information.', schema: LicenseInfo } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.license.info())),
  }),
  route({
    method: 'PUT',
    path: '/license/key',
    summary: 'Set the license key',
    permission: { operation: 'UPDATE' },
    body: LicenseKeyBody,
    notes: { refusals: { 400: 'The public keys of the hub do not verify the key.' } },
    replies: { 204: { description: 'The key is set.' } },
    async handle({ body, reply }, { operation }) {
      await operation.license.setKey(body);
      return reply.noContent;
    },
  }),
  route({
    method: 'GET',
    path: '/license/lease',
    summary: 'The effective license: that of the key, or a trial',
    permission: { operation: 'READ' },
    notes: {
      refusals: {
        400: 'The signature of the key is invalid or cannot be verified, or the license has expired.',
        404: 'There is no key and no trial.',
      },
    },
    replies: { 200: { description: 'The lease.', schema: LicenseLease } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.license.lease())),
  }),
  route({
    method: 'DELETE',
    path: '/license/lease',
    summary: 'Delete the license key and the trial',
    permission: { operation: 'DELETE' },
    replies: { 204: { description: 'Both are deleted.' } },
    async handle({ reply }, { operation }) {
      await operation.license.giveBack();
      return reply.noContent;
    },
  }),
  route({
    method: 'GET',
    path: '/license/starttrial',
    summary: 'Start a trial of 30 days, unless one was started before',
    permission: { operation: 'READ' },
    notes: { refusals: { 400: 'The trial has ended.' } },
    replies: { 201: { description: 'The lease of the trial.', schema: LicenseLease } },
    async handle({ reply }, { operation }) {
      return { ...reply.json(JSON.stringify(await operation.license.startTrial())), status: 201 };
    },
  }),
];

const METRICS_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus, without a version in the path',
    versions: [],
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The metrics.', schema: Type.String(), mediaType: 'text/plain' } },
    async handle(_call, { operation: { metrics } }) {
      return { status: 200, headers: { 'Content-Type': metrics.contentType }, body: await metrics.text() };
    },
  }),
];

/** Routes for operators: health, usage, license, metrics. */
export const OPERATION_ROUTES: readonly ApiRoute[] = [
  ...HUB_ROUTES,
  ...HEALTH_ROUTES,
  ...CLUSTER_ROUTES,
  ...STATS_ROUTES,
  ...LICENSE_ROUTES,
  ...METRICS_ROUTES,
];
