import { IconButton } from '../controls/button.tsx';
import { setUrlParams } from '../shell/url_state.ts';
import type { PagePart } from './sort_and_page.ts';

export const SIZES = [25, 50, 100, 250] as const;

/** Which rows are shown of how many, and the way to the others. */
export function Pager({
  page,
  pages,
  from,
  to,
  total,
  size,
}: Omit<PagePart<never>, 'rows'> & { readonly total: number; readonly size: number }) {
  const go = (next: number): void => setUrlParams({ page: next === 1 ? undefined : next });
  return (
    <nav class="list-pager" aria-label="Pages">
      <span class="soft" aria-live="polite">
        {total === 0 ? 'Nothing found' : `${from} to ${to} of ${total}`}
      </span>
      <span class="list-space" />
      <label class="row wide-only">
        <span class="soft">Rows</span>
        <select
          class="input list-size"
          value={size}
          onChange={(event) => setUrlParams({ size: event.currentTarget.value, page: undefined })}
        >
          {SIZES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <IconButton icon="left" label="Previous page" disabled={page <= 1} onClick={() => go(page - 1)} />
      <span class="soft">{`Page ${page} of ${pages}`}</span>
      <IconButton icon="right" label="Next page" disabled={page >= pages} onClick={() => go(page + 1)} />
    </nav>
  );
}
