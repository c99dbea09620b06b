import type { LocationProvider } from '../../../model/provider.ts';
import { SiteIndex } from '../site_index.tsx';
import { useAsked } from '../use_editor.ts';
import { PROVIDER_TYPES, ProviderEditor } from './provider_editor.tsx';

/** Location providers: all of them, or one in its editor. */
export function ProvidersPage() {
  const asked = useAsked('providers');
  if (asked.at === 'index') {
    return (
      <SiteIndex
        kind="providers"
        title="Providers"
        icon="provider"
        lead="Sources of positions: tags, phones, readers. The first position of one creates it."
        about={aboutProvider}
      />
    );
  }
  const id = asked.at === 'one' ? asked.id : undefined;
  return <ProviderEditor key={id ?? ''} id={id} />;
}

function aboutProvider({ id, name, type }: LocationProvider): string {
  const label = PROVIDER_TYPES.find(({ value }) => value === type)?.label ?? type;
  return name ? `${label} · ${id}` : label;
}
