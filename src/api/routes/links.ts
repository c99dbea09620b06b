import { Link } from '../../model/link.ts';
import { documentRows } from './document_rows.ts';

export const LINK_ROUTES = documentRows<Link>({
  path: '/links',
  idName: 'link_id',
  schema: Link,
  noun: 'link',
  summaries: {
    list: 'All links to other hubs, with their states',
    create: 'Create a link to another hub',
    get: 'One link, with its state',
    replace: 'Replace a link; a secret that is absent is retained',
    remove: 'Delete a link',
  },
  removed: 'The link is deleted. The objects that it has created remain.',
  of: ({ links }) => links.documents,
  added: ({ id }, { links }) => ({ state: links.state(id) }),
});
