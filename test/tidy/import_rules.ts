import { cruise, type IConfiguration, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import { AREAS, HUB_STARTERS, OPTIONAL_ROOMS, SHARED, SINGLE_SITES } from './areas.ts';
import { FOLDERS } from './source_file.ts';

/**
 * The table of areas.ts as rules of dependency-cruiser, which reads the imports, those of types included. TypeScript 7 has
 * no API for parsing yet, so swc parses the files. The command line reports a missing TypeScript compiler, but works
 * nevertheless: `npx depcruise --config .dependency-cruiser.mjs --output-type dot src` draws the rooms.
 */

type Forbidden = NonNullable<IConfiguration['forbidden']>[number];

/** Files of this project; everything else is a package or a module of Node. */
const OURS = String.raw`^(${FOLDERS.join('|')})/|^package\.json$`;
const TESTS = ['^test/', '^bench/'];

export const OPTIONS: ICruiseOptions = {
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  // Files there import a client that a generator creates when its test runs, or are made of others.
  exclude: { path: '^(test/clients/generators/typescript|sdk/[a-z]+/dist)/' },
  enhancedResolveOptions: {
    extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    exportsFields: ['exports'],
    conditionNames: ['import', 'node', 'default', 'types'],
  },
};

export const FORBIDDEN: Forbidden[] = [
  ...AREAS.map(
    ({ path, mayImport }, index): Forbidden => ({
      name: `${path} imports only what it may import`,
      severity: 'error',
      from: { path: place(path), pathNot: before(index) },
      to: { path: OURS, pathNot: [path, ...SHARED, ...mayImport].map(place) },
    }),
  ),
  ...AREAS.flatMap(({ path, packages }, index): Forbidden[] => {
    if (packages === undefined) return [];
    return [
      {
        name: `${path} is pure: it imports few packages or none, and nothing of Node`,
        severity: 'error',
        from: { path: place(path), pathNot: before(index) },
        to: { pathNot: [OURS, ...packages.map(packaged)] },
      },
    ];
  }),
  {
    name: 'each file is in an area of test/tidy/areas.ts',
    severity: 'error',
    from: { path: OURS, pathNot: [...AREAS.map(({ path }) => place(path)), String.raw`^package\.json$`] },
    to: {},
  },
  ...Object.entries(SINGLE_SITES).map(
    ([name, sites]): Forbidden => ({
      name: `${name} is imported in ${sites.join(' and ')} only`,
      severity: 'error',
      from: { path: OURS, pathNot: [...sites.map(place), ...TESTS] },
      to: { path: packaged(name) },
    }),
  ),
  {
    name: 'only main.ts and tests import hub.ts: what others need, the hub hands them',
    severity: 'error',
    from: { pathNot: HUB_STARTERS.map(place) },
    to: { path: place('src/hub/hub.ts') },
  },
  ...OPTIONAL_ROOMS.map(
    ({ path, importers }): Forbidden => ({
      name: `only import() loads ${path}: most hubs do without it`,
      severity: 'error',
      from: { pathNot: importers.map(place) },
      to: { path: place(path), dynamic: false, dependencyTypesNot: ['type-only'] },
    }),
  ),
  {
    name: 'files import each other in no circle',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
];

/** A violation: the broken rule, and the import. */
export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  /** Files of an import cycle: each imports the next, and the last the first. Empty without a cycle. */
  readonly circle: readonly string[];
}

/** Checks the files in these folders below a root against the rules. Rejects if a file cannot be read or parsed. */
export async function readImports(root: string, folders = FOLDERS): Promise<ICruiseResult> {
  const { output } = await cruise(folders, {
    ...OPTIONS,
    baseDir: root,
    ruleSet: { forbidden: FORBIDDEN },
    validate: true,
  });
  if (typeof output === 'string') throw new Error('Cannot read imports: found a report in the place of a result');
  return output;
}

export function violationsIn({ summary }: ICruiseResult): readonly Violation[] {
  return summary.violations.map(({ rule, from, to, cycle = [] }) => {
    return { rule: rule.name, from, to, circle: cycle.map(({ name }) => name) };
  });
}

/** Imports of files of this project that do not exist. */
export function brokenImports({ modules }: ICruiseResult): readonly string[] {
  return modules.flatMap(({ source, dependencies }) =>
    dependencies
      .filter(({ module, couldNotResolve }) => couldNotResolve && module.startsWith('.'))
      .map(({ module }) => `${source}: ${module}`),
  );
}

/** Rooms that import each other, directly or indirectly. Each list is one cycle. */
export function roomCircles({ modules }: ICruiseResult): readonly string[][] {
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = roomOf(source);
    if (from === undefined) continue;
    const to = dependencies.flatMap(({ resolved }) => roomOf(resolved) ?? []);
    imports.set(from, new Set([...(imports.get(from) ?? []), ...to]));
  }
  const reached = new Map([...imports.keys()].map((room) => [room, reachedFrom(room, imports)]));
  const knots = [...reached].map(([room, others]) =>
    [...others].filter((other) => other !== room && reached.get(other)?.has(room) === true).concat(room),
  );
  return [...new Set(knots.filter(({ length }) => length > 1).map((rooms) => rooms.sort().join(' ')))].map((rooms) =>
    rooms.split(' '),
  );
}

/** Room of a path: `src/api` for everything below it, `test` for all tests; undefined for other files. */
function roomOf(path: string): string | undefined {
  if (!new RegExp(OURS).test(path)) return undefined;
  const [folder = '', room] = path.split('/');
  return folder === 'src' ? `${folder}/${room}` : folder;
}

function reachedFrom(room: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [room];
  for (let from = next.pop(); from !== undefined; from = next.pop()) {
    for (const to of imports.get(from) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      next.push(to);
    }
  }
  return reached;
}

/** Pattern of the file, or of everything in the folder. */
function place(path: string): string {
  return `^${escaped(path)}(/|$)`;
}

/** Areas before this one in the table, which take precedence. */
function before(index: number): string[] {
  return AREAS.slice(0, index).map(({ path }) => place(path));
}

/** Pattern of a package, or of a file in it: its path if it is installed, or its name. */
function packaged(name: string): string {
  return `^(node_modules/)?${escaped(name)}(/|$)`;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
