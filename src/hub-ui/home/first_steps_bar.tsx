import { ButtonLink } from '../controls/button.tsx';
import { can } from '../hub/access.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import styles from './home_page.module.css';

/** Kinds whose first entity completes a step. */
const COUNTED = ['providers', 'fences'] as const;

/** Bar that leads to the first steps, on a hub with a site until it has received a location and has a fence. */
export function FirstStepsBar() {
  const zones = useEntities('zones');
  const providers = useEntities('providers');
  const fences = useEntities('fences');
  const isLoading = COUNTED.some((kind) => storeOf(kind).state.value !== 'ready');
  if (isLoading || zones.size === 0 || (providers.size > 0 && fences.size > 0) || !can('CREATE', '/zones')) return null;
  return (
    <section class={styles.bar} aria-label={t('First steps')}>
      <span>
        {providers.size === 0 ? t('The hub has not received a location yet.') : t('The hub does not have a fence yet.')}
      </span>
      <ButtonLink href="/first-steps">{t('Continue the first steps')}</ButtonLink>
    </section>
  );
}
