import { Empty, Page } from '../parts/page.tsx';

export function ProvidersPage() {
  return (
    <Page title="Providers">
      <Empty icon="provider" title="Nothing here yet" />
    </Page>
  );
}
