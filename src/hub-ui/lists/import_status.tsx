import { useEffect } from 'preact/hooks';
import type { Import } from '../../model/import.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { Notice, Spinner } from '../controls/notice.tsx';
import { Progress } from '../controls/progress.tsx';
import { toastError } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { cancelImport, importJob, isInProgress, watchImport } from '../hub/import_job.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';

/** Card with the running import, for users who return to the page. Empty without a running import. */
export function ImportStatus() {
  useEffect(() => {
    // Without permission nothing is shown. Other parts of the page report an unreachable hub.
    if (can('READ', '/import')) void watchImport().catch(() => undefined);
  }, []);
  const job = importJob.value;
  if (!isInProgress(job) || job.dry_run === true) return null;
  return (
    <Card stack title={t('Import')}>
      <ImportProgress job={job} />
      <div>
        <CancelImport />
      </div>
    </Card>
  );
}

export function ImportProgress({ job }: { readonly job: Import }) {
  const { state, total = 0, checked = 0 } = job;
  if (state === 'waiting') return <Spinner label={t('Waiting for other changes')} />;
  if (state === 'keeping') return <Spinner label={t('Writing {count} entities', { count: countText(total) })} />;
  return <Progress label={t('Checking')} done={checked} total={total} />;
}

/** Button that cancels the import until the hub starts to write. */
export function CancelImport() {
  const job = importJob.value;
  if (!can('DELETE', '/import') || !isInProgress(job)) return null;
  return (
    <Button disabled={job.state === 'keeping'} onClick={() => void cancelImport().catch(toastError)}>
      {t('Stop the import')}
    </Button>
  );
}

/** Result of an import. */
export function ImportResult({ job }: { readonly job: Import }) {
  const { state, counts = {}, error, problem_count: problems = 0 } = job;
  const sum = (name: 'created' | 'changed' | 'deleted'): number =>
    Object.values(counts).reduce((total, each) => total + each[name], 0);
  if (state === 'done') {
    return (
      <p>
        {t('Import complete: {created} created, {changed} changed, {deleted} deleted.', {
          created: countText(sum('created')),
          changed: countText(sum('changed')),
          deleted: countText(sum('deleted')),
        })}
      </p>
    );
  }
  if (state === 'cancelled') return <p>{t('The import was stopped. Nothing has changed.')}</p>;
  if (state === 'refused') {
    const text = t('The hub has changed in the meantime: {count} fields are no longer valid. Nothing was imported.', {
      count: countText(problems),
    });
    return <Notice tone="danger">{text}</Notice>;
  }
  if (state === 'failed')
    return <Notice tone="danger">{t('{error}. Nothing has changed.', { error: error ?? '' })}</Notice>;
  return <Notice tone="warn">{t('The hub was restarted in the meantime. Check whether the import was made.')}</Notice>;
}
