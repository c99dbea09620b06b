import Type from 'typebox';
import { HubError } from '../../errors.ts';
import { HealthSource, HUB_IDENTITY, MqttHealth, SocketHealth, SystemHealth } from '../../model/health.ts';
import { HistoryHealth } from '../../model/history.ts';
import { LicenseLease, LicenseInfo, LicenseKeyBody } from '../../model/license.ts';
import { ArrayOf } from '../../model/schema.ts';
import { show } from '../../model/error_value_text.ts';
import { Consumption } from '../../model/usage.ts';
import { onlyOwned } from '../ownership.ts';
import { type Route, route } from '../route.ts';

const Version = Type.Object(
  {
    hub_version: Type.String({ description: 'Version of the hub.' }),
    vendor: Type.String({ description: 'Who has made it.' }),
    api_version: Type.String({ description: 'Version of the omlox Hub API.' }),
    ...HUB_IDENTITY,
  },
  { title: 'Version', description: 'Versions of the hub and of its API, and which hub it is.' },
);

const Health = Type.Object({}, { title: 'Health', description: 'An object without members: the hub answers.' });

const HUB_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Whether the hub answers',
    unversioned: true,
    permission: { operation: 'READ' },
    notes: { refusals: { 503: 'The hub is one of a cluster, and others should be asked: the message says why.' } },
    replies: { 200: { description: 'It does.', schema: Health } },
    handle({ reply }, { operation }) {
      const { problem } = operation.health;
      if (problem !== undefined) throw new HubError('HUB_UNAVAILABLE', `This hub cannot serve: ${problem}`);
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

const HEALTH_OF_EACH = { 200: { description: 'One for each.', schema: ArrayOf(HealthSource) } };
const HEALTH_OF_ONE = { 200: { description: 'What has come from it.', schema: HealthSource } };

const HEALTH_ROUTES: readonly Route[] = [
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
    handle: async ({ reply }, { operation }) => reply.json(JSON.stringify(await operation.health.socket())),
  }),
  route({
    method: 'GET',
    path: '/health/mqtt',
    summary: 'The connection to the MQTT broker, and what was received and published',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the MQTT client.', schema: MqttHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.mqtt())),
  }),
  route({
    method: 'GET',
    path: '/health/history',
    summary: 'What is recorded of the past, and whether it can be written',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The health of the history.', schema: HistoryHealth } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.health.history())),
  }),
  route({
    method: 'GET',
    path: '/health/zones/summary',
    summary: 'What has come from each zone',
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
    summary: 'What has come from a zone',
    permission: { operation: 'READ', resource: 'zone_id' },
    replies: HEALTH_OF_ONE,
    async handle({ id, reply }, { entities, operation }) {
      const zone = entities.zoneBy(id);
      if (zone !== undefined) return reply.json(JSON.stringify(await operation.health.zone(zone)));
      throw new HubError('HUB_NOT_FOUND', `Cannot find zone ${show(id)}: no zone has that id`);
    },
  }),
  route({
    method: 'GET',
    path: '/health/sources/summary',
    summary: 'What has come from each source of locations',
    permission: { operation: 'READ', resource: 'source_id', owned: 'reply' },
    replies: HEALTH_OF_EACH,
    async handle({ owned, reply }, { operation }) {
      return reply.json(JSON.stringify(onlyOwned(await operation.health.sources(), 'source_id', owned)));
    },
  }),
  route({
    method: 'GET',
    path: '/health/sources/:source_id',
    summary: 'What has come from a source of locations',
    permission: { operation: 'READ', resource: 'source_id' },
    notes: { path: { source_id: 'As locations name it.' } },
    replies: HEALTH_OF_ONE,
    async handle({ id, reply }, { operation }) {
      const source = await operation.health.source(id);
      if (source !== undefined) return reply.json(JSON.stringify(source));
      throw new HubError('HUB_NOT_FOUND', `Cannot find source ${show(id)}: no location has come from it`);
    },
  }),
];

const MONTHS = ArrayOf(Consumption);

const STATS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/stats/consumption/summary',
    summary: 'What was used, month by month',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The months, the earliest first; the last goes on.', schema: MONTHS } },
    handle: async ({ reply }, { operation }) => reply.json(JSON.stringify(await operation.usage.all())),
  }),
  route({
    method: 'GET',
    path: '/stats/consumption/current',
    summary: 'What was used this month up to now',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The month.', schema: Consumption } },
    handle: async ({ reply }, { operation }) => reply.json(JSON.stringify(await operation.usage.current())),
  }),
  route({
    method: 'GET',
    path: '/stats/consumption/:year/:month',
    summary: 'What was used in a month',
    permission: { operation: 'READ' },
    notes: { path: { year: 'Four digits.', month: '1 to 12.' } },
    replies: { 200: { description: 'A list of that month.', schema: MONTHS } },
    async handle({ id: year, path, reply }, { operation }) {
      const month = path.slice(path.lastIndexOf('/') + 1);
      const found = isMonth(year, month) ? await operation.usage.month(Number(year), Number(month)) : undefined;
      if (found !== undefined) return reply.json(JSON.stringify([found]));
      throw new HubError('HUB_NOT_FOUND', `Cannot find the month ${show(`${year}/${month}`)}: nothing is known of it`);
    },
  }),
];

function isMonth(year: string, month: string): boolean {
  return /^\d{4}$/.test(year) && /^\d{1,2}$/.test(month);
}

/** The hub needs no license: these are for systems that expect to be able to manage one. */
const LICENSE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/license/info',
    summary: 'What there is to say about the license; the hub needs none',
    permission: 'public',
    replies: { 200: { description: 'In words.', schema: LicenseInfo } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.license.info())),
  }),
  route({
    method: 'PUT',
    path: '/license/key',
    summary: 'Set the license key',
    permission: { operation: 'UPDATE' },
    body: LicenseKeyBody,
    notes: { refusals: { 400: 'The key does not verify by the public keys that the hub has.' } },
    replies: { 204: { description: 'The key is set.' } },
    async handle({ body, reply }, { operation }) {
      await operation.license.setKey(body);
      return reply.noContent;
    },
  }),
  route({
    method: 'GET',
    path: '/license/lease',
    summary: 'The license in force: that of the key, or a trial',
    permission: { operation: 'READ' },
    notes: {
      refusals: {
        400: 'The key does not verify, nothing can verify it, or what it gave has expired.',
        404: 'There is no key and no trial.',
      },
    },
    replies: { 200: { description: 'The lease.', schema: LicenseLease } },
    handle: ({ reply }, { operation }) => reply.json(JSON.stringify(operation.license.lease())),
  }),
  route({
    method: 'DELETE',
    path: '/license/lease',
    summary: 'Give up the license key that was set, and the trial',
    permission: { operation: 'DELETE' },
    replies: { 204: { description: 'Both are given up.' } },
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

const METRICS_ROUTES: readonly Route[] = [
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

/** What those who run the hub ask it: whether it is well, what it is used for, its license, its metrics. */
export const OPERATION_ROUTES: readonly Route[] = [
  ...HUB_ROUTES,
  ...HEALTH_ROUTES,
  ...STATS_ROUTES,
  ...LICENSE_ROUTES,
  ...METRICS_ROUTES,
];
