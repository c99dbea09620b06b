import type { ImportMemberChange } from '../../model/import.ts';
import { lookUp, parsePointer } from '../../model/json_tree.ts';
import tableStyles from '../controls/table.module.css';
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
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
      <section class={`${tableStyles.box} ${styles.changes}`} aria-label={label} tabIndex={0}>
        <table class={tableStyles.table}>
          <thead>
            <tr>
              <th scope="col">{t('Entity')}</th>
              <th scope="col">{t('Member')}</th>
              <th scope="col">{t('In the hub')}</th>
              <th scope="col">{t('After the import')}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((change) => (
              <tr key={`${change.list} ${change.id} ${change.path}`}>
                <th scope="row">{nameOf(change, document, hub)}</th>
                <td>{memberText(change.path)}</td>
                <td class={typography.soft}>{change.before}</td>
                <td class={styles.after} data-tone={change.after === undefined ? 'danger' : undefined}>
                  {change.after ?? t('deleted')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {count > shown.length && (
        <p class={typography.faint}>{t('{count} more', { count: countText(count - shown.length) })}</p>
      )}
    </>
  );
}

/** Name of the entity, in the file or on the hub, else its id. */
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

/** `Radius` for `/radius`, `Property crew` for `/properties/crew`. */
function memberText(path: string): string {
  const [name = '', property] = parsePointer(path) ?? [];
  return property === undefined ? labelOfMember(name) : t('Property {name}', { name: property });
}
