import type { LocationProvider } from '../../../model/provider.ts';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Link } from '../../controls/link.tsx';
import type { Option } from '../../controls/select.tsx';
import typography from '../../controls/typography.module.css';
import { labelOf } from '../../hub/entity_kinds.ts';
import { editorPath, mapPath } from '../../hub/page_paths.ts';
import type { Draft } from '../../hub/rest.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { EditorFrame } from '../editor/editor_frame.tsx';
import { NoEditor } from '../editor/no_editor.tsx';
import { useEditor, useStored } from '../editor/use_editor.ts';
import { DraftId, DraftProperties, DraftSelect, DraftText } from '../fields/draft_fields.tsx';
import { FilterSection } from '../fields/filter_section.tsx';
import { OBJECT_TIMING, TimingSection } from '../fields/timing_section.tsx';

const FIRST: Draft<'providers'> = { type: 'uwb' };

const FIELDS = [...OBJECT_TIMING, 'id', 'name', 'type', 'filter', 'properties'];

export const PROVIDER_TYPES: readonly Option<LocationProvider['type']>[] = [
  { value: 'uwb', label: 'UWB' },
  { value: 'ble-aoa', label: t('Bluetooth, angle of arrival') },
  { value: 'ble-mesh', label: t('Bluetooth mesh') },
  { value: 'wifi', label: 'Wi-Fi' },
  { value: 'gps', label: 'GPS' },
  { value: 'rfid', label: 'RFID' },
  { value: 'ibeacon', label: 'iBeacon' },
  { value: 'virtual', label: t('Virtual') },
  { value: 'unknown', label: t('Unknown') },
];

/** Editor of a location provider. */
export function ProviderEditor({ id }: { readonly id: string | undefined }) {
  const editor = useEditor('providers', { id, stored: useStored('providers', id), first: FIRST });
  const trackables = useEntities('trackables');
  if (typeof editor === 'string') return <NoEditor kind="providers" state={editor} />;
  const { draft, stored } = editor;
  const carriers = [...trackables.values()].filter(({ location_providers: ids }) => ids?.includes(stored?.id ?? ''));
  return (
    <EditorFrame kind="providers" editor={editor} fields={FIELDS}>
      <Card
        stack
        title={t('General')}
        actions={stored && <Link href={mapPath('providers', stored.id)}>{t('On the live map')}</Link>}
      >
        <DraftId draft={draft} storedId={stored?.id} help={t('The id that it reports, for example a MAC address.')} />
        <div class={fieldStyles.fields}>
          <DraftText draft={draft} field="name" label={t('Name')} />
          <DraftSelect draft={draft} field="type" label={t('Type')} options={PROVIDER_TYPES} />
        </div>
        {stored !== undefined && (
          <p>
            {carriers.length === 0 ? (
              <span class={typography.faint}>{t('It belongs to no trackable')}</span>
            ) : (
              <>
                {t('Belongs to')}{' '}
                {carriers.map((trackable, i) => (
                  <span key={trackable.id}>
                    {i > 0 && ', '}
                    <Link href={editorPath('trackables', trackable.id)}>{labelOf(trackable)}</Link>
                  </span>
                ))}
              </>
            )}
          </p>
        )}
      </Card>
      <TimingSection draft={draft} of="provider" />
      <FilterSection draft={draft} of="provider" />
      <Card title={t('More')}>
        <DraftProperties draft={draft} />
      </Card>
    </EditorFrame>
  );
}
