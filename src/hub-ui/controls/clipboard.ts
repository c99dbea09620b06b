import { t } from '../languages/language.ts';
import { toast } from './toasts.tsx';
import typography from './typography.module.css';

/** Copies a string and shows a toast. Over plain HTTP there is no clipboard API, so it falls back to `execCommand`. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('{what} copied', { what }));
  } catch {
    if (copySelected(text)) toast(t('{what} copied', { what }));
    else toast(t('{what} could not be copied: the browser does not allow it', { what }), 'danger');
  }
}

function copySelected(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = typography.hidden ?? '';
  // Append it next to the focus, since an open dialog prevents selection outside of it.
  (document.activeElement?.parentElement ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}
