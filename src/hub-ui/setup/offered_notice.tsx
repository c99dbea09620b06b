import { Button } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import type { KeptDraft } from '../hub/kept_drafts.ts';
import type { Kind } from '../hub/kinds.ts';
import type { EntityDraft } from './draft.ts';
import { labelOfPath, valueText } from './member_text.ts';
import styles from './overtaken_notice.module.css';
import layoutStyles from './setup_layout.module.css';

/** Offers what was left unsaved before the page was loaded. */
export function OfferedNotice<K extends Kind>({
  draft,
  offered,
}: {
  readonly draft: EntityDraft<K>;
  readonly offered: KeptDraft;
}) {
  const nowMs = useNow(10_000);
  const restore = (): void => {
    draft.restore(offered.changes);
    draft.offered.value = undefined;
  };
  return (
    <div class={layoutStyles.news} role="status">
      <Notice>
        <p>{`You left changes here that are not saved, written ${ago(nowMs - offered.atMs)}.`}</p>
        <dl class={`${styles.changes} ${typography.soft}`}>
          {Object.entries(offered.changes).map(([name, { is }]) => (
            <div key={name}>
              <dt>{labelOfPath([name])}</dt>
              <dd>
                <strong>{valueText([name], is)}</strong>
              </dd>
            </div>
          ))}
        </dl>
        <div class={flow.row}>
          <Button kind="main" onClick={restore}>
            Restore
          </Button>
          <Button
            onClick={() => {
              draft.offered.value = undefined;
            }}
          >
            Discard
          </Button>
        </div>
      </Notice>
    </div>
  );
}
