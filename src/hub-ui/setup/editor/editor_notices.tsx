import { useId } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import flow from '../../controls/flow.module.css';
import { Link } from '../../controls/link.tsx';
import { Notice } from '../../controls/notice.tsx';
import { ago, useNow } from '../../controls/time.ts';
import typography from '../../controls/typography.module.css';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { keyOf, type RemoteChange, type ConflictSide } from '../../drafts/member_changes.ts';
import { labelOfPath, valueText } from '../../drafts/member_text.ts';
import { type Entities, type Kind, kindText } from '../../hub/entity_kinds.ts';
import { mirrorOf } from '../../hub/mirrors.ts';
import type { SavedDraft } from '../../hub/saved_drafts.ts';
import { t, tParts } from '../../languages/language.ts';
import styles from './editor_notices.module.css';
import layoutStyles from './setup_layout.module.css';

interface OvertakenProps<K extends Kind> {
  readonly kind: K;
  readonly draft: EntityDraft<K>;
  /** Current version on the hub. */
  readonly theirs: Entities[K];
}

/**
 * Notice that another user has changed the edited entity, with their changes. For fields that both have changed, the user
 * selects a value.
 */
export function OvertakenNotice<K extends Kind>({ kind, draft, theirs }: OvertakenProps<K>) {
  const changes = draft.changesOf(theirs);
  const both = changes.filter(({ isMine }) => isMine);
  const others = changes.filter(({ isMine }) => !isMine);
  const keepMine = (): void => {
    for (const change of both) draft.choose(change, 'mine');
  };
  return (
    <div class={layoutStyles.news} role="status">
      <Notice tone="warn">
        <p>{t('Another user has changed this {kind} in the meantime.', { kind: kindText(kind) })}</p>
        {both.length > 0 && (
          <>
            <p class={typography.soft}>
              {t('You have both changed these fields. Choose which value to keep for each.')}
            </p>
            {both.map((change) => (
              <WhoseValue key={keyOf(change.path)} change={change} onChoose={(whose) => draft.choose(change, whose)} />
            ))}
          </>
        )}
        {others.length > 0 && (
          <>
            <p class={typography.soft}>{t('They have also changed other fields. Saving preserves these changes.')}</p>
            <dl class={styles.changes}>
              {others.map(({ path, theirs: their }) => (
                <div key={keyOf(path)}>
                  <dt>{labelOfPath(path)}</dt>
                  <dd>
                    {tParts('{label}: {text}', { label: t('theirs'), text: <strong>{valueText(path, their)}</strong> })}
                  </dd>
                </div>
              ))}
            </dl>
          </>
        )}
        <div class={flow.row}>
          <Button onClick={() => draft.follow(theirs)}>{t('Use theirs')}</Button>
          {both.length > 0 && <Button onClick={keepMine}>{t('Keep yours')}</Button>}
        </div>
      </Notice>
    </div>
  );
}

/** Choice between the two values of a field. */
export function WhoseValue({
  change,
  onChoose,
}: {
  readonly change: RemoteChange;
  readonly onChoose: (whose: ConflictSide) => void;
}) {
  const name = useId();
  const { path, whose } = change;
  return (
    <fieldset class={styles.whose} data-open={whose === undefined || undefined}>
      <legend>{labelOfPath(path)}</legend>
      {(['theirs', 'mine'] as const).map((each) => (
        <label key={each}>
          <input type="radio" name={name} checked={whose === each} onChange={() => onChoose(each)} />
          <span>
            {tParts('{label}: {text}', {
              label: each === 'theirs' ? t('theirs') : t('yours'),
              text: <strong>{valueText(path, change[each])}</strong>,
            })}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Notice that offers the stored draft of an earlier visit. */
export function OfferedNotice({
  offered,
  onRestore,
  onDiscard,
}: {
  readonly offered: SavedDraft;
  readonly onRestore: () => void;
  readonly onDiscard: () => void;
}) {
  const nowMs = useNow(10_000);
  return (
    <div class={layoutStyles.news} role="status">
      <Notice>
        <p>{t('You have unsaved changes, made {ago}.', { ago: ago(nowMs - offered.atMs) })}</p>
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
          <Button kind="main" onClick={onRestore}>
            {t('Restore')}
          </Button>
          <Button onClick={onDiscard}>{t('Discard')}</Button>
        </div>
      </Notice>
    </div>
  );
}

/** Notice that an entity belongs to another hub and can only be changed there; nothing for other entities. */
export function MirrorNotice({ kind, entity }: { readonly kind: Kind; readonly entity: object | undefined }) {
  const mirror = mirrorOf(entity);
  if (mirror === undefined) return null;
  const { mark, link } = mirror;
  return (
    <div class={layoutStyles.news}>
      <Notice>
        {tParts('This {kind} is mirrored from {hub} by the link {link}. It can only be changed there.', {
          kind: kindText(kind),
          hub: link?.state?.hub_name ?? mark.hub,
          link:
            link === undefined ? mark.link : <Link href={`/links/${encodeURIComponent(link.id)}`}>{link.name}</Link>,
        })}
      </Notice>
    </div>
  );
}
