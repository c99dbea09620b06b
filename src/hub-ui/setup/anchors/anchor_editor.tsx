import { useMemo, useState } from 'preact/hooks';
import type { Anchor } from '../../../model/anchor.ts';
import type { Zone } from '../../../model/zone.ts';
import { Choice } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Link } from '../../controls/link.tsx';
import type { Option } from '../../controls/select.tsx';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { editorPath } from '../../hub/page_paths.ts';
import type { Draft } from '../../hub/rest.ts';
import { useEntities } from '../../hub/stores.ts';
import { zoneNamed } from '../../hub/zone_lookup.ts';
import { t } from '../../languages/language.ts';
import { anchorPosition } from '../../map/plane/anchor_position.ts';
import { EARTH, fromMap, type MapPoint, planeOfZone } from '../../map/plane/plane.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { EditorFrame } from '../editor/editor_frame.tsx';
import { NoEditor } from '../editor/no_editor.tsx';
import { useEditor, useStored } from '../editor/use_editor.ts';
import { DraftId, DraftNumber, DraftProperties, DraftSelect, DraftText } from '../fields/draft_fields.tsx';
import positionStyles from '../fields/position_fields.module.css';
import { movedTo, PointFields } from '../fields/position_fields.tsx';
import { ContextMap } from '../map/context_map.tsx';
import { MapHint } from '../map/map_hint.tsx';
import { PointsLayer } from '../map/points_layer.tsx';
import styles from './anchor_editor.module.css';

const FIRST: Draft<'anchors'> = {};

const FIELDS = ['id', 'name', 'zone_id', 'local_position', 'georeferenced_position'].concat(
  ['local_azimuth_angle', 'global_azimuth_angle', 'elevation_angle'],
  ['properties'],
);

/** Position to edit on the map: the geographic or the local one. */
type Side = 'earth' | 'zone';

const SIDES: readonly Option<Side>[] = [
  { value: 'earth', label: t('On the earth') },
  { value: 'zone', label: t("In its zone's meters") },
];

/** Editor of an anchor. */
export function AnchorEditor({ id }: { readonly id: string | undefined }) {
  const editor = useEditor('anchors', { id, stored: useStored('anchors', id), first: FIRST });
  const zones = useEntities('zones');
  const [wanted, setSide] = useState<Side>();
  if (typeof editor === 'string') return <NoEditor kind="anchors" state={editor} />;
  const { draft, stored, mayChange } = editor;
  const value = draft.value.value;
  const zone = zoneNamed(zones.values(), value.zone_id);
  const isLocal = value.georeferenced_position == null && value.local_position != null;
  const side: Side = zone === undefined ? 'earth' : (wanted ?? (isLocal ? 'zone' : 'earth'));
  const named = zone === undefined || zone.id === value.zone_id ? [] : [value.zone_id ?? ''];
  return (
    <EditorFrame
      kind="anchors"
      editor={editor}
      fields={FIELDS}
      map={<AnchorMap key={side} {...{ draft, zone, side, mayChange }} />}
    >
      <Card stack title={t('General')}>
        <DraftId draft={draft} storedId={stored?.id} help={t('Its id in the locating system.')} />
        <DraftText draft={draft} field="name" label={t('Name')} />
        <DraftSelect
          draft={draft}
          field="zone_id"
          label={t('Zone')}
          help={t('The zone of its local position.')}
          options={[
            { value: '', label: t('None') },
            ...[...zones.values()].map((each) => ({
              value: each.id === zone?.id ? (named[0] ?? each.id) : each.id,
              label: labelOf(each),
            })),
          ]}
        />
      </Card>
      <Card stack title={t('Place')}>
        {zone !== undefined && <Choice label={t('Shown on the map')} value={side} options={SIDES} onChange={setSide} />}
        <fieldset class={styles.group}>
          <legend class={fieldStyles.legend}>{t('On the earth')}</legend>
          <PointFields draft={draft} field="georeferenced_position" plane="earth" isRemovable />
        </fieldset>
        <fieldset class={styles.group}>
          <legend class={fieldStyles.legend}>{t('In the coordinates of its zone')}</legend>
          <PointFields draft={draft} field="local_position" plane="zone" isRemovable />
        </fieldset>
        <p class={fieldStyles.help}>
          {t('With both positions, it helps to georeference')}{' '}
          {zone === undefined ? t('a zone') : <Link href={editorPath('zones', zone.id)}>{labelOf(zone)}</Link>}{' '}
          {t('that lists it as an anchor.')}
        </p>
      </Card>
      <Card stack title={t('More')}>
        <div class={`${fieldStyles.fields} ${positionStyles.three}`}>
          <DraftNumber draft={draft} field="local_azimuth_angle" label={t('Azimuth in the zone')} unit="°" />
          <DraftNumber draft={draft} field="global_azimuth_angle" label={t('Azimuth from north')} unit="°" />
          <DraftNumber draft={draft} field="elevation_angle" label={t('Elevation')} unit="°" />
        </div>
        <DraftProperties draft={draft} />
      </Card>
    </EditorFrame>
  );
}

interface AnchorMapProps {
  readonly draft: EntityDraft<'anchors'>;
  readonly zone: Zone | undefined;
  readonly side: Side;
  readonly mayChange: boolean;
}

/** Map in geographic coordinates or in the zone's meters; a click or drag sets the position and preserves the height. */
function AnchorMap({ draft, zone, side, mayChange }: AnchorMapProps) {
  const plane = useMemo(() => (side === 'zone' && zone !== undefined ? planeOfZone(zone) : EARTH), [side, zone]);
  return (
    <ContextMap plane={plane} label={t('Map of the anchor')} zone={zone} floor={zone?.floor ?? undefined}>
      <AnchorPoint {...{ draft, zone, side, mayChange }} />
    </ContextMap>
  );
}

function AnchorPoint({ draft, zone, side, mayChange }: AnchorMapProps) {
  const { plane } = useMap();
  const value = draft.value.value;
  const field = side === 'zone' ? 'local_position' : 'georeferenced_position';
  const isSet = value[field] != null;
  const points = useMemo(() => {
    const at = anchorPosition({ ...value, id: value.id ?? '' } as Anchor, zone, plane);
    return at === undefined ? [] : [{ at, label: '', isPending: !isSet }];
  }, [value, zone, plane, isSet]);
  const put = (to: readonly [number, number]): void => {
    if (!mayChange) return;
    const coordinates = movedTo(value[field]?.coordinates ?? [], fromMap(plane, to as MapPoint));
    draft.change({ [field]: { type: 'Point', coordinates } });
  };
  return (
    <>
      <PointsLayer points={points} isFixed={!mayChange} onMove={(_, to) => put(to)} onPlace={put} />
      {mayChange && <MapHint>{isSet ? t('Click or drag to move it') : t('Click where it is')}</MapHint>}
    </>
  );
}
