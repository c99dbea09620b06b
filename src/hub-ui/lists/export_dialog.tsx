import { useState } from 'preact/hooks';
import type { LocatingRule } from '../../model/rule.ts';
import { Button, Choice } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { download } from '../controls/download.ts';
import { Check } from '../controls/field.tsx';
import { Progress } from '../controls/progress.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { documentText } from '../formats/entity_document.ts';
import { can } from '../hub/access.ts';
import { DEFINITIONS, DEFINITION_NAMES, type DefinitionName } from '../hub/definitions.ts';
import { KINDS, type Kind, kindsText } from '../hub/entity_kinds.ts';
import { get, listEntities } from '../hub/rest.ts';
import { storeOf } from '../hub/stores.ts';
import { listWritable } from '../hub/writable_entities.ts';
import { t } from '../languages/language.ts';
import kindStyles from './kind.module.css';

/** Export formats, with the kinds in each and its purpose. */
const FORMATS = {
  json: {
    label: t('Hub'),
    kinds: KINDS,
    about: t('To import into this or another hub, here or on the command line.'),
  },
  geojson: {
    label: 'GeoJSON',
    kinds: ['zones', 'fences'],
    about: t('For maps and GIS. Importing it again preserves ids.'),
  },
  kml: {
    label: 'KML',
    kinds: ['zones', 'fences'],
    about: t('For Google Earth and other maps. Importing it again preserves ids.'),
  },
  csv: { label: 'CSV', kinds: ['trackables', 'providers'], about: t('For spreadsheets: one file per kind.') },
} as const satisfies Readonly<Record<string, { label: string; kinds: readonly Kind[]; about: string }>>;
type Format = keyof typeof FORMATS;
const OPTIONS = (Object.keys(FORMATS) as Format[]).map((value) => ({ value, label: FORMATS[value].label }));

/** Dialog that exports the selected kinds to a file, in the hub's own or an exchange format. */
export function ExportDialog({ onClose }: { readonly onClose: () => void }) {
  const [format, setFormat] = useState<Format>('json');
  const [left, setLeft] = useState<ReadonlySet<Kind | DefinitionName>>(new Set());
  const [withRules, setWithRules] = useState(true);
  const [done, setDone] = useState<number>();
  const offered: readonly Kind[] = FORMATS[format].kinds;
  const kinds = offered.filter((kind) => !left.has(kind));
  const hasRules = format === 'json' && withRules;
  const readable = format === 'json' ? DEFINITION_NAMES.filter((name) => can('READ', DEFINITIONS[name].path)) : [];
  const defined = readable.filter((name) => !left.has(name));
  const total = kinds.length + defined.length + Number(hasRules);
  const toggle = (name: Kind | DefinitionName, isOn: boolean): void => {
    const next = new Set(left);
    if (isOn) next.delete(name);
    else next.add(name);
    setLeft(next);
  };
  const write = async (): Promise<void> => {
    setDone(0);
    try {
      const now = new Date().toISOString();
      const files = await filesOf(format, { kinds, defined, hasRules, now, onRead: setDone });
      for (const { text, name, type } of files) download(text, name, type);
      toast(t('Exported to {names}', { names: files.map(({ name }) => name).join(', ') }));
      onClose();
    } catch (error) {
      toastError(error);
      setDone(undefined);
    }
  };
  return (
    <Dialog
      title={t('Export to a file')}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="main" icon="download" disabled={total === 0 || done !== undefined} onClick={() => void write()}>
            {t('Export')}
          </Button>
        </>
      }
    >
      <Choice label={t('Format')} value={format} options={OPTIONS} onChange={setFormat} />
      <p class={typography.soft}>{FORMATS[format].about}</p>
      <div>
        {offered.map((kind) => (
          <Check
            key={kind}
            label={
              <>
                <span class={kindStyles.kind}>{kindsText(kind)}</span>{' '}
                <span class={typography.faint}>{storeOf(kind).items.value.size}</span>
              </>
            }
            checked={!left.has(kind)}
            onChange={(isOn) => toggle(kind, isOn)}
          />
        ))}
        {format === 'json' && (
          <Check label={t('Locating rules of the hub')} checked={withRules} onChange={setWithRules} />
        )}
        {readable.map((name) => (
          <Check
            key={name}
            label={DEFINITIONS[name].label}
            checked={!left.has(name)}
            onChange={(isOn) => toggle(name, isOn)}
          />
        ))}
      </div>
      {done !== undefined && <Progress label={t('Exporting')} done={done} total={total} />}
    </Dialog>
  );
}

interface Exported {
  readonly text: string;
  readonly name: string;
  readonly type: string;
}

interface ExportRequest {
  readonly kinds: readonly Kind[];
  readonly defined: readonly DefinitionName[];
  readonly hasRules: boolean;
  readonly now: string;
  /** Called with the number of lists read so far. */
  onRead(count: number): void;
}

async function filesOf(format: Format, wanted: ExportRequest): Promise<readonly Exported[]> {
  const { kinds, hasRules, now, onRead } = wanted;
  const stem = `location-hub-${now.slice(0, 19).replaceAll(':', '')}`;
  // GeoJSON and KML need geographic coordinates, regardless of the stored plane.
  const isDrawn = format === 'geojson' || format === 'kml';
  const lists = new Map();
  for (const kind of kinds) {
    lists.set(kind, await (isDrawn ? listEntities(kind) : listWritable(kind)));
    onRead(lists.size);
  }
  if (isDrawn) {
    const { geoJsonText, kmlText } = await import('../formats/write_drawing.ts');
    const site = { zones: lists.get('zones') ?? [], fences: lists.get('fences') ?? [] };
    if (format === 'kml')
      return [{ text: kmlText(site), name: `${stem}.kml`, type: 'application/vnd.google-earth.kml+xml' }];
    return [{ text: geoJsonText(site), name: `${stem}.geojson`, type: 'application/geo+json' }];
  }
  if (format === 'csv') {
    const { entitiesCsv } = await import('../formats/table_entities.ts');
    return (['trackables', 'providers'] as const).flatMap((kind) =>
      lists.has(kind)
        ? [{ text: entitiesCsv(kind, lists.get(kind)), name: `${stem}-${kind}.csv`, type: 'text/csv' }]
        : [],
    );
  }
  const rules = hasRules ? await get<readonly LocatingRule[]>('/trackables/rules/locating') : undefined;
  const defined: Partial<Record<DefinitionName, readonly unknown[]>> = {};
  for (const [i, name] of wanted.defined.entries()) {
    defined[name] = await get<readonly unknown[]>(DEFINITIONS[name].path);
    onRead(lists.size + i + 1);
  }
  return [{ text: documentText({ lists, rules, defined }, now), name: `${stem}.json`, type: 'application/json' }];
}
