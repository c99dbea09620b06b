import { Empty, Page } from '../parts/page.tsx';

export function EventsPage() {
  return (
    <Page title="Events">
      <Empty icon="event" title="Nothing here yet" />
    </Page>
  );
}
