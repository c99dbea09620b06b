import { loadConfig, readConfigFile } from '../config/load.ts';

const USUAL = 'http://127.0.0.1:8081';
/** Addresses on which a hub listens to every interface, this machine's own among them. */
const EVERYWHERE: readonly string[] = ['0.0.0.0', '::'];

let found: string | undefined;

/**
 * Address of the hub that would start here, by the settings of the environment and of hub_config.yaml. The usual one where
 * these are wrong, which the hub itself will say, or take a free port, which nobody knows.
 */
export function hubHere(): string {
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
