import { useState } from 'preact/hooks';
import { Badge } from '../controls/badge.tsx';
import { IconButton, IconLink } from '../controls/button.tsx';
import { Icon } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import type { LoggedEvent } from '../hub/event_log.ts';
import { editorPath, mapPath } from '../hub/page_paths.ts';
import jsonStyles from '../json/json.module.css';
import { Json, jsonText } from '../json/json.tsx';
import { t } from '../languages/language.ts';
import { clockText, wholeText } from '../languages/times.ts';
import { EVENT_LOOKS } from './event_looks.ts';
import { hasPlace, placeOf, type Subject, describeEvent } from './event_text.ts';
import styles from './log_rows.module.css';

/** List of events; each row can be expanded. */
export function LogRows({ rows }: { readonly rows: readonly LoggedEvent[] }) {
  const [openKey, setOpenKey] = useState<number>();
  return (
    <ol class={styles.log} aria-label={t('Events')}>
      {rows.map((logged) => (
        <Row
          key={logged.key}
          logged={logged}
          isOpen={logged.key === openKey}
          onToggle={() => setOpenKey(logged.key === openKey ? undefined : logged.key)}
        />
      ))}
    </ol>
  );
}

function Row({
  logged,
  isOpen,
  onToggle,
}: {
  readonly logged: LoggedEvent;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const { label, tone, icon } = EVENT_LOOKS[logged.is];
  const at = new Date(logged.atMs);
  return (
    <li>
      <div class={styles.row}>
        <time class={styles.time} dateTime={at.toISOString()} title={wholeText(logged.atMs)}>
          {clockText(logged.atMs)}
        </time>
        <span class={styles.kind}>
          <Badge tone={tone}>
            <Icon name={icon} width={12} height={12} />
            {label}
          </Badge>
        </span>
        <span class={styles.text}>
          {describeEvent(logged).map((part) => {
            return typeof part === 'string' ? part : <SubjectLink key={part.kind + part.id} subject={part} />;
          })}
        </span>
        {hasPlace(logged) ? <IconLink href={placeOf(logged)} icon="map" label={t('Show on the map')} /> : <span />}
        <IconButton icon="code" label={t('JSON of the event')} aria-expanded={isOpen} onClick={onToggle} />
      </div>
      {isOpen && (
        <pre class={`${jsonStyles.box} ${styles.json}`}>
          <Json text={jsonText(logged.event)} />
        </pre>
      )}
    </li>
  );
}

function SubjectLink({ subject: { kind, id, label } }: { readonly subject: Subject }) {
  const isMoving = kind === 'trackables' || kind === 'providers';
  const href = kind === 'anchors' ? `/lists/anchors?json=${encodeURIComponent(id)}` : editorPath(kind, id);
  return <Link href={isMoving ? mapPath(kind, id) : href}>{label}</Link>;
}
