import type { Fence } from '../../../model/fence.ts';
import { positionLists } from '../../../model/position_lists.ts';
import { Button, IconButton } from '../../controls/button.tsx';
import { Disclosure } from '../../controls/disclosure.tsx';
import { NumberInput } from '../../controls/number_input.tsx';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import { openRing } from '../../map/plane/rings.ts';
import { problemPlaces } from '../fields/draft_fields.tsx';
import positionStyles from '../fields/position_fields.module.css';
import { PositionCells, PositionTable } from '../fields/position_fields.tsx';
import { withCorner, withCornerAfter, withoutCorner } from './corners.ts';

interface CornerTableProps {
  readonly draft: EntityDraft<'fences'>;
  readonly region: Fence['region'];
  /** Corner selected on the map, as ring and index. */
  readonly selectedCorner: readonly [number, number] | undefined;
  readonly onChoose: (corner: readonly [number, number] | undefined) => void;
}

/** Table of the region's positions, including heights. */
export function CornerTable({ draft, region, selectedCorner, onChoose }: CornerTableProps) {
  const isLine = region.type === 'LineString';
  const rings = isLine ? positionLists(region) : positionLists(region).map(openRing);
  const isLocal = draft.value.value.crs != null && draft.value.value.crs !== 'EPSG:4326';
  const [xName, yName] = isLocal ? ['x', 'y'] : [t('Longitude'), t('Latitude')];
  const set = (corner: readonly [number, number], to: readonly number[]): void => {
    draft.change({ region: withCorner(region, corner, to) }, `corner ${corner}`);
  };
  const addCorner = (): void => {
    const after = selectedCorner ?? ([0, (rings[0]?.length ?? 1) - 1] as const);
    draft.change({ region: withCornerAfter(region, after) });
    onChoose([after[0], after[1] + 1]);
  };
  const wrong = problemPlaces(draft);
  return (
    <Disclosure
      title={t('{rings} as numbers', {
        rings: region.type === 'Point' ? t('Center') : t('{count} corners', { count: rings.flat().length }),
      })}
      isOpen={wrong.some((place) => place.startsWith('region.'))}
    >
      <PositionTable hasActions label={t('Corners')} columns={[xName, yName, t('Height')]}>
        {rings.flatMap((ring, r) =>
          ring.map((position, i) => {
            const list = isLine ? 'region.coordinates' : `region.coordinates[${r}]`;
            const place = region.type === 'Point' ? 'region.coordinates' : `${list}[${i}]`;
            const name =
              r === 0
                ? t('corner {number}', { number: i + 1 })
                : t('corner {number} of hole {hole}', { number: i + 1, hole: r });
            return (
              <tr
                key={place}
                aria-selected={selectedCorner?.[0] === r && selectedCorner[1] === i}
                onFocusIn={() => onChoose([r, i])}
              >
                <th scope="row">{r === 0 ? i + 1 : `${r}·${i + 1}`}</th>
                <PositionCells
                  position={position}
                  labels={[t('{xName} of {name}', { xName, name }), t('{yName} of {name}', { yName, name })]}
                  isWrong={wrong.includes(place)}
                  onChange={(to) => set([r, i], to)}
                />
                <td>
                  <NumberInput
                    class={positionStyles.cell}
                    aria-label={t('Height of {name}', { name })}
                    value={position[2]}
                    onInput={(height) =>
                      set([r, i], [...position.slice(0, 2), ...(height === undefined ? [] : [height])])
                    }
                  />
                </td>
                <td>
                  {ring.length > (isLine ? 2 : 3) && (
                    <IconButton
                      icon="trash"
                      label={t('Remove {name}', { name })}
                      onClick={() => {
                        onChoose(undefined);
                        draft.change({ region: withoutCorner(region, [r, i]) });
                      }}
                    />
                  )}
                </td>
              </tr>
            );
          }),
        )}
      </PositionTable>
      {region.type !== 'Point' && (
        <Button icon="plus" onClick={addCorner}>
          {selectedCorner === undefined
            ? t('Add corner')
            : t('Add corner after {number}', { number: selectedCorner[1] + 1 })}
        </Button>
      )}
    </Disclosure>
  );
}
