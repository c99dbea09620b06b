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
import { type ApiRoute, route, valueRoute } from '../route.ts';

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
  valueRoute({
    path: '/version',
    summary: 'Versions of the hub and of its API',
    unversioned: true,
    returns: ['The versions.', Version],
    value: (_call, { versionInfo }) => versionInfo,
  }),
];

const HEALTH_OF_EACH = ['The health of each.', ArrayOf(HealthSource)] as const;
const HEALTH_OF_ONE = ['Its health.', HealthSource] as const;

const HEALTH_ROUTES: readonly ApiRoute[] = [
  valueRoute({
    path: '/health/system',
    summary: 'Uptime of the hub, and its configuration without secrets',
    returns: ['The health of the hub.', SystemHealth],
    value: (_call, { operation }) => operation.health.system(),
  }),
  valueRoute({
    path: '/health/ws',
    summary: 'WebSocket clients, their subscriptions, and the times of the last events',
    returns: ['The health of the WebSocket.', SocketHealth],
    value: (_call, { operation }) => operation.health.socket(),
  }),
  valueRoute({
    path: '/health/mqtt',
    summary: 'The connection to the MQTT broker, and its counters',
    returns: ['The health of the MQTT client.', MqttHealth],
    value: (_call, { operation }) => operation.health.mqtt(),
  }),
  valueRoute({
    path: '/health/history',
    summary: 'Health of the history',
    returns: ['The health of the history.', HistoryHealth],
    value: (_call, { operation }) => operation.health.history(),
  }),
  valueRoute({
    path: '/health/zones/summary',
    summary: 'Input from each zone',
    permission: { operation: 'READ', resource: 'zone_id', owned: 'reply' },
    returns: HEALTH_OF_EACH,
    value: ({ owned }, { entities, operation }) =>
      operation.health.zones(onlyOwned(entities.list('zone'), 'zone_id', owned)),
  }),
  valueRoute({
    path: '/health/zones/:zone_id',
    summary: 'Input from a zone',
    permission: { operation: 'READ', resource: 'zone_id' },
    returns: HEALTH_OF_ONE,
    async value({ id }, { entities, operation }) {
      const zone = entities.zoneBy(id);
      const [health] = zone === undefined ? [] : await operation.health.zones([zone]);
      if (health !== undefined) return health;
      throw hubError('not_found', { action: 'find', kind: 'zone', id });
    },
  }),
  valueRoute({
    path: '/health/sources/summary',
    summary: 'Input from each source of locations',
    permission: { operation: 'READ', resource: 'source_id', owned: 'reply' },
    returns: HEALTH_OF_EACH,
    value: async ({ owned }, { operation }) => onlyOwned(await operation.health.sources(), 'source_id', owned),
  }),
  valueRoute({
    path: '/health/sources/:source_id',
    summary: 'Input from a source of locations',
    permission: { operation: 'READ', resource: 'source_id' },
    notes: { path: { source_id: 'Name of the source in locations.' } },
    returns: HEALTH_OF_ONE,
    async value({ id }, { operation }) {
      const [source] = await operation.health.sources(id);
      if (source !== undefined) return source;
      throw hubError('unknown_source', { id });
    },
  }),
];

const CLUSTER_ROUTES: readonly ApiRoute[] = [
  valueRoute({
    path: '/cluster/owners',
    versions: ['v2'],
    summary: 'Owners of the partitions, for clients that send locations directly to the owner',
    returns: ['The owners. A hub without a cluster owns the only partition.', ClusterOwners],
    value: (_call, { operation }) => operation.health.owners(),
  }),
  valueRoute({
    path: '/cluster/owners/:provider_id',
    versions: ['v2'],
    summary: 'Hub that owns a provider',
    permission: { operation: 'READ', resource: 'provider_id' },
    returns: ['The owner.', ProviderOwner],
    value: ({ id }, { operation }) => operation.health.ownerOf(id),
  }),
];

const MONTHS = ArrayOf(Consumption);

const STATS_ROUTES: readonly ApiRoute[] = [
  valueRoute({
    path: '/stats/consumption/summary',
    summary: 'Usage by month',
    returns: ['The months, earliest first; the last one is still running.', MONTHS],
    value: (_call, { operation }) => operation.usage.all(),
  }),
  valueRoute({
    path: '/stats/consumption/current',
    summary: 'Usage of the current month',
    returns: ['The month.', Consumption],
    value: async (_call, { operation }) => (await operation.usage.all()).at(-1),
  }),
  valueRoute({
    path: '/stats/consumption/:year/:month',
    summary: 'Usage of a month',
    notes: { path: { year: 'Four digits.', month: '1 to 12.' } },
    returns: ['A list of that month.', MONTHS],
    async value({ id: year, path }, { operation }) {
      const month = path.slice(path.lastIndexOf('/') + 1);
      const months = isMonth(year, month) ? await operation.usage.all() : [];
      const found = months.find((each) => each.year === Number(year) && each.month === Number(month));
      if (found !== undefined) return [found];
      throw hubError('unknown_month', { month: show(`${year}/${month}`) });
    },
  }),
];

function isMonth(year: string, month: string): boolean {
  return /^\d{4}$/.test(year) && /^\d{1,2}$/.test(month);
}

/** The hub needs no license: these routes serve systems that manage one. */
const LICENSE_ROUTES: readonly ApiRoute[] = [
  valueRoute({
    path: '/license/info',
    summary: 'Information about the license; the hub needs none',
    permission: 'public',
    returns: ['The information.', LicenseInfo],
    value: (_call, { operation }) => operation.license.info(),
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
  valueRoute({
    path: '/license/lease',
    summary: 'The effective license: that of the key, or a trial',
    notes: {
      refusals: {
        400: 'The signature of the key is invalid or cannot be verified, or the license has expired.',
        404: 'There is no key and no trial.',
      },
    },
    returns: ['The lease.', LicenseLease],
    value: (_call, { operation }) => operation.license.lease(),
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
