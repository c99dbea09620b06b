import { useState } from 'preact/hooks';
import { Choice } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Spinner } from '../controls/notice.tsx';
import { toastError } from '../controls/toasts.tsx';
import { useLoaded } from '../controls/use_loaded.ts';
import { can } from '../hub/access.ts';
import { listWritable } from '../hub/writable_entities.ts';
import { t } from '../languages/language.ts';
import { countedText } from '../languages/numbers.ts';
import { FloorCopies, type SiteEntities } from './floor_copies.tsx';
import { GridCopies } from './grid_copies.tsx';

interface CopyDialogProps {
  /** Ids of the fences to copy; undefined for all fences of a floor that the user selects. */
  readonly ids: readonly string[] | undefined;
  readonly onClose: () => void;
}

/** Dialog that copies fences to another floor, or one fence to a grid, with a preview. */
export function CopyDialog({ ids, onClose }: CopyDialogProps) {
  const site = useSiteEntities();
  const [mode, setMode] = useState<'floor' | 'grid'>('floor');
  const title = ids === undefined ? t('Copy a floor') : t('Copy {what}', { what: countedText(ids.length, 'fence') });
  if (site === undefined) {
    return (
      <Dialog wide title={title} onClose={onClose}>
        <Spinner />
      </Dialog>
    );
  }
  const fences = ids === undefined ? undefined : site.fences.filter(({ id }) => ids.includes(id));
  const [only] = fences ?? [];
  const choice = fences?.length === 1 && (
    <Choice
      label={t('Copies')}
      value={mode}
      onChange={setMode}
      options={[
        { value: 'floor', label: t('To a floor') },
        { value: 'grid', label: t('Grid or row') },
      ]}
    />
  );
  if (mode === 'grid' && only !== undefined) {
    return <GridCopies {...{ title, choice, onClose }} fence={only} />;
  }
  return <FloorCopies {...{ title, choice, onClose, site }} fences={fences} />;
}

/** Loads fences, zones and anchors in writable form; undefined until loaded. */
function useSiteEntities(): SiteEntities | undefined {
  const load = async (): Promise<SiteEntities> => {
    const mayCopyAnchors = can('READ', '/anchors/summary') && can('CREATE', '/anchors');
    const lists = [
      listWritable('fences'),
      listWritable('zones'),
      mayCopyAnchors ? listWritable('anchors') : [],
    ] as const;
    const [fences, zones, anchors] = await Promise.all(lists);
    return { fences, zones, anchors };
  };
  return useLoaded(load, [], { onError: toastError });
}
