import { resolve } from 'node:path';
import { StartupError } from '../errors.ts';
import type { Config } from './schema.ts';

/** Frames up to this size need no memory of their share. */
const SMALL_FRAME_KIB = 64;

/**
 * Where the hub listens, and what it takes from clients. Paths are those of files beside hub_config.yaml unless they are
 * absolute. Throws a StartupError for what does not fit together, such as a certificate without its key.
 */
export function listenSettings(config: Config) {
  return {
    host: config.host,
    port: config.port,
    tls: tlsSettings(config),
    bodyMaxBytes: config.client_max_body_size * 1024,
    bodiesMaxBytes: config.max_body_memory * 2 ** 20,
    headerMaxBytes: config.client_max_header_size * 1024,
    ...frameBounds(config),
    connectionsMax: config.max_connections,
    requestsPerSecond: config.max_requests_per_second,
    browsers: browserRules(config),
    idleTimeoutSeconds: config.websocket_idle_timeout,
  };
}

/** A connection may send the largest frames while half of its share is left, which is half of all with authorization. */
function frameBounds({ websocket_max_frame_size: frameKib, max_frame_memory, require_authorization }: Config) {
  const leastMib = frameKib <= SMALL_FRAME_KIB ? 0 : Math.ceil((frameKib * (require_authorization ? 4 : 2)) / 1024);
  if (max_frame_memory < leastMib) {
    const what = `must be at least ${leastMib} for a websocket_max_frame_size of ${frameKib}`;
    throw new StartupError(`max_frame_memory: ${what}, found ${max_frame_memory}`);
  }
  return { frameMaxBytes: frameKib * 1024, framesMaxBytes: max_frame_memory * 2 ** 20 };
}

/** A page has no token of its own, so where one is needed it gets nothing that it could not get itself. */
function browserRules({ cors, allowed_hosts, allowed_origins, require_authorization }: Config) {
  const isOpen = !require_authorization;
  return {
    hosts: isOpen || allowed_hosts.length > 0 ? allowed_hosts : undefined,
    origins: allowed_origins,
    foreign: !cors ? 'nothing' : isOpen ? 'read' : 'everything',
  } as const;
}

function tlsSettings(config: Config) {
  const { public_key_path, private_key_path, private_key_password, dh_params_path, force_https } = config;
  if (public_key_path === null && private_key_path === null) {
    if (!force_https) return undefined;
    throw new StartupError('force_https: needs public_key_path and private_key_path, which are not set');
  }
  if (public_key_path === null) throw new StartupError('private_key_path: needs public_key_path, which is not set');
  if (private_key_path === null) throw new StartupError('public_key_path: needs private_key_path, which is not set');
  return {
    certificatePath: resolve(config.config_path, public_key_path),
    keyPath: resolve(config.config_path, private_key_path),
    keyPassword: private_key_password ?? undefined,
    dhParamsPath: dh_params_path === null ? undefined : resolve(config.config_path, dh_params_path),
    only: force_https,
  };
}
