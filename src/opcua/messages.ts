import type { TrackableFacts, ZoneFacts } from './site_facts.ts';

export interface SecuritySettings {
  /** Least security of a connection. */
  readonly mode: 'SignAndEncrypt' | 'Sign' | 'None';
  /** Paths of a certificate and its private key; undefined: the server creates both in `folder`. */
  readonly certificatePath: string | undefined;
  readonly keyPath: string | undefined;
  /** Folder with the certificates of permitted clients; undefined: all clients. */
  readonly trustedPath: string | undefined;
  /** Folder of the server's own files, absolute. */
  readonly folder: string;
}

/** Settings of the OPC UA server, from hub_config.yaml. */
export interface OpcuaSettings extends SecuritySettings {
  /** Address to listen on. */
  readonly host: string;
  readonly port: number;
}

/** Settings of the server's thread. */
export interface OpcuaThreadData {
  readonly settings: OpcuaSettings;
  readonly hubId: string;
  readonly version: string;
  /** Whether clients must name a user. */
  readonly needsUser: boolean;
}

/** Messages to the thread of the server. `changed` has entities that are new or different, `deleted` their ids. */
export type ToOpcuaThread =
  | { readonly say: 'zones'; readonly changed: readonly ZoneFacts[]; readonly deleted: readonly string[] }
  | { readonly say: 'trackables'; readonly changed: readonly TrackableFacts[]; readonly deleted: readonly string[] }
  /** Motions of trackables as comma-separated JSON, with the end of each in bytes. */
  | {
      readonly say: 'motions';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly ends: Uint32Array<ArrayBuffer>;
      /** Whether they may be older than motions of earlier messages. */
      readonly isSnapshot: boolean;
    }
  | { readonly say: 'login'; readonly login: number; readonly isPermitted: boolean }
  /** The permission of a session has ended. */
  | { readonly say: 'expel'; readonly login: number }
  | { readonly say: 'close' };

/** Messages from the thread of the server. */
export type FromOpcuaThread =
  | { readonly say: 'listening'; readonly url: string }
  /** The server cannot start. `setting` is the one to change, if it is known. */
  | { readonly say: 'failed'; readonly problem: string; readonly setting?: string | undefined }
  /** A session presents a password: an API key or an access token. */
  | { readonly say: 'login'; readonly login: number; readonly password: string }
  | { readonly say: 'logout'; readonly login: number }
  /** Bytes of motions that the thread has read. */
  | { readonly say: 'taken'; readonly bytes: number }
  | { readonly say: 'notice'; readonly text: string }
  | { readonly say: 'closed' };
