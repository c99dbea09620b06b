import { ButtonLink } from '../controls/button.tsx';
import { can } from '../hub/access.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import styles from './home_page.module.css';

/** Bar that leads to the first steps, on a hub with a site that has never received a location. */
export function FirstStepsBar() {
  const zones = useEntities('zones');
  const providers = useEntities('providers');
  const isWaiting = storeOf('providers').state.value !== 'ready';
  if (isWaiting || zones.size === 0 || providers.size > 0 || !can('CREATE', '/zones')) return null;
  return (
    <section class={styles.bar} aria-label={t('First steps')}>
      <span>{t('The hub has not received a location yet.')}</span>
      <ButtonLink href="/first-steps">{t('Continue the first steps')}</ButtonLink>
    </section>
  );
}
