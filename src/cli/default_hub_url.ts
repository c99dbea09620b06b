import { loadConfig, readConfigFile } from '../config/load.ts';

const USUAL = 'http://127.0.0.1:8081';
/** Addresses on which a hub listens to every interface, including this machine's. */
const EVERYWHERE: readonly string[] = ['0.0.0.0', '::'];

let found: string | undefined;

/**
 * Address of the hub that would start here, by the settings of the environment and of hub_config.yaml. The default
 * address if these are invalid, which the hub itself will report, or use an unpredictable free port.
 */
export function defaultHubUrl(): string {
  found ??= addressHere();
  return found;
}

function addressHere(): string {
  try {
    const {
      host,
      port,
      force_https: isHttps,
    } = loadConfig({
      env: process.env,
      cwd: process.cwd(),
      cores: 1,
      readFile: readConfigFile,
    });
    if (port === 0) return USUAL;
    const name = EVERYWHERE.includes(host) ? '127.0.0.1' : host;
    return `${isHttps ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
  } catch {
    return USUAL;
  }
}
