import { useEffect, useRef, useState } from 'preact/hooks';
import type { LocatingRule } from '../../../model/rule.ts';
import { Button, IconButton } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import flow from '../../controls/flow.module.css';
import { Notice, Spinner } from '../../controls/notice.tsx';
import { Page } from '../../controls/page.tsx';
import { toast } from '../../controls/toasts.tsx';
import typography from '../../controls/typography.module.css';
import { UndoHistory } from '../../drafts/undo_history.ts';
import { can } from '../../hub/access.ts';
import { connection } from '../../hub/live.ts';
import { get, request } from '../../hub/rest.ts';
import { saveDraft, savedDraft } from '../../hub/saved_drafts.ts';
import { equal } from '../../json/equal.ts';
import { t } from '../../languages/language.ts';
import { errorText } from '../../problems/sentences.ts';
import { OfferedNotice } from '../editor/editor_notices.tsx';
import { RuleEffect } from './rule_effect.tsx';
import { RuleList } from './rule_list.tsx';

const PATH = '/trackables/rules/locating';

const PLACE = { kind: 'rules', id: '' } as const;
/** Debounce interval for storing the draft. */
const PERSIST_AFTER_MS = 300;

type Rules = readonly LocatingRule[];

/** Page with the locating rules of the hub, which apply to all trackables without their own. */
export function RulesPage() {
  const [saved, setSaved] = useState<Rules>();
  const [versions, setVersions] = useState<UndoHistory<Rules>>();
  const [error, setError] = useState<unknown>();
  const rules = versions?.value.value;
  const mayChange = can('UPDATE', PATH);
  const isChanged = !equal(rules, saved);
  const isBeingChanged = useRef(false);
  isBeingChanged.current = isChanged;
  const isConnected = connection.value.state === 'connected';
  /** Rules saved by another user, until the user has resolved the conflict. */
  const [theirs, setTheirs] = useState<Rules>();
  const [offered, setOffered] = useState(() => savedDraft(PLACE, Date.now()));
  useEffect(() => {
    if (saved === undefined || rules === undefined) return;
    const changes = isChanged ? { rules: { was: saved, is: rules } } : (offered?.changes ?? {});
    const timer = setTimeout(() => saveDraft(PLACE, { atMs: Date.now(), changes }), isChanged ? PERSIST_AFTER_MS : 0);
    return () => clearTimeout(timer);
  }, [rules, saved, isChanged, offered]);
  useEffect(() => {
    if (isChanged && saved !== undefined) return;
    let isOver = false;
    get<Rules>(PATH).then(
      (found) => {
        // Do not overwrite rules that the user has started to edit.
        if (isOver || isBeingChanged.current) return;
        setSaved(found);
        setVersions(new UndoHistory(found));
        setError(undefined);
      },
      (problem: unknown) => {
        if (!isOver) setError(problem);
      },
    );
    return () => {
      isOver = true;
    };
  }, [isConnected]);
  const change = (next: Rules, step?: string): void => {
    setError(undefined);
    versions?.add(next, step);
  };
  const go = (to: 'undo' | 'redo'): void => {
    setError(undefined);
    versions?.[to]();
  };
  const restore = (): void => {
    const { is } = offered?.changes['rules'] ?? {};
    if (Array.isArray(is)) change(is as Rules);
    setOffered(undefined);
  };
  const takeTheirs = (): void => {
    if (theirs === undefined) return;
    setSaved(theirs);
    change(theirs);
    setTheirs(undefined);
  };
  const keepMine = (): void => {
    setSaved(theirs);
    setTheirs(undefined);
  };
  const save = async (): Promise<void> => {
    try {
      const now = await request<Rules>('GET', PATH, { isOnce: true });
      if (!equal(now, saved) && !equal(now, rules)) {
        setTheirs(now);
        return;
      }
      const answer = await request<Rules>('PUT', PATH, { body: rules });
      setSaved(answer);
      versions?.replace(answer);
      setError(undefined);
      toast(t('The rules are saved'));
    } catch (problem) {
      setError(problem);
    }
  };
  const isNamed = (error as { readonly field?: string } | undefined)?.field?.startsWith('rules[') === true;
  return (
    <Page
      title={t('Locating rules')}
      lead={t(
        'Rules choose the location of a trackable with several providers. They apply to all trackables without rules of their own.',
      )}
    >
      {theirs !== undefined && <TheirRules rules={theirs} onTake={takeTheirs} onKeep={keepMine} />}
      {offered !== undefined && rules !== undefined && (
        <OfferedNotice offered={offered} onRestore={restore} onDiscard={() => setOffered(undefined)} />
      )}
      {error !== undefined && !isNamed && <Notice tone="danger">{errorText(error)}</Notice>}
      {rules === undefined || saved === undefined ? (
        error === undefined && <Spinner />
      ) : (
        <Card
          title={
            rules.length === 0
              ? t('No rules: the newest location counts')
              : t('The matching rule with the highest priority counts')
          }
          actions={
            mayChange ? (
              <>
                <IconButton
                  icon="undo"
                  label={t('Undo')}
                  disabled={versions?.canUndo.value !== true}
                  onClick={() => go('undo')}
                />
                <IconButton
                  icon="redo"
                  label={t('Redo')}
                  disabled={versions?.canRedo.value !== true}
                  onClick={() => go('redo')}
                />
                <Button kind="main" disabled={!isChanged || theirs !== undefined} onClick={() => void save()}>
                  {t('Save')}
                </Button>
              </>
            ) : (
              <span class={typography.faint}>{t('You can view these, but not change them')}</span>
            )
          }
        >
          {mayChange ? (
            <RuleList rules={rules} root="rules" error={error} showsHelp onChange={change} />
          ) : (
            <ReadOnlyRules rules={rules} />
          )}
        </Card>
      )}
      {rules !== undefined && saved !== undefined && <RuleEffect rules={rules} saved={saved} />}
    </Page>
  );
}

function ReadOnlyRules({ rules }: { readonly rules: Rules }) {
  if (rules.length === 0) return <p class={typography.faint}>{t('none')}</p>;
  return (
    <ul>
      {rules.map(({ expression, priority }, index) => (
        <li key={index}>
          <code>{expression}</code> <span class={typography.soft}>{t('priority {priority}', { priority })}</span>
        </li>
      ))}
    </ul>
  );
}

/** Notice with the rules that another user has saved in the meantime. The form still has the rules of this user. */
function TheirRules({
  rules,
  onTake,
  onKeep,
}: {
  readonly rules: Rules;
  readonly onTake: () => void;
  readonly onKeep: () => void;
}) {
  return (
    <div role="status">
      <Notice tone="warn">
        <p>{t('Another user has changed the rules in the meantime. Your rules are below; theirs are:')}</p>
        <ReadOnlyRules rules={rules} />
        <div class={flow.row}>
          <Button onClick={onTake}>{t('Use theirs')}</Button>
          <Button onClick={onKeep}>{t('Keep yours')}</Button>
        </div>
      </Notice>
    </div>
  );
}
