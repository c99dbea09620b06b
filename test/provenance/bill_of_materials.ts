import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { recorded } from './binaries.ts';

/** A package of the bill, or a file of one. */
export interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version?: string;
  readonly scope?: string;
  readonly purl?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
  readonly components?: readonly Component[];
}

/** A software bill of materials as CycloneDX 1.5 has it. */
export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  readonly version: number;
  readonly metadata: { readonly component: Component } & Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const ROOT = new URL('../../', import.meta.url);

/**
 * What the hub is made of, as npm says of package-lock.json and of what is installed. npm leaves out the native files, so
 * they are added to their packages as they were recorded, and names the hub after its folder. The same packages give the
 * same bill: without the number and the time that npm makes up, and in order.
 */
export function billOfMaterials(): BillOfMaterials {
  const args = ['sbom', '--sbom-format', 'cyclonedx'];
  const text = execFileSync('npm', args, { cwd: fileURLToPath(ROOT), encoding: 'utf8', maxBuffer: 64 << 20 });
  const { serialNumber: _made, ...bill } = JSON.parse(text) as BillOfMaterials & { readonly serialNumber: string };
  const { timestamp: _now, ...metadata } = bill.metadata;
  const { name } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { readonly name: string };
  return {
    ...bill,
    metadata: { ...metadata, component: { ...bill.metadata.component, name, type: 'application' } },
    components: sorted(bill.components.map(withNativeFiles), ({ 'bom-ref': ref }) => ref),
    dependencies: sorted(
      bill.dependencies.map(({ ref, dependsOn }) => ({ ref, dependsOn: sorted(dependsOn, (each) => each) })),
      ({ ref }) => ref,
    ),
  };
}

function withNativeFiles(component: Component): Component {
  const { name, 'bom-ref': ref } = component;
  const folder = `node_modules/${name}/`;
  const files = [...recorded()].filter(([path]) => path.startsWith(folder));
  if (files.length === 0) return component;
  const components = files.map(([path, content]) => {
    const file = path.slice(folder.length);
    return { 'bom-ref': `${ref}#${file}`, type: 'file', name: file, hashes: [{ alg: 'SHA-256', content }] };
  });
  return { ...component, components };
}

function sorted<T>(list: readonly T[], by: (element: T) => string): readonly T[] {
  return [...list].sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0));
}
