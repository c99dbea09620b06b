import { useMemo, useState } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import { Check, FieldError } from '../../controls/field.tsx';
import fieldStyles from '../../controls/field.module.css';
import { lazyPart } from '../../controls/lazy.tsx';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { can } from '../../hub/access.ts';
import type { Draft } from '../../hub/rest.ts';
import { positionLists } from '../../../model/position_lists.ts';
import { t } from '../../languages/language.ts';
import { EARTH, type Plane } from '../../map/plane/plane.ts';
import { closedRing } from '../../map/plane/rings.ts';
import { EditorFrame } from '../editor/editor_frame.tsx';
import { NoEditor } from '../editor/no_editor.tsx';
import { useEditor } from '../editor/use_editor.ts';
import { DraftNumber, DraftProperties, DraftSelect, DraftText, problemOf } from '../fields/draft_fields.tsx';
import { FENCE_TIMING, TimingSection } from '../fields/timing_section.tsx';
import { ContextMap } from '../map/context_map.tsx';
import { DrawArea, type DrawnShape, SnapToSite } from '../map/draw_area.tsx';
import { MapHint } from '../map/map_hint.tsx';
import { FenceLive } from './fence_live.tsx';
import { drawableFence, useStoredFence, usePlaneOf } from './fence_plane.ts';
import type { FenceTools } from './fence_shape.tsx';
import { FenceShape } from './fence_shape.tsx';
import { replacing } from './heights.ts';
import { RegionLayer, radiusBetween } from './region_layer.tsx';

const CopyDialog = lazyPart(async () => (await import('../../bulk/copy_dialog.tsx')).CopyDialog);

const FIRST: Draft<'fences'> = {};

const FIELDS = [...FENCE_TIMING, 'name', 'foreign_id', 'floor', 'region', 'radius', 'extrusion', 'crs'].concat([
  'crossing',
  'untracked',
  'zone_id',
  'elevation_ref',
  'properties',
]);

/** Editor of a fence. */
export function FenceEditor({ id }: { readonly id: string | undefined }) {
  const editor = useEditor('fences', { id, stored: useStoredFence(id), first: FIRST });
  const [tool, setTool] = useState<FenceTools['tool']>(id === undefined ? 'polygon' : 'edit');
  const [selectedCorner, setSelectedCorner] = useState<readonly [number, number]>();
  const [isSnapping, setSnapping] = useState(true);
  if (typeof editor === 'string') return <NoEditor kind="fences" state={editor} />;
  const { draft, stored, mayChange } = editor;
  const tools: FenceTools = {
    draft,
    tool,
    onTool: setTool,
    selectedCorner,
    onChoose: setSelectedCorner,
    isSnapping,
    onSnapping: setSnapping,
  };
  return (
    <EditorFrame kind="fences" editor={editor} fields={FIELDS} map={<FenceMap {...tools} mayChange={mayChange} />}>
      {stored !== undefined && <FenceLive id={stored.id} isGate={stored.region.type === 'LineString'} />}
      <Card stack title={t('General')} actions={stored !== undefined && <CopyButton id={stored.id} />}>
        <DraftText draft={draft} field="name" label={t('Name')} example={t('For example Dock A')} />
        <div class={fieldStyles.fields}>
          <DraftNumber draft={draft} field="floor" label={t('Floor')} step="1" example={t('all floors')} />
          <DraftText draft={draft} field="foreign_id" label={t('External ID')} />
        </div>
      </Card>
      <FenceShape {...tools} />
      <TimingSection draft={draft} of="fence" />
      <Card stack title={t('More')}>
        <div class={fieldStyles.fields}>
          <DraftNumber draft={draft} field="extrusion" label={t('Height of the fence')} unit="m" min={0} />
          <DraftSelect
            draft={draft}
            field="elevation_ref"
            label={t('Heights are above')}
            options={[
              { value: '', label: t('Not set') },
              { value: 'floor', label: t('The floor') },
              { value: 'wgs84', label: t('The WGS 84 ellipsoid') },
            ]}
          />
          <DraftSelect
            draft={draft}
            field="crossing"
            label={t('Between two locations')}
            help={t('A gate always counts the ways between locations.')}
            options={[
              { value: '', label: t('As the hub is set') },
              { value: 'none', label: t('Nothing happens') },
              { value: 'segment', label: t('The straight way enters and leaves') },
            ]}
          />
        </div>
        <Check
          label={t('Objects inside are not located')}
          checked={draft.value.value.untracked === true}
          onChange={(on) => draft.change({ untracked: on ? true : undefined })}
        />
        <FieldError text={problemOf(draft, 'untracked')} />
        <DraftProperties draft={draft} />
      </Card>
    </EditorFrame>
  );
}

/** Button that copies the saved fence to another floor or a grid. */
function CopyButton({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  if (!can('CREATE', '/fences')) return null;
  return (
    <>
      <Button icon="copy" onClick={() => setOpen(true)}>
        {t('Copy')}
      </Button>
      {isOpen && <CopyDialog ids={[id]} onClose={() => setOpen(false)} />}
    </>
  );
}

function FenceMap(props: FenceTools & { readonly mayChange: boolean }) {
  const { draft, tool, onTool, selectedCorner, isSnapping, mayChange } = props;
  const value = draft.value.value;
  const plane = usePlaneOf(value);
  const fence = useMemo(() => drawableFence(value), [value]);
  if (plane === undefined) return <ElsewhereMap draft={draft} />;
  const drawn = (shape: DrawnShape): void => {
    draft.change(changeBy(shape, draft.value.peek(), plane));
    onTool('edit');
  };
  return (
    <ContextMap plane={plane} label={t('Map of the fence')} fence={fence} floor={value.floor ?? undefined}>
      {fence !== undefined && (
        <RegionLayer
          fence={fence}
          selectedCorner={selectedCorner}
          isEditable={tool === 'edit' && mayChange}
          onChange={(change) => draft.change(change)}
        />
      )}
      {tool !== 'edit' && <DrawArea kind={tool} onDrawn={drawn} />}
      {mayChange && isSnapping && <SnapToSite {...(value.id !== undefined && { exceptFence: value.id })} />}
      {mayChange && <MapHint>{HINTS[tool === 'edit' ? (fence?.region.type ?? 'none') : tool]}</MapHint>}
    </ContextMap>
  );
}

const HINTS = {
  polygon: t('Click the corners. Double-click, or click the first one, to finish. Escape removes the last one.'),
  circle: t('Click the center, then the edge.'),
  line: t('Click the corners of the line. Double-click to finish. Escape removes the last one.'),
  Polygon: t('Drag corners or edges. Alt-click removes a corner.'),
  Point: t('Drag the center or the edge.'),
  LineString: t('Drag corners or edges. Alt-click removes a corner.'),
  none: t('Choose how to draw the fence.'),
} as const;

/** Change of a fence by a drawn shape; heights of the replaced region are preserved. */
function changeBy(shape: DrawnShape, { region }: Draft<'fences'>, plane: Plane): Draft<'fences'> {
  const before = region === undefined ? [] : positionLists(region).flat();
  if (shape.kind === 'circle') {
    const [coordinates = []] = replacing(before, [shape.center], plane);
    return { region: { type: 'Point', coordinates }, radius: radiusBetween(shape.center, shape.edge, plane) };
  }
  const ring = replacing(before, shape.corners, plane);
  if (shape.kind === 'line') return { region: { type: 'LineString', coordinates: ring } };
  return { region: { type: 'Polygon', coordinates: [closedRing(ring)] } };
}

/** Map of a region in a UTM plane: read-only, since such regions are edited as numbers. */
function ElsewhereMap({ draft }: { readonly draft: EntityDraft<'fences'> }) {
  const selected = useMemo(() => ({ fences: draft.saved.value?.id }), [draft.saved.value]);
  return (
    <ContextMap plane={EARTH} label={t('Map of the fence')} selected={selected}>
      <MapHint>
        {t('This region is in {crs}. Edit it in the table; the map updates when you save.', {
          crs: draft.value.value.crs ?? t('another plane'),
        })}
      </MapHint>
    </ContextMap>
  );
}
