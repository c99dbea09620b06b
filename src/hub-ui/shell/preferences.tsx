import { useState } from 'preact/hooks';
import { Choice } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { SelectField } from '../controls/field.tsx';
import { Icon } from '../controls/icons.tsx';
import type { Option } from '../controls/select.tsx';
import { chooseLanguage, LANGUAGES, type LanguageChoice, languageChoice, t } from '../languages/language.ts';
import { chooseTimeZone, chosenTimeZone, timeZones } from '../languages/time_zone.ts';
import layout from './layout.module.css';

/** Languages with their native names. */
const CHOICES: readonly Option<LanguageChoice>[] = [{ value: 'browser', label: t('Browser default') }, ...LANGUAGES];

/** Dialog for the language and time zone of the page, stored in this browser. */
export function Preferences() {
  return (
    <>
      <Choice label={t('Language')} value={languageChoice} options={CHOICES} onChange={chooseLanguage} />
      <SelectField
        label={t('Time zone')}
        value={chosenTimeZone ?? ''}
        options={[{ value: '', label: t('Browser default') }, ...timeZones().map((value) => ({ value, label: value }))]}
        onChange={(zone) => chooseTimeZone(zone === '' ? undefined : zone)}
      />
    </>
  );
}

/** Opens the preferences. */
export function PreferencesButton() {
  const [isOpen, setOpen] = useState(false);
  const label = t('Language and time');
  return (
    <>
      <button
        type="button"
        class={`${layout.link} ${layout.button}`}
        title={label}
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        <Icon name="globe" />
        <span>{label}</span>
      </button>
      {isOpen && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <Preferences />
        </Dialog>
      )}
    </>
  );
}
