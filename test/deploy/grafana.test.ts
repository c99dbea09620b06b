import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testNats } from '../cluster/test_nats.ts';
import { type Line, parsePrometheus } from '../support/prometheus.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Event } from '../support/socket_client.ts';
import { textOf } from './deploy_files.ts';

interface Target {
  readonly expr?: string;
  readonly url?: string;
  readonly root_selector?: string;
  readonly columns?: readonly { readonly selector: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
}

/** Metric names with the matchers behind them. */
const METRIC = /\b((?:hub|process)_[a-z_]+)(\{[^}]*\})?/g;
const MATCHER = /([a-z]+)=~?"([^"]*)"/g;
const GROUPED = /\bby \(([^)]*)\)/g;
/** Labels that Prometheus adds. */
const SCRAPED = ['instance'];

const nats = await testNats();

function dashboard(name: string): Dashboard {
  return JSON.parse(textOf(`grafana/${name}.json`));
}

function queriesOf({ panels }: Dashboard): string[] {
  return panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr ?? []));
}

/** Metrics, labels and values of a query that a hub does not have. */
function missingIn(query: string, lines: readonly Line[]): string[] {
  const used = [...query.matchAll(METRIC)];
  assert.ok(used.length > 0, query);
  return used.flatMap(([, name = '', matchers = '']) => {
    const samples = lines.filter((line) => line.name === name);
    const has = (label: string) => SCRAPED.includes(label) || samples.some(({ labels }) => label in labels);
    if (samples.length === 0) return [`there is no ${name}`];
    const grouped = [...query.matchAll(GROUPED)].flatMap(([, labels = '']) => labels.split(', '));
    const unmatched = [...matchers.matchAll(MATCHER)].filter(([, label = '', value = '']) => {
      return (
        !SCRAPED.includes(label) && !samples.some(({ labels }) => new RegExp(`^(${value})$`).test(labels[label] ?? ''))
      );
    });
    return [
      ...grouped.filter((label) => !has(label)).map((label) => `${name} has no label ${label}`),
      ...unmatched.map(([matcher]) => `${name} has no sample with ${matcher}`),
    ];
  });
}

describe('The dashboards for Grafana', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub({ history: true }, { isAlone: true });
  });
  after(() => hub.close());

  for (const name of ['hub', 'site']) {
    test(`${name}.json queries metrics, labels and values that a running hub has`, async () => {
      const lines = parsePrometheus((await hub.get(`${hub.origin}/metrics`)).text);
      const queries = queriesOf(dashboard(name));
      assert.ok(queries.length > 10);
      assert.deepEqual(
        queries.flatMap((query) => missingIn(query, lines)),
        [],
      );
    });
  }

  test('cluster.json queries metrics that a hub of a cluster has', { skip: nats.skip }, async (t) => {
    const cluster = { cluster_servers: nats.servers.addresses, cluster_replicas: 1 };
    const open = async (name: string): Promise<TestHub> => {
      const member = await openTestHub({ ...cluster, cluster_hub_name: name }, { isAlone: true });
      t.after(member.close);
      return member;
    };
    const first = await open('a');
    await open('b');
    const queries = queriesOf(dashboard('cluster'));
    for (;;) {
      const lines = parsePrometheus((await first.get(`${first.origin}/metrics`)).text);
      // A hub measures the clocks of others when it hears from them.
      if (!lines.some(({ name }) => name === 'hub_cluster_clock_difference_ms')) continue;
      assert.deepEqual(
        queries.flatMap((query) => missingIn(query, lines)),
        [],
      );
      return;
    }
  });

  test('site.json requests history by paths and members that a hub has', async () => {
    const [target] = dashboard('site').panels.flatMap(({ targets }) => targets.filter(({ url }) => url !== undefined));
    assert.ok(target?.url !== undefined && target.columns !== undefined);
    const cart = '0b680db2-b39b-45be-be77-40d7d2296cb4';
    await hub.post('/trackables', { id: cart, type: 'omlox', location_providers: ['tag'] });
    const position = { type: 'Point', coordinates: [9, 50] };
    const source = { provider_id: 'tag', provider_type: 'uwb', source: 'test', crs: 'EPSG:4326' };
    await hub.put('/providers/locations', [{ ...source, position, floor: 1 }]);
    const root = target.root_selector ?? '';
    const rows = await recordedRows(target.url, root);
    assert.equal(rows.length, 1);
    for (const { selector } of target.columns) assert.ok(selector in rows[0], selector);
  });

  /** Resolves with the rows of a request as soon as there are any. */
  async function recordedRows(url: string, root: string): Promise<Event[]> {
    for (;;) {
      const path = url.replace(/\$\{__to:date:iso\}/, new Date().toISOString());
      const { status, text, body } = await hub.get(path);
      assert.equal(status, 200, text);
      if (body[root].length > 0) return body[root];
    }
  }

  test('missingIn finds missing metrics, labels and values only', () => {
    const lines = parsePrometheus('# HELP hub_a A.\n# TYPE hub_a gauge\nhub_a{kind="zone"} 1\n');
    assert.deepEqual(missingIn('sum by (kind) (hub_a{instance=~"$instance", kind="zone"})', lines), []);
    assert.deepEqual(missingIn('sum by (type) (hub_b)', lines), ['there is no hub_b']);
    assert.deepEqual(missingIn('sum by (type) (hub_a)', lines), ['hub_a has no label type']);
    assert.deepEqual(missingIn('hub_a{kind="fence"}', lines), ['hub_a has no sample with kind="fence"']);
  });

  test('have uids of their own, and titles of all panels', () => {
    const all = ['hub', 'cluster', 'site'].map(dashboard);
    assert.equal(new Set(all.map(({ uid }) => uid)).size, 3);
    for (const { panels } of all) for (const { title } of panels) assert.match(title, /^[A-Z]/);
  });
});
