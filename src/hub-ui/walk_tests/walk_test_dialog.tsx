import { useState } from 'preact/hooks';
import type { WalkTest } from '../../model/walk_test.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { AreaField, SelectField, TextField } from '../controls/field.tsx';
import { Notice } from '../controls/notice.tsx';
import { labelOf } from '../hub/entity_kinds.ts';
import { errorAt, request } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { readPoints } from './walk_points.ts';

const EXAMPLE = 'P1,8.6828,50.1113,1.2,0';

/** Dialog that starts a walk test. */
export function WalkTestDialog({
  onClose,
  onStarted,
}: {
  readonly onClose: () => void;
  readonly onStarted: (test: WalkTest) => void;
}) {
  const trackables = [...useEntities('trackables').values()];
  const providers = [...useEntities('providers').values()];
  const zones = [...useEntities('zones').values()];
  const [name, setName] = useState('');
  const [object, setObject] = useState('');
  const [zoneId, setZoneId] = useState('');
  const [table, setTable] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const [kind = '', ...id] = object.split(' ');
      const points = zoneId === '' ? { points: readPoints(table) } : { zone_id: zoneId };
      const body = { name, object_type: kind, object_id: id.join(' '), ...points };
      onStarted(await request<WalkTest>('POST', '/walk_tests', { body }));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const objects = [
    { value: '', label: t('Choose the tag') },
    ...trackables.map((entity) => ({ value: `trackable ${entity.id}`, label: labelOf(entity) })),
    ...providers.map((entity) => ({ value: `provider ${entity.id}`, label: labelOf(entity) })),
  ];
  return (
    <Dialog
      title={t('New walk test')}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="main" disabled={isBusy || name === '' || object === ''} onClick={() => void start()}>
            {t('Start walk test')}
          </Button>
        </>
      }
    >
      <TextField label={t('Name')} value={name} onInput={setName} error={errorAt(error, 'name')} />
      <SelectField label={t('Tag that is carried')} value={object} options={objects} onChange={setObject} />
      <SelectField
        label={t('Surveyed points')}
        value={zoneId}
        options={[
          { value: '', label: t('From a table') },
          ...zones.map((zone) => ({ value: zone.id, label: t('Anchors of {name}', { name: labelOf(zone) }) })),
        ]}
        onChange={setZoneId}
      />
      {zoneId === '' && (
        <AreaField
          label={t('Table')}
          help={
            <>
              {t('Columns id, longitude, latitude, and optionally z and floor.')} <code>{EXAMPLE}</code>
            </>
          }
          mono
          rows={6}
          value={table}
          onInput={setTable}
        />
      )}
      {error !== undefined && <Notice tone="danger">{errorText(error)}</Notice>}
    </Dialog>
  );
}
