import { useState } from 'preact/hooks';
import type { MapView } from '../../../model/view.ts';
import { Button, IconButton } from '../../controls/button.tsx';
import { confirm } from '../../controls/dialog.tsx';
import fieldStyles from '../../controls/field.module.css';
import { toast, toastError } from '../../controls/toasts.tsx';
import typography from '../../controls/typography.module.css';
import { can } from '../../hub/access.ts';
import { t } from '../../languages/language.ts';
import popoverStyles from './popover.module.css';
import {
  deleteView,
  loadViews,
  mayReadViews,
  maySaveViews,
  openView,
  saveView,
  setStart,
  views,
} from './saved_views.ts';
import { usePopover } from './use_popover.ts';
import styles from './view_menu.module.css';

/** Named views of the map, shared by all users. */
export function ViewMenu() {
  const [isOpen, setOpen] = useState(false);
  const box = usePopover(isOpen, () => setOpen(false));
  if (!mayReadViews()) return null;
  const toggle = (): void => {
    if (!isOpen) loadViews().catch(toastError);
    setOpen(!isOpen);
  };
  return (
    <div class={popoverStyles.box} ref={box}>
      <IconButton icon="bookmark" label={t('Saved views')} aria-expanded={isOpen} onClick={toggle} />
      {isOpen && (
        <div class={`${popoverStyles.popover} ${styles.menu}`}>
          <h2 class={typography.caption}>{t('Saved views')}</h2>
          {views.value?.length === 0 && (
            <p class={typography.faint}>{t('None yet. All users of this hub see saved views.')}</p>
          )}
          {(views.value ?? []).length > 0 && (
            <ul class={styles.views}>
              {(views.value ?? []).map((view) => (
                <Row key={view.id} view={view} onOpen={() => setOpen(false)} />
              ))}
            </ul>
          )}
          {maySaveViews() && <Save />}
        </div>
      )}
    </div>
  );
}

function Row({ view, onOpen }: { readonly view: MapView; readonly onOpen: () => void }) {
  const path = `/views/${view.id}`;
  const isStart = view.is_start === true;
  const open = (): void => {
    openView(view);
    onOpen();
  };
  const remove = async (): Promise<void> => {
    const question = {
      title: t('Delete the view {name}?', { name: view.name }),
      text: t('It will be deleted for all users.'),
      action: t('Delete view'),
    };
    if (await confirm(question)) await deleteView(view).catch(toastError);
  };
  return (
    <li>
      <button type="button" class={styles.view} onClick={open}>
        {view.name}
      </button>
      {can('UPDATE', path) && (
        <IconButton
          icon="star"
          label={t('Start with {name}', { name: view.name })}
          aria-pressed={isStart}
          onClick={() => void setStart(view, !isStart).catch(toastError)}
        />
      )}
      {can('DELETE', path) && (
        <IconButton icon="trash" label={t('Delete {name}', { name: view.name })} onClick={() => void remove()} />
      )}
    </li>
  );
}

/** Form that saves the current view under a name. */
function Save() {
  const [name, setName] = useState('');
  const save = async (): Promise<void> => {
    try {
      await saveView(name.trim());
      toast(t('The view is saved'));
      setName('');
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <form
      class={styles.save}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        class={fieldStyles.input}
        aria-label={t('Name of this view')}
        placeholder={t('Name of this view')}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" disabled={name.trim() === ''}>
        {t('Save')}
      </Button>
    </form>
  );
}
