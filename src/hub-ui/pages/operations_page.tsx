import { Empty, Page } from '../parts/page.tsx';

export function OperationsPage() {
  return (
    <Page title="Operations">
      <Empty icon="operation" title="Nothing here yet" />
    </Page>
  );
}
