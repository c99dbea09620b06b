import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { goInstalled } from '../../bench/process/go_installed.ts';
import { HELM } from '../../deploy/packages/helm_chart.ts';
import { readPermissions } from '../../src/config/permissions_file.ts';
import { ROOT } from '../documents/documents.ts';
import { configOf, podEnvironment, type Resource, resourcesIn, resourcesOf } from './deploy_files.ts';

/** Version of Kubernetes; the installed helm assumes an older one. */
const VERSION = '--kube-version=1.30';
const CHART = `${ROOT}deploy/helm`;
const SETS = readdirSync(`${CHART}/examples`).map((name) => name.replace('.yaml', ''));

const program = await goInstalled(HELM);
const skip = 'missing' in program && `no helm: ${program.missing}`;

function helm(...args: readonly string[]) {
  assert.ok('path' in program);
  return spawnSync(program.path, args, { encoding: 'utf8' });
}

/** Objects of the chart, by kind and name, as a release called hub. */
function rendered(set: string): ReadonlyMap<string, Resource> {
  const { stdout, stderr } = helm('template', 'hub', CHART, VERSION, '--values', `${CHART}/examples/${set}.yaml`);
  assert.equal(stderr, '');
  return byName(resourcesIn(stdout));
}

function byName(resources: readonly Resource[]): ReadonlyMap<string, Resource> {
  return new Map(resources.map((resource) => [`${resource.kind} ${resource.metadata.name}`, resource]));
}

/** Without the labels of the release, and what only the chart sets. */
function comparable(resource: unknown): unknown {
  const isOfRelease = (key: string) => /^(helm\.sh|app\.kubernetes\.io)\//.test(key);
  const text = JSON.stringify(resource, (key, value: object) => {
    if (key === 'labels' && Object.keys(value).every(isOfRelease)) return undefined;
    return key === 'imagePullPolicy' || isOfRelease(key) ? undefined : value;
  });
  return JSON.parse(text);
}

describe('The Helm chart', { skip }, () => {
  for (const set of SETS) {
    test(`passes the linter of helm with the values of ${set}.yaml`, () => {
      const { status, stdout } = helm('lint', '--strict', CHART, '--values', `${CHART}/examples/${set}.yaml`);
      assert.equal(status, 0, stdout);
    });

    test(`gives a hub valid settings, mounts and ports with the values of ${set}.yaml`, () => {
      const objects = rendered(set);
      const { data = {} } = objects.get('ConfigMap hub') ?? {};
      const hub = objects.get('StatefulSet hub');
      const pod = hub?.spec.template?.spec;
      assert.ok(hub && pod);
      const [container] = pod.containers;
      const config = configOf(podEnvironment(container, 'hub-0'), {
        '/config/hub_config.yaml': data['hub_config.yaml'],
      });
      assert.equal(config.port, container.ports[0]?.containerPort);
      const permissions = data['permissions.yaml'];
      assert.equal(config.require_authorization, permissions !== undefined);
      if (permissions !== undefined) readPermissions(permissions, 'permissions.yaml');

      const volumes = (pod as Partial<typeof pod>).volumes ?? [];
      const claims = hub.spec.volumeClaimTemplates ?? [];
      assert.deepEqual(
        container.volumeMounts.map(({ name }) => name).sort(),
        [...volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)].sort(),
      );
      const isMounted = (path: string) =>
        container.volumeMounts.some(({ mountPath }) => `${path}/`.startsWith(`${mountPath}/`));
      for (const { value = '' } of container.env) if (value.startsWith('/')) assert.ok(isMounted(value), value);
      for (const kind of ['Service', 'PodDisruptionBudget', 'ServiceMonitor', 'Ingress']) {
        const { spec } = objects.get(`${kind} hub`) ?? {};
        if (spec?.selector === undefined) continue;
        assert.deepEqual(
          kind === 'Service' ? spec.selector : spec.selector.matchLabels,
          hub.spec.template?.metadata.labels,
        );
      }
    });
  }

  test('renders a single hub without objects of a cluster', () => {
    assert.deepEqual([...rendered('single').keys()].sort(), ['ConfigMap hub', 'Service hub', 'StatefulSet hub']);
  });

  test('renders the objects of deploy/kubernetes for a cluster with NATS', () => {
    const plain = byName([...resourcesOf('kubernetes/hub.yaml'), ...resourcesOf('kubernetes/nats.yaml')]);
    const objects = rendered('cluster');
    assert.deepEqual([...objects.keys()].sort(), [...plain.keys()].sort());
    for (const [name, object] of plain) assert.deepEqual(comparable(objects.get(name)), comparable(object), name);
  });

  test('adds ingress, scraping and tokens, and upgrades the last hub first', () => {
    const objects = rendered('production');
    for (const kind of ['Ingress', 'ServiceMonitor', 'PodDisruptionBudget'])
      assert.ok(objects.has(`${kind} hub`), kind);
    const { spec } = objects.get('StatefulSet hub') as unknown as {
      readonly spec: { readonly updateStrategy: object };
    };
    assert.deepEqual(spec.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { partition: 2 } });
  });

  test('has the version of the hub', () => {
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { readonly version: string };
    const { stdout } = helm('show', 'chart', CHART);
    assert.deepEqual(stdout.match(/^(appVersion|version): .*$/gm)?.sort(), [
      `appVersion: ${version}`,
      `version: ${version}`,
    ]);
  });

  const PERMISSIONS = 'permissions.guest./health={READ_ANY},permissions.guest./version={READ_ANY}';
  const OIDC = 'oidc.enabled=true,oidc.configUrl=https://id.example,oidc.clientName=hub';
  for (const [values, message] of [
    ['replicas=3', 'replicas: must be 1 without cluster.enabled, found 3'],
    ['updatePartition=2', 'updatePartition: must be at most replicas (1), found 2'],
    ['nats.enabled=true', 'nats.enabled: needs cluster.enabled'],
    ['cluster.enabled=true', 'cluster.servers: must name NATS servers, or nats.enabled must be true'],
    ['cluster.servers={nats://a:4222}', 'cluster.servers: needs cluster.enabled'],
    [
      'cluster.enabled=true,nats.enabled=true,cluster.servers={nats://a:4222}',
      'cluster.servers: must be empty with nats.enabled, found nats://a:4222',
    ],
    [
      'cluster.enabled=true,nats.enabled=true,cluster.tlsSecret=',
      'cluster.tlsSecret and cluster.passwordsSecret: must not be empty with nats.enabled, whose servers require both',
    ],
    [
      'history.enabled=true,persistence.enabled=false',
      'history.enabled: needs persistence.enabled, because the history is on the volume',
    ],
    [
      'history.enabled=true,persistence.size=10Gi',
      'history.maxSize: must be less than persistence.size (10240 MiB), found 18000',
    ],
    ['settings.port=9000', 'settings.port: is set by the chart from the port of the Service'],
    [
      'secretSettings.cluster_password.name=a,secretSettings.cluster_password.key=b',
      'secretSettings.cluster_password: is set by the chart from cluster.passwordsSecret',
    ],
    [PERMISSIONS, 'permissions: need oidc.enabled, otherwise every client has full access'],
    ['oidc.enabled=true', 'oidc.configUrl and oidc.clientName: must not be empty with oidc.enabled'],
    [OIDC, 'permissions.guest: must have READ_ANY for /health, or the probes fail'],
    [
      `${OIDC},${PERMISSIONS},serviceMonitor.enabled=true`,
      'serviceMonitor: needs tokenSecret, or READ_ANY for /metrics in permissions.guest',
    ],
    ['ingress.enabled=true', 'ingress.hosts: must name a host with ingress.enabled'],
    ['settings.severity=Info', "at '/settings': additional properties 'severity' not allowed"],
    ['settings.license_key=1', "at '/settings': additional properties 'license_key' not allowed"],
    ['replica=3', "additional properties 'replica' not allowed"],
    ['persistence.size=20', "at '/persistence/size': got number, want string"],
  ] as const) {
    test(`rejects ${values}`, () => {
      const { status, stderr } = helm('template', 'hub', CHART, VERSION, '--set', values);
      assert.equal(status, 1);
      assert.ok(stderr.includes(message), stderr);
    });
  }
});
