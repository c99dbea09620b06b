import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { SelectField } from '../../controls/field.tsx';
import { Link } from '../../controls/link.tsx';
import { labelOf } from '../../hub/entity_kinds.ts';
import { mapPath } from '../../hub/page_paths.ts';
import type { Draft } from '../../hub/rest.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { EditorFrame } from '../editor/editor_frame.tsx';
import { NoEditor } from '../editor/no_editor.tsx';
import { useEditor, useStored } from '../editor/use_editor.ts';
import { DraftProperties, DraftSelect, DraftText } from '../fields/draft_fields.tsx';
import { IdChips } from '../fields/id_chips.tsx';
import { FilterSection } from '../fields/filter_section.tsx';
import { OBJECT_TIMING, TimingSection } from '../fields/timing_section.tsx';
import { RuleList } from '../rules/rule_list.tsx';
import { TrackableShape } from './trackable_shape.tsx';

const FIRST: Draft<'trackables'> = { type: 'omlox' };

const FIELDS = [
  ...OBJECT_TIMING,
  'filter',
  'name',
  'type',
  'location_providers',
  'geometry',
  'radius',
  'extrusion',
].concat(['locating_rules', 'parent', 'calculate_collisions', 'properties']);

/** Editor of a trackable. */
export function TrackableEditor({ id }: { readonly id: string | undefined }) {
  const editor = useEditor('trackables', { id, stored: useStored('trackables', id), first: FIRST });
  const others = useEntities('trackables');
  if (typeof editor === 'string') return <NoEditor kind="trackables" state={editor} />;
  const { draft, stored } = editor;
  const { calculate_collisions: collides, locating_rules: rules } = draft.value.value;
  const carriers = [...others.values()].filter((other) => other.id !== stored?.id);
  return (
    <EditorFrame kind="trackables" editor={editor} fields={FIELDS}>
      <Card
        stack
        title={t('General')}
        actions={
          stored && <Link href={mapPath('trackables', stored.id, { isFollowed: true })}>{t('On the live map')}</Link>
        }
      >
        <DraftText draft={draft} field="name" label={t('Name')} example={t('For example Forklift 7')} />
        <div class={fieldStyles.fields}>
          <DraftSelect
            draft={draft}
            field="type"
            label={t('Type')}
            options={[
              { value: 'omlox', label: 'omlox' },
              { value: 'virtual', label: t('Virtual') },
            ]}
          />
          <DraftSelect
            draft={draft}
            field="parent"
            label={t('Carried by')}
            options={[
              { value: '', label: t('Nothing') },
              ...carriers.map((other) => ({ value: other.id, label: labelOf(other) })),
            ]}
          />
          <SelectField
            label={t('Collisions')}
            value={collides == null ? '' : String(collides)}
            options={[
              { value: '', label: t('As set for the hub') },
              { value: 'true', label: t('Included') },
              { value: 'false', label: t('Excluded') },
            ]}
            onChange={(value) => draft.change({ calculate_collisions: value === '' ? undefined : value === 'true' })}
          />
        </div>
      </Card>
      <Card title={t('Providers')}>
        <IdChips
          draft={draft}
          field="location_providers"
          kind="providers"
          icon="provider"
          help={t('The id that a tag, phone or reader reports. Unknown ids wait for their first position.')}
        />
      </Card>
      <TrackableShape draft={draft} />
      <Card stack title={t('Location priority')}>
        <p class={fieldStyles.help}>
          {rules?.length
            ? t('These rules apply instead of those of the hub.')
            : t('Without rules of its own, those of the hub apply.')}
        </p>
        <RuleList
          rules={rules ?? []}
          root="locating_rules"
          error={draft.error.value}
          onChange={(next, step) => draft.change({ locating_rules: next.length === 0 ? undefined : [...next] }, step)}
        />
      </Card>
      <TimingSection draft={draft} of="trackable" />
      <FilterSection draft={draft} of="trackable" />
      <Card title={t('More')}>
        <DraftProperties draft={draft} />
      </Card>
    </EditorFrame>
  );
}
