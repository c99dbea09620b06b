import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, ButtonLink } from '../controls/button.tsx';
import { Icon, type IconName, Mark } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import { toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { PREFIX } from '../hub/api_path.ts';
import { startDemo } from '../hub/demo.ts';
import { whyNoDemo } from '../hub/rights.ts';
import { storeOf } from '../hub/stores.ts';
import { t, tParts } from '../languages/language.ts';
import styles from './first_run.module.css';

/** First steps on an empty hub. A user who may not set up a site sees that it is empty. */
export function FirstRun() {
  const kinds = (['zones', 'fences', 'trackables', 'providers'] as const).filter((kind) =>
    can('READ', `/${kind}/summary`),
  );
  const isEmpty = kinds.map(storeOf).every(({ state, items }) => state.value === 'ready' && items.value.size === 0);
  if (!isEmpty) return null;
  const head = (
    <div class={styles.head}>
      <Mark />
      <div>
        <h1>{t('Nothing here yet')}</h1>
        <p class={typography.soft}>
          {t('Objects appear on the map as soon as the hub receives their first location.')}
        </p>
      </div>
    </div>
  );
  if (!can('CREATE', '/zones')) {
    return (
      <section class={styles.steps} aria-label={t('Empty hub')}>
        {head}
      </section>
    );
  }
  return (
    <section class={styles.steps} aria-label={t('First steps')}>
      {head}
      <ol>
        <Step
          icon="frame"
          title={t('Draw your site')}
          about={t('Click the corners of the area in which you locate things.')}
        >
          <ButtonLink kind="main" href="/zones/new?start=area">
            {t('Draw it')}
          </ButtonLink>
        </Step>
        <Step
          icon="upload"
          title={t('Load a floor plan')}
          about={t('Lay an image of your floor on the map, and measure in it.')}
        >
          <ButtonLink href="/zones/new?start=plan">{t('Choose a plan')}</ButtonLink>
        </Step>
        <Step
          icon="play"
          title={t('See the demo')}
          about={t('A warehouse with 40 tags and 13 fences, until you stop it.')}
        >
          <StartDemo />
        </Step>
      </ol>
      <p class={`${typography.soft} ${styles.else}`}>
        {tParts('{import}, or send a position: the {steps} have commands to paste. See the {pages}.', {
          import: <Link href="/lists">{t('Import a file')}</Link>,
          steps: <Link href="/first-steps">{t('first steps')}</Link>,
          pages: <a href={`${PREFIX}/hub/docs`}>{t('API pages')}</a>,
        })}
      </p>
    </section>
  );
}

function Step(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly about: string;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      <p class={typography.soft}>{props.about}</p>
      {props.children}
    </li>
  );
}

function StartDemo() {
  const [isStarting, setStarting] = useState(false);
  const start = async (): Promise<void> => {
    setStarting(true);
    try {
      await startDemo();
    } catch (error) {
      toastError(error);
      setStarting(false);
    }
  };
  return (
    <Button disabled={isStarting} off={whyNoDemo()} onClick={() => void start()}>
      {isStarting ? t('Starting the demo') : t('Start the demo')}
    </Button>
  );
}
