import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Check, FieldError } from '../../controls/field.tsx';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import { DraftDuration, DraftNumber, DraftSelect, problemOf } from '../fields/draft_fields.tsx';

const FIELD = 'proximity_resolution';

/** Form section for the arbitration between the readers of proximity zones. */
export function ProximitySection({ draft }: { readonly draft: EntityDraft<'zones'> }) {
  const isOn = draft.value.value.proximity_resolution != null;
  return (
    <Card stack title={t('Tags between readers')}>
      <Check
        label={t('Keep a tag until another reader wins')}
        checked={isOn}
        onChange={(on) => draft.change({ proximity_resolution: on ? {} : undefined })}
      />
      <p class={fieldStyles.help}>
        {t(
          'Without it, each sighting moves the tag. With it, another reader must be 6 dB stronger in two windows of 3 s, or this one must be silent.',
        )}
      </p>
      <FieldError text={isOn ? undefined : problemOf(draft, FIELD)} />
      {isOn && (
        <div class={fieldStyles.fields}>
          <DraftDuration
            draft={draft}
            field={`${FIELD}.exit_grace_duration`}
            label={t('Silence until another reader takes the tag')}
            help={t('{seconds} s by default.', { seconds: 15 })}
          />
          <DraftDuration
            draft={draft}
            field={`${FIELD}.min_dwell_duration`}
            label={t('Minimum stay')}
            help={t('{seconds} s by default.', { seconds: 5 })}
          />
          <DraftDuration
            draft={draft}
            field={`${FIELD}.stale_state_ttl`}
            label={t('Forget the zone after')}
            help={t('{seconds} s by default.', { seconds: 600 })}
          />
          <DraftNumber
            draft={draft}
            field={`${FIELD}.boundary_grace_distance`}
            label={t('Largest gap to a neighbor')}
            unit="m"
            min={0}
            help={t('Readers farther away take the tag after 3 s of silence.')}
          />
          <DraftNumber
            draft={draft}
            field={`${FIELD}.entry_confidence_min`}
            label={t('Confidence for an entry')}
            min={0}
            step="0.05"
            help={t('0 to 1: the share of this reader in the received power.')}
          />
          <DraftSelect
            draft={draft}
            field={`${FIELD}.position_mode`}
            label={t('Position of the tag')}
            options={[
              { value: '', label: t('At the reader') },
              { value: 'centroid', label: t('Between at least three readers') },
            ]}
          />
        </div>
      )}
    </Card>
  );
}
