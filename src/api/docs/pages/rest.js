/* global SwaggerUIBundle */

const version = new URLSearchParams(location.search).get('version') === 'v1' ? 'v1' : 'v2';
const addressOf = (name) => new URL(`../${version}/${name}`, import.meta.url).pathname;

for (const link of document.querySelectorAll('[data-document]')) link.href = addressOf(link.dataset.document);
SwaggerUIBundle({
  url: addressOf('openapi.json'),
  dom_id: '#operations',
  // The validator is a service on the internet.
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
});
