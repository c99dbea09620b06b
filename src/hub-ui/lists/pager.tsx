import { useId } from 'preact/hooks';
import { IconButton } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Select } from '../controls/select.tsx';
import type { PagePart } from '../controls/sort_and_page.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams } from '../controls/url_state.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import styles from './pager.module.css';

export const SIZES = [25, 50, 100, 250] as const;

/** Range and total of the rows, with controls for page and page size. */
export function Pager({
  page,
  pages,
  from,
  to,
  total,
  size,
}: Omit<PagePart<never>, 'rows'> & { readonly total: number; readonly size: number }) {
  const sizeId = useId();
  const go = (next: number): void => setUrlParams({ page: next === 1 ? undefined : next });
  return (
    <nav class={styles.pager} aria-label={t('Pages')}>
      <span class={typography.soft} aria-live="polite">
        {total === 0
          ? t('Nothing found')
          : t('{from} to {to} of {total}', { from: countText(from), to: countText(to), total: countText(total) })}
      </span>
      <span class={flow.space} />
      <label htmlFor={sizeId} class={`${flow.row} ${flow.wideOnly}`}>
        <span class={typography.soft}>{t('Rows')}</span>
        <Select
          id={sizeId}
          class={styles.size}
          value={String(size)}
          options={SIZES.map((each) => ({ value: String(each), label: String(each) }))}
          onChange={(next) => setUrlParams({ size: next, page: undefined })}
        />
      </label>
      <IconButton icon="left" label={t('Previous page')} disabled={page <= 1} onClick={() => go(page - 1)} />
      <span class={typography.soft}>{t('Page {page} of {pages}', { page, pages })}</span>
      <IconButton icon="right" label={t('Next page')} disabled={page >= pages} onClick={() => go(page + 1)} />
    </nav>
  );
}
