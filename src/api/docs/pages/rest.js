/* global SwaggerUIBundle */

const version = new URLSearchParams(location.search).get('version') === 'v1' ? 'v1' : 'v2';
const url = new URL(`../${version}/openapi.json`, import.meta.url).pathname;

document.querySelector('[data-document]').href = url;
SwaggerUIBundle({
  url,
  dom_id: '#operations',
  // The validator is a service on the internet.
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
});
