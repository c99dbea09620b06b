import manifest from '../../package.json' with { type: 'json' };

/** What the hub says of itself wherever it is asked. */
export const VERSION_INFO = { hub_version: manifest.version, vendor: 'omlox location hub', api_version: '2.0.0' };
