import { useMemo, useState } from 'preact/hooks';
import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import fieldStyles from '../controls/field.module.css';
import { Check, NumberField, SelectField, TextField } from '../controls/field.tsx';
import { can } from '../hub/access.ts';
import { floorsOf } from '../hub/floors.ts';
import { createEntity } from '../hub/rest.ts';
import { runAll } from '../hub/run_all.ts';
import { t } from '../languages/language.ts';
import { anchorsIn, anchorsOnFloor, fencesOnFloor, zoneOnFloor } from './copies.ts';
import { type CopiesProps, CopyFrame, type Created, createAll, type Make, named, PATTERN_HELP } from './copy_frame.tsx';

/** Entities that can be copied, in exportable form. */
export interface SiteEntities {
  readonly fences: readonly Fence[];
  readonly zones: readonly Zone[];
  readonly anchors: readonly Anchor[];
}

/** Form that copies fences to another floor, or a whole floor. */
export function FloorCopies({
  fences: given,
  site,
  ...frame
}: CopiesProps & { readonly fences: readonly Fence[] | undefined; readonly site: SiteEntities }) {
  const floors = floorsOf([...site.fences, ...site.zones.map(({ floor }) => ({ floor: floor ?? 0 }))]).sort(
    (a, b) => a - b,
  );
  const [from, setFrom] = useState(floors[0] ?? 0);
  const [to, setTo] = useState<number | undefined>(() => (floors.at(-1) ?? 0) + 1);
  const [pattern, setPattern] = useState(t('{name}, floor {floor}', { name: '{name}', floor: '{floor}' }));
  const [hasZones, setHasZones] = useState(false);
  const fences = given ?? site.fences.filter(({ floor }) => floor === from);
  const zones = given === undefined && hasZones ? site.zones.filter((zone) => (zone.floor ?? 0) === from) : [];
  const anchors = anchorsIn(site.anchors, zones);
  const copies = useMemo(() => {
    if (to === undefined) return [];
    const made = zones.map((zone, i) => zoneOnFloor(zone, { floor: to, pattern, n: i + 1 }));
    const zoneIds = new Map(anchors.map(({ zone_id: zoneId }) => [zoneId ?? '', '']));
    const theirs = anchorsOnFloor(anchors, { floor: to, pattern, zoneIds });
    return [...made, ...theirs, ...fencesOnFloor(fences, { floor: to, pattern })];
  }, [fences, zones.length, to, pattern]);
  const make: Make = async (options) => {
    if (to === undefined) return { created: [], failures: [] };
    const zoneIds = new Map<string, string>();
    const created: Created[] = [];
    const zoneFailures = await runAll(
      zones,
      async (zone) => {
        const { id } = await createEntity(
          'zones',
          zoneOnFloor(zone, { floor: to, pattern, n: zones.indexOf(zone) + 1 }),
        );
        created.push({ kind: 'zones', id });
        for (const name of [zone.id, zone.foreign_id]) if (name != null) zoneIds.set(name, id);
      },
      options,
    );
    const on = { floor: to, pattern, zoneIds };
    const anchorFailures = await createAll('anchors', anchorsOnFloor(anchors, on), created, options);
    const fenceFailures = await createAll('fences', fencesOnFloor(fences, on), created, options);
    return { created, failures: [...named(zoneFailures), ...named(anchorFailures), ...named(fenceFailures)] };
  };
  return (
    <CopyFrame {...frame} copies={copies} make={make}>
      <div class={fieldStyles.fields}>
        {given === undefined && (
          <SelectField
            label={t('From floor')}
            value={String(from)}
            options={floors.map((floor) => ({ value: String(floor), label: String(floor) }))}
            onChange={(floor) => setFrom(Number(floor))}
          />
        )}
        <NumberField label={t('To floor')} step="1" value={to} onInput={setTo} />
      </div>
      <TextField label={t('Names')} help={PATTERN_HELP} value={pattern} onInput={setPattern} />
      {given === undefined && can('CREATE', '/zones') && (
        <Check
          label={t('Also copy the zones of the floor, with plans and anchors')}
          checked={hasZones}
          onChange={setHasZones}
        />
      )}
    </CopyFrame>
  );
}
