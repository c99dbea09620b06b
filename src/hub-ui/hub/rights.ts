import { type Text, t } from '../languages/language.ts';
import { can, type Operation } from './access.ts';
import { KINDS, type Kind, kindsText } from './kinds.ts';
import { entityPath } from './rest.ts';

/** Why somebody may not do what takes several rights: texts for the control that is off; undefined where they may. */

const DOINGS = {
  CREATE: 'create any {kind}',
  READ: 'see any {kind}',
  UPDATE: 'change any {kind}',
  DELETE: 'delete any {kind}',
} as const satisfies Readonly<Record<Operation, Text>>;

const DEMO_KINDS: readonly Kind[] = ['zones', 'fences', 'trackables', 'providers'];

export function whyNoDemo(): string | undefined {
  if (!can('CREATE', '/demo')) return t('You are not allowed to start the demo.');
  return whyNot(lacking(DEMO_KINDS, ['CREATE', 'DELETE']));
}

export function whyNoEndOfDemo(): string | undefined {
  if (!can('DELETE', '/demo')) return t('You are not allowed to remove the demo.');
  return whyNot(lacking(DEMO_KINDS, ['DELETE']));
}

/** Of importing anything at all. */
export function whyNoImport(): string | undefined {
  if (!can('CREATE', '/import') || !can('READ', '/import')) return t('You are not allowed to import.');
  if (KINDS.some((kind) => lacking([kind], ['READ', 'CREATE', 'UPDATE']).length === 0)) return undefined;
  return t('You are not allowed to create and change all of any kind.');
}

/** Of importing these kinds, and deleting what is of them in the hub alone. */
export function whyNoImportOf(kinds: Iterable<Kind>, withDeletions: boolean): string | undefined {
  return whyNot(lacking([...kinds], withDeletions ? ['CREATE', 'UPDATE', 'DELETE'] : ['CREATE', 'UPDATE']));
}

/** What of operations on any entity of kinds is not permitted: "delete zones". */
function lacking(kinds: readonly Kind[], operations: readonly Operation[]): readonly string[] {
  return operations.flatMap((operation) => {
    return kinds
      .filter((kind) => !can(operation, pathOf(operation, kind)))
      .map((kind) => t(DOINGS[operation], { kind: kindsText(kind) }));
  });
}

function pathOf(operation: Operation, kind: Kind): string {
  if (operation === 'CREATE') return `/${kind}`;
  return operation === 'READ' ? `/${kind}/summary` : entityPath(kind, 'any');
}

function whyNot(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined;
  return t('This needs more than you are allowed to: {missing}.', { missing: missing.join(', ') });
}
