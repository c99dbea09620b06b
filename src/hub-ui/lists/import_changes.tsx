import type { ImportMemberChange } from '../../model/import.ts';
import { lookUp, parsePointer } from '../../model/json_tree.ts';
import { type Column, Table } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import type { HubDocument, HubEntities } from '../formats/entity_document.ts';
import { isDefinition } from '../hub/definitions.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { labelOfMember } from '../problems/sentences.ts';
import styles from './import_dialog.module.css';

const SHOWN = 200;

/** Table of the members that an import changes or deletes, with values before and after. */
export function MemberChanges({
  label,
  changes,
  count,
  document,
  hub,
}: {
  readonly label: string;
  readonly changes: readonly ImportMemberChange[];
  /** Total; the hub lists only the first. */
  readonly count: number;
  readonly document: HubDocument;
  readonly hub: HubEntities;
}) {
  if (count === 0) return null;
  const shown = changes.slice(0, SHOWN);
  const columns: readonly Column<ImportMemberChange>[] = [
    { key: 'entity', title: t('Entity'), isHeading: true, cell: (change) => nameOf(change, document, hub) },
    { key: 'member', title: t('Member'), cell: ({ path }) => memberText(path) },
    { key: 'before', title: t('In the hub'), cell: ({ before }) => <span class={typography.soft}>{before}</span> },
    {
      key: 'after',
      title: t('After the import'),
      cell: ({ after }) => after ?? <span class={styles.deleted}>{t('deleted')}</span>,
    },
  ];
  return (
    <>
      <Table
        class={styles.changes}
        label={label}
        columns={columns}
        rows={shown}
        keyOf={({ list, id, path }) => `${list} ${id} ${path}`}
      />
      {count > shown.length && (
        <p class={typography.faint}>{t('{count} more', { count: countText(count - shown.length) })}</p>
      )}
    </>
  );
}

/** Name of an entity in the file or on the hub, or else its id. */
function nameOf({ list, id }: ImportMemberChange, { lists, origins, defined }: HubDocument, hub: HubEntities): string {
  if (isDefinition(list)) {
    const named = defined?.[list]?.find((each) => lookUp(each, ['id']) === id);
    return String(lookUp(named, ['name']) ?? id);
  }
  const given = lists.get(list)?.find((each) => each.id.toLowerCase() === id.toLowerCase());
  const found = hub.get(list)?.get(id.toLowerCase()) ?? hub.get(list)?.get(id);
  const name = (given ?? found)?.name ?? found?.name;
  return name ? name : (origins?.get(given?.id ?? id) ?? labelOf({ id }));
}

/** Label of a JSON Pointer: `Radius` for `/radius`, `Property crew` for `/properties/crew`. */
function memberText(path: string): string {
  const [name = '', property] = parsePointer(path) ?? [];
  return property === undefined ? labelOfMember(name) : t('Property {name}', { name: property });
}
