import { Empty, Page } from '../parts/page.tsx';

export function ZonesPage() {
  return (
    <Page title="Zones">
      <Empty icon="zone" title="Nothing here yet" />
    </Page>
  );
}
