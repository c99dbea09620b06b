import type { ObjectKind } from '../../../model/id.ts';
import { Button } from '../../controls/button.tsx';
import { confirm } from '../../controls/dialog.tsx';
import flow from '../../controls/flow.module.css';
import { toast, toastError } from '../../controls/toasts.tsx';
import { can } from '../../hub/access.ts';
import { entityPath, request } from '../../hub/rest.ts';
import { settings } from '../../hub/settings.ts';
import { t } from '../../languages/language.ts';
import { countText } from '../../languages/numbers.ts';

interface ErasedRows {
  readonly locations: number;
  readonly motions: number;
  readonly fence_events: number;
  readonly collision_events: number;
  readonly damaged_files: number;
  readonly missing_hubs?: readonly string[];
}

/** Button that erases the recorded past of an object; nothing if the hub records none, or the user may not. */
export function EraseHistory({
  kind,
  id,
  name,
}: {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly name: string;
}) {
  const path = `${entityPath(`${kind}s`, id)}/history`;
  if (!settings.value.history || !can('DELETE', path)) return null;
  const erase = async (): Promise<void> => {
    const question = {
      title: t('Erase the history of {name}?', { name }),
      text: t('All recorded positions and events of it are lost for good. Current positions and alerts remain.'),
      action: t('Erase history'),
    };
    if (!(await confirm(question))) return;
    try {
      const erased = await request<ErasedRows>('DELETE', path);
      const rows = erased.locations + erased.motions + erased.fence_events + erased.collision_events;
      toast(t('{count} rows of {name} are erased', { count: countText(rows), name }));
      for (const hub of erased.missing_hubs ?? [])
        toast(t('Hub {hub} did not reply. Erase again when it is back.', { hub }), 'danger');
      if (erased.damaged_files > 0)
        toast(t('Files that cannot be read may still have rows. The log of the hub names them.'), 'danger');
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <Button kind="quiet" icon="clock" class={flow.wideOnly} onClick={() => void erase()}>
      {t('Erase history')}
    </Button>
  );
}
