import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { AlertRoomBanner } from '../alerts/alert_room_notice.tsx';
import { raisedCount } from '../alerts/alert_store.ts';
import { Choice } from '../controls/button.tsx';
import { Status } from '../controls/connection_status.tsx';
import { Dialog, Questions } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { Icon, Mark } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import type { Option } from '../controls/select.tsx';
import { type Theme, theme } from '../controls/theme.ts';
import { Toasts } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { urlParam } from '../controls/url_state.ts';
import type { Session } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import styles from './layout.module.css';
import { LostBanner } from './lost_banner.tsx';
import { isAt, isListed, NAV_GROUPS, type NavPage, type NavGroup, pageAt, TAB_PATHS } from './pages.ts';
import { PaletteKey } from './palette_key.tsx';
import { Preferences, PreferencesButton } from './preferences.tsx';

/** Frame of every page: navigation at the side, or at the bottom of a narrow screen. */
export function Layout({
  children,
  account,
}: {
  readonly children: ComponentChildren;
  /** Account of the user; undefined on a hub without authorization. */
  readonly account?: ComponentChildren;
}) {
  const [address] = useLocation();
  // The wall view shows the map without the frame.
  if ((address === '/' || address === '/home') && urlParam('wall') !== undefined) {
    return (
      <div class={`${styles.shell} ${styles.wall}`}>
        <div class={styles.body}>
          <LostBanner />
          <AlertRoomBanner />
          <main class={styles.main} id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
    );
  }
  const isAtAlerts = address.startsWith('/alerts');
  return (
    <div class={styles.shell}>
      <a class={styles.skip} href="#main">
        {t('Skip to content')}
      </a>
      <header class={styles.topbar}>
        <Brand />
        <Bell />
        <Status />
      </header>
      <nav class={styles.rail} aria-label={t('Main')}>
        <Brand />
        {listedPages().map(({ title, pages }) => (
          <div class={styles.group} key={title}>
            <div class={styles.groupTitle}>{title}</div>
            {pages.map((page) => (
              <PageLink key={page.path} page={page} address={address} />
            ))}
          </div>
        ))}
        <div class={styles.foot}>
          {account}
          <ThemeButton />
          <PreferencesButton />
          <Status />
        </div>
      </nav>
      <div class={styles.body}>
        <LostBanner />
        {!isAtAlerts && <AlertRoomBanner />}
        <main class={styles.main} id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <TabBar address={address} account={account} />
      <PaletteKey />
      <Questions />
      <Toasts />
    </div>
  );
}

/** Navigation pages that the user may open. */
function listedPages(): readonly NavGroup[] {
  const groups = NAV_GROUPS.map(({ title, pages }) => ({ title, pages: pages.filter(isListed) }));
  return groups.filter(({ pages }) => pages.length > 0);
}

function Brand() {
  return (
    <Link href="/" class={styles.brand} aria-label={t('Location hub')}>
      <Mark />
      <span>{t('Location hub')}</span>
    </Link>
  );
}

function PageLink({
  page,
  address,
  onClick,
}: {
  readonly page: NavPage;
  readonly address: string;
  readonly onClick?: () => void;
}) {
  return (
    <Link
      href={page.path}
      class={styles.link}
      title={page.label}
      aria-current={isAt(address, page) ? 'page' : undefined}
      {...(onClick && { onClick })}
    >
      <Icon name={page.icon} />
      <span>{page.label}</span>
      {page.path === '/alerts' && <RaisedCount />}
    </Link>
  );
}

/** Number of unacknowledged alerts; empty for zero. */
function RaisedCount() {
  const raised = raisedCount.value;
  if (raised === 0) return null;
  return (
    <b class={styles.count}>
      {raisedText(raised)}
      <span class={typography.hidden}> {t('not acknowledged')}</span>
    </b>
  );
}

/** Link to the alerts at the top of a narrow screen. */
function Bell() {
  const page = pageAt('/alerts');
  if (page === undefined || !isListed(page)) return null;
  return (
    <Link href="/alerts" class={styles.bell} title={page.label} aria-label={bellText(raisedCount.value)}>
      <Icon name="bell" />
      {raisedCount.value > 0 && (
        <b class={styles.count} aria-hidden="true">
          {raisedText(raisedCount.value)}
        </b>
      )}
    </Link>
  );
}

/** Accessible name of the bell. It contains the number on it, so that speech input finds the bell by that. */
function bellText(raised: number): string {
  return raised === 0 ? t('Alerts') : t('Alerts, {count} not acknowledged', { count: raisedText(raised) });
}

function raisedText(raised: number): string {
  return raised > 99 ? '99+' : countText(raised);
}

const THEMES: readonly Option<Theme>[] = [
  { value: 'system', label: t('System') },
  { value: 'light', label: t('Light') },
  { value: 'dark', label: t('Dark') },
];

function ThemeButton() {
  const at = THEMES.findIndex(({ value }) => value === theme.value);
  const { label } = THEMES[at] ?? { label: t('System') };
  const next = THEMES[(at + 1) % THEMES.length];
  const icon = theme.value === 'system' ? 'system' : theme.value === 'dark' ? 'moon' : 'sun';
  return (
    <button
      type="button"
      class={`${styles.link} ${styles.button}`}
      title={t('Theme: {label}', { label })}
      onClick={() => {
        if (next !== undefined) theme.value = next.value;
      }}
    >
      <Icon name={icon} />
      <span>
        <span class={typography.hidden}>{t('Theme:')} </span>
        {theme.value === 'system' ? t('System theme') : t('{label} theme', { label })}
      </span>
    </button>
  );
}

function TabBar({ address, account }: { readonly address: string; readonly account: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const all = listedPages().flatMap(({ pages }) => pages);
  const tabs = all.filter(({ path }) => TAB_PATHS.includes(path));
  const others = all.filter(({ path }) => !TAB_PATHS.includes(path));
  return (
    <nav class={styles.tabbar} aria-label={t('Main')}>
      {tabs.map((page) => (
        <Link key={page.path} href={page.path} aria-current={isAt(address, page) ? 'page' : undefined}>
          <Icon name={page.icon} />
          {page.label}
        </Link>
      ))}
      <button
        type="button"
        aria-expanded={isOpen}
        aria-current={others.some((page) => isAt(address, page)) ? 'page' : undefined}
        onClick={() => setOpen(true)}
      >
        <Icon name="more" />
        {t('More')}
      </button>
      {isOpen && (
        <Dialog title={t('More')} onClose={() => setOpen(false)}>
          <div>
            <div class={`${styles.group} ${styles.places} ${styles.menu}`}>
              {others.map((page) => (
                <PageLink key={page.path} page={page} address={address} onClick={() => setOpen(false)} />
              ))}
            </div>
            <div class={`${flow.stack} ${styles.menu}`}>
              <Choice
                label={t('Theme')}
                value={theme.value}
                options={THEMES}
                onChange={(value) => (theme.value = value)}
              />
              <Preferences />
              {account}
            </div>
          </div>
        </Dialog>
      )}
    </nav>
  );
}

/** Name of the user, and the button that signs out. */
export function Account({ session: { name, signOut } }: { readonly session: Session }) {
  return (
    <div class={styles.account}>
      <div class={styles.accountName} title={name}>
        <Icon name="user" />
        <span class={typography.cut}>{name}</span>
      </div>
      <button type="button" class={`${styles.link} ${styles.button}`} title={t('Sign out')} onClick={signOut}>
        <Icon name="lock" />
        <span>{t('Sign out')}</span>
      </button>
    </div>
  );
}
