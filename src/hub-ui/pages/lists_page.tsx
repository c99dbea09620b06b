import { Empty, Page } from '../parts/page.tsx';

export function ListsPage() {
  return (
    <Page title="Lists">
      <Empty icon="list" title="Nothing here yet" />
    </Page>
  );
}
