import { Button } from '../controls/button.tsx';
import { Page } from '../controls/page.tsx';
import { Tabs, useView } from '../controls/tabs.tsx';
import { toastError } from '../controls/toasts.tsx';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { AlertList } from './alert_list.tsx';
import { canNotify, notifies, sound, soundIsOn, toggleNotifications } from './alert_notice.ts';
import { RulesView } from './rules_view.tsx';

const VIEWS = [
  { value: 'alerts', label: t('Alerts') },
  { value: 'rules', label: t('Alert rules') },
] as const;

/** Page with the alerts of the hub and their rules. */
export function AlertsPage() {
  const [view, setView] = useView('/alerts', VIEWS);
  // Alerts show the names of these entities.
  useEntities('fences');
  useEntities('trackables');
  return (
    <Page
      title={t('Alerts')}
      lead={t('Your rules run around the clock, even when this page is closed.')}
      actions={<Attention />}
    >
      <Tabs label={t('Views')} value={view} options={VIEWS} onChange={setView} />
      {view === 'alerts' ? <AlertList /> : <RulesView />}
    </Page>
  );
}

/** Switches for the sound and the notifications of this browser. */
function Attention() {
  return (
    <>
      <Button
        icon={soundIsOn.value ? 'bell' : 'bellOff'}
        aria-pressed={soundIsOn.value}
        title={t('Play a sound in this browser when an alert is raised')}
        onClick={() => {
          soundIsOn.value = !soundIsOn.value;
          if (soundIsOn.value) sound('info');
        }}
      >
        {t('Sound')}
      </Button>
      <Button
        icon="system"
        aria-pressed={notifies.value}
        disabled={!canNotify()}
        title={
          canNotify()
            ? t('Show a notification of this browser when an alert is raised')
            : t('This browser shows no notifications')
        }
        onClick={() => void toggleNotifications().catch(toastError)}
      >
        {t('Notifications')}
      </Button>
    </>
  );
}
