import { Empty, Page } from '../parts/page.tsx';

export function TrackablesPage() {
  return (
    <Page title="Trackables">
      <Empty icon="trackable" title="Nothing here yet" />
    </Page>
  );
}
