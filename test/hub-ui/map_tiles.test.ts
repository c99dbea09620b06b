import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';

const skip = WITHOUT_BROWSER ?? false;

test('Map tiles come from where the configuration says, with their attribution', { skip }, async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('Content-Type', 'image/svg+xml');
    response.end('<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="9" height="9"/></svg>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const map_tile_url = `http://127.0.0.1:${port}/{z}/{x}/{y}.svg`;
  const hub = await openUiHub(t, { map_tile_url, map_tile_attribution: 'Tiles by somebody' });
  // After the page, which would complain of tiles that it cannot have.
  t.after(() => server.close());
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=0.001,0.001&z=3`);
  await page.getByText('Tiles by somebody').waitFor();
  await untilHolds(page, async () => asked.includes('/3/4/3.svg'));
});
