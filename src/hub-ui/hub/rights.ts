import { type Text, t } from '../languages/language.ts';
import { can, type Operation } from './access.ts';
import { DEFINITIONS, DEFINITION_NAMES, type DefinitionName, isDefinition } from './definitions.ts';
import { KINDS, type Kind, kindsText } from './entity_kinds.ts';
import { entityPath } from './rest.ts';

/** Explanations of controls that are disabled because of missing permissions; undefined for permitted actions. */

const DOINGS = {
  CREATE: 'create any {kind}',
  READ: 'see any {kind}',
  UPDATE: 'change any {kind}',
  DELETE: 'delete any {kind}',
} as const satisfies Readonly<Record<Operation, Text>>;

const DEMO_KINDS: readonly Kind[] = ['zones', 'fences', 'trackables', 'providers'];

export function whyNoDemo(): string | undefined {
  if (!can('CREATE', '/demo')) return t('You are not allowed to start the demo.');
  return whyNot(missingPermissions(DEMO_KINDS, ['CREATE', 'DELETE']));
}

export function whyNoEndOfDemo(): string | undefined {
  if (!can('DELETE', '/demo')) return t('You are not allowed to remove the demo.');
  return whyNot(missingPermissions(DEMO_KINDS, ['DELETE']));
}

/** Explains why the user cannot import anything. */
export function whyNoImport(): string | undefined {
  if (!can('CREATE', '/import') || !can('READ', '/import')) return t('You are not allowed to import.');
  const some = [...KINDS, ...DEFINITION_NAMES].some(
    (name) => missingPermissions([name], ['READ', 'CREATE', 'UPDATE']).length === 0,
  );
  if (some) return undefined;
  return t('You are not allowed to create and change all of any kind.');
}

/** Explains why the user cannot import these lists, with locating rules and deletions if given. */
export function whyNoImportOf(
  lists: Iterable<Listed>,
  { withRules, withDeletions }: { readonly withRules: boolean; readonly withDeletions: boolean },
): string | undefined {
  const missing = missingPermissions([...lists], withDeletions ? ['CREATE', 'UPDATE', 'DELETE'] : ['CREATE', 'UPDATE']);
  const mayRules = !withRules || can('UPDATE', '/trackables/rules/locating');
  return whyNot(mayRules ? missing : [...missing, t('change the locating rules')]);
}

/** Names of lists in files. */
type Listed = Kind | DefinitionName;

/** Returns the missing permissions as phrases: "delete any zones". */
function missingPermissions(lists: readonly Listed[], operations: readonly Operation[]): readonly string[] {
  return operations.flatMap((operation) => {
    return lists
      .filter((name) => !can(operation, pathOf(operation, name)))
      .map((name) =>
        t(DOINGS[operation], { kind: isDefinition(name) ? t(DEFINITIONS[name].several) : kindsText(name) }),
      );
  });
}

function pathOf(operation: Operation, name: Listed): string {
  if (isDefinition(name)) {
    const { path } = DEFINITIONS[name];
    return operation === 'CREATE' || operation === 'READ' ? path : `${path}/any`;
  }
  if (operation === 'CREATE') return `/${name}`;
  return operation === 'READ' ? `/${name}/summary` : entityPath(name, 'any');
}

function whyNot(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined;
  return t('You lack the permissions: {missing}.', { missing: missing.join(', ') });
}
