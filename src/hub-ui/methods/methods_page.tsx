import { useCallback, useEffect, useState } from 'preact/hooks';
import type { RpcAvailable } from '../../model/rpc.ts';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { type Column, Table } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { get } from '../hub/rest.ts';
import { Json, jsonText } from '../json/json.tsx';
import { t } from '../languages/language.ts';
import { fixedText } from '../languages/numbers.ts';
import { clockText } from '../languages/times.ts';
import { errorText } from '../problems/sentences.ts';
import { CallForm } from './call_form.tsx';
import { type CallAnswer, call, type CallDraft } from './method_call.ts';
import styles from './methods_page.module.css';

/** Page for calling the methods of connected clients. */
export function MethodsPage() {
  const [available, setAvailable] = useState<RpcAvailable>();
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState<string>();
  const { answers, isCalling, start } = useCalls();
  const load = useCallback(async () => {
    try {
      setAvailable(await get<RpcAvailable>('/rpc/available'));
      setProblem(undefined);
    } catch (error) {
      setProblem(errorText(error));
    }
  }, []);
  useEffect(() => void load(), [load]);
  const names = Object.keys(available ?? {});
  const method = chosen !== undefined && names.includes(chosen) ? chosen : names[0];
  return (
    <Page
      title={t('Methods')}
      lead={t('Methods of the hub and of the clients connected to it.')}
      actions={
        <Button icon="redo" onClick={() => void load()}>
          {t('Reload')}
        </Button>
      }
    >
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {available === undefined && problem === undefined && <Spinner />}
      {available !== undefined && method !== undefined && (
        <div class={styles.columns}>
          <Methods available={available} method={method} onMethod={setChosen} />
          {can('UPDATE', '/rpc') && (
            <CallForm
              method={method}
              available={available}
              isCalling={isCalling}
              onMethod={setChosen}
              onCall={(draft) => start(draft, available)}
            />
          )}
        </div>
      )}
      {can('UPDATE', '/rpc') && <Answers answers={answers} />}
    </Page>
  );
}

interface Row {
  readonly method: string;
  readonly handlers: readonly string[];
}

function Methods({
  available,
  method,
  onMethod,
}: {
  readonly available: RpcAvailable;
  readonly method: string;
  readonly onMethod: (method: string) => void;
}) {
  const columns: readonly Column<Row>[] = [
    {
      key: 'method',
      title: t('Method'),
      cell: (row) => (
        <Button
          kind="quiet"
          class={styles.name}
          aria-pressed={row.method === method}
          onClick={() => onMethod(row.method)}
        >
          {row.method}
        </Button>
      ),
    },
    {
      key: 'handlers',
      title: t('Handlers'),
      cell: ({ handlers }) => (
        <ul class={styles.handlers}>
          {handlers.map((id) => (
            <li key={id}>
              <code>{id}</code>
            </li>
          ))}
        </ul>
      ),
    },
  ];
  return (
    <Card title={t('Available')} flush>
      <Table
        label={t('Methods')}
        columns={columns}
        rows={Object.entries(available).map(([name, { handler_id: handlers }]) => ({ method: name, handlers }))}
        keyOf={(row) => row.method}
        isSelected={(row) => row.method === method}
      />
    </Card>
  );
}

interface LoggedAnswer extends CallAnswer {
  readonly key: number;
  readonly method: string;
  readonly atMs: number;
}

/** Maximum number of answers; older ones are dropped. */
const ANSWERS_MAX = 50;

/** Returns the answers to the calls of this page, newest first, whether a call is running, and a function that starts one. */
function useCalls() {
  const [answers, setAnswers] = useState<readonly LoggedAnswer[]>([]);
  const [isCalling, setCalling] = useState(false);
  const start = (draft: CallDraft, available: RpcAvailable): void => {
    setCalling(true);
    const addAnswer = (answer: CallAnswer): void =>
      setAnswers((before) => {
        const logged = { ...answer, key: (before[0]?.key ?? 0) + 1, method: draft.method, atMs: Date.now() };
        return [logged, ...before].slice(0, ANSWERS_MAX);
      });
    void call(draft, available, addAnswer).then(() => setCalling(false));
  };
  return { answers, isCalling, start };
}

function Answers({ answers }: { readonly answers: readonly LoggedAnswer[] }) {
  return (
    <Card title={t('Answers')}>
      {answers.length === 0 ? (
        <Empty icon="code" title={t('Nothing has been called yet')} />
      ) : (
        <ul class={styles.answers} aria-live="polite">
          {answers.map((answer) => (
            <li key={answer.key}>
              <p class={flow.row}>
                <Badge tone={answer.isError ? 'danger' : 'ok'} dot>
                  {answer.isError ? t('Error') : t('Result')}
                </Badge>
                <strong>{answer.method}</strong>
                <span class={typography.soft}>{answer.handlerId ?? t('first to answer')}</span>
                <span class={flow.space} />
                <span class={typography.soft}>
                  {tookText(answer.tookMs)} · {clockText(answer.atMs)}
                </span>
              </p>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
              <pre class={styles.value} tabIndex={0}>
                <Json text={jsonText(answer.value)} />
              </pre>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function tookText(ms: number): string {
  return `${fixedText(ms, ms < 10 ? 1 : 0)} ms`;
}
