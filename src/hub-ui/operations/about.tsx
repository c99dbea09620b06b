import { settings } from '../hub/settings.ts';
import { Card } from '../parts/page.tsx';

const LINKS: readonly (readonly [string, string, string])[] = [
  ['/hub/docs', 'REST API', 'Read and try every request'],
  ['/hub/docs/socket', 'WebSocket API', 'Read and try every topic'],
  ['/hub/v2/openapi.json', 'OpenAPI document', 'For generators and tools'],
  ['/hub/v2/asyncapi.json', 'AsyncAPI document', 'For generators and tools'],
  ['/hub/metrics', 'Metrics', 'In the text format of Prometheus'],
];

/** Where programs find the hub, and what it is. */
export function ApiLinks() {
  return (
    <Card title={`API of version ${settings.value.hub_version}`}>
      <ul class="op-links">
        {LINKS.map(([href, name, about]) => (
          <li key={href}>
            <a href={href} target="_blank" rel="noreferrer">
              {name}
            </a>
            <span class="faint">{about}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
