import { useEffect, useState } from 'preact/hooks';
import type { LocatingRule } from '../../../model/rule.ts';
import { Button, IconButton } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import { Notice, Spinner } from '../../controls/notice.tsx';
import { Page } from '../../controls/page.tsx';
import { toast } from '../../controls/toasts.tsx';
import typography from '../../controls/typography.module.css';
import { can } from '../../hub/access.ts';
import { connection } from '../../hub/live.ts';
import { get, request } from '../../hub/rest.ts';
import { equal } from '../../json/equal.ts';
import { errorText } from '../../problems/sentences.ts';
import layoutStyles from '../setup_layout.module.css';
import { RuleEffect } from './rule_effect.tsx';
import { RuleList } from './rule_list.tsx';

const PATH = '/trackables/rules/locating';

type Rules = readonly LocatingRule[];

/** The locating rules of the hub, for all trackables without their own. */
export function RulesPage() {
  const [kept, setKept] = useState<Rules>();
  const [steps, setSteps] = useState<readonly Rules[]>([]);
  const [at, setAt] = useState(0);
  const [lastStep, setLastStep] = useState<string>();
  const [error, setError] = useState<unknown>();
  const rules = steps[at];
  const mayChange = can('UPDATE', PATH);
  const isChanged = !equal(rules, kept);
  const isConnected = connection.value.state === 'connected';
  useEffect(() => {
    if (isChanged && kept !== undefined) return;
    let isOver = false;
    get<Rules>(PATH).then(
      (found) => {
        if (isOver) return;
        setKept(found);
        setSteps([found]);
        setAt(0);
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
    const continues = step !== undefined && step === lastStep && at > 0;
    const past = steps.slice(0, continues ? at : at + 1);
    setLastStep(step);
    setSteps([...past, next]);
    setAt(past.length);
  };
  const go = (to: number): void => {
    setLastStep(undefined);
    setError(undefined);
    setAt(to);
  };
  const save = async (): Promise<void> => {
    try {
      const saved = await request<Rules>('PUT', PATH, { body: rules });
      setKept(saved);
      setSteps([...steps.slice(0, at), saved]);
      setError(undefined);
      toast('The rules are saved');
    } catch (problem) {
      setError(problem);
    }
  };
  const isNamed = (error as { readonly field?: string } | undefined)?.field?.startsWith('rules[') === true;
  return (
    <Page
      title="Locating rules"
      lead="Which location counts for a trackable with several providers. These rules apply to all trackables without rules of their own."
    >
      {error !== undefined && !isNamed && <Notice tone="danger">{errorText(error)}</Notice>}
      {rules === undefined || kept === undefined ? (
        error === undefined && <Spinner />
      ) : (
        <Card
          title={
            rules.length === 0 ? 'No rules: the newest location counts' : 'The match of the highest priority counts'
          }
          actions={
            mayChange ? (
              <>
                <IconButton icon="undo" label="Undo" disabled={at === 0} onClick={() => go(at - 1)} />
                <IconButton icon="redo" label="Redo" disabled={at === steps.length - 1} onClick={() => go(at + 1)} />
                <Button kind="main" disabled={!isChanged} onClick={() => void save()}>
                  Save
                </Button>
              </>
            ) : (
              <span class={typography.faint}>You can view these, but not change them</span>
            )
          }
        >
          <fieldset class={layoutStyles.fieldset} disabled={!mayChange}>
            <RuleList rules={rules} root="rules" error={error} showsHelp onChange={change} />
          </fieldset>
        </Card>
      )}
      {rules !== undefined && kept !== undefined && <RuleEffect rules={rules} kept={kept} />}
    </Page>
  );
}
