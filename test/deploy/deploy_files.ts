import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { ROOT } from '../documents/documents.ts';

/** The examples of deploy/, as far as the tests read them. */

export function textOf(path: string): string {
  return readFileSync(`${ROOT}deploy/${path}`, 'utf8');
}

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[];
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export const COMPOSE = parse(textOf('compose/compose.yaml'), { merge: true }) as Compose;

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly lifecycle: {
    readonly preStop: {
      readonly exec?: { readonly command: readonly string[] };
      readonly sleep?: { readonly seconds: number };
    };
  };
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly enableServiceLinks: boolean;
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

export interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly ports?: readonly { readonly name: string; readonly port: number }[];
    /** Labels of a Service; a selector of labels for all other kinds. */
    readonly selector: Readonly<Record<string, string>> & { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

export function resourcesOf(path: string): readonly Resource[] {
  return resourcesIn(textOf(path));
}

export function resourcesIn(text: string): readonly Resource[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Resource);
}

/** Configurations of the NATS servers, by deployment. */
export const NATS_CONFIGURATIONS = {
  compose: textOf('compose/nats.conf'),
  kubernetes: resourcesOf('kubernetes/nats.yaml').find(({ kind }) => kind === 'ConfigMap')?.data?.['nats.conf'] ?? '',
};

/** Variables of the image with their values. */
export const IMAGE_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  [...textOf('Dockerfile').matchAll(/^(?:ENV| {3}) ([A-Z_]+)=(\S+)/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
);

/** Environment of a hub, with placeholders for secrets. */
export function composeEnvironment(hub: string): Record<string, string> {
  const { environment = {} } = COMPOSE.services[hub] ?? {};
  const filled = Object.entries(environment).map(([name, value]) => [name, value.replace(/^\$\{(\w+):\?.*\}$/, '$1')]);
  return { ...IMAGE_ENVIRONMENT, ...Object.fromEntries(filled) };
}

/** Environment of a hub container in a pod with this name. */
export function podEnvironment({ env }: Container, pod: string): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.secretKeyRef?.key ?? pod]);
  return { ...IMAGE_ENVIRONMENT, ...Object.fromEntries(own) };
}

/** Loads the configuration of a hub with this environment, and with these files by path. Fails on warnings. */
export function configOf(
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string | undefined>> = {},
): Config {
  const warnings: unknown[] = [];
  const config = loadConfig({
    env,
    cwd: '/',
    cores: 4,
    readFile: (path) => files[path],
    warn: (...all) => warnings.push(all),
  });
  assert.deepEqual(warnings, []);
  return config;
}
