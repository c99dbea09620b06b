import type { Known } from '../identity_provider.ts';

/** Users for development. Their names are those of their roles in permissions.yaml. */
export const DEV = {
  people: {
    'hub-admin': { password: 'hub-admin', roles: ['hub-admin'] },
    viewer: { password: 'viewer', roles: ['viewer'] },
    'tag-owner': {
      password: 'tag-owner',
      roles: ['tag-owner'],
      owned: {
        provider_ids: ['tag-1', 'tag-2'],
        trackable_ids: ['0b680db2-b39b-45be-be77-40d7d2296cb4'],
        fence_ids: ['9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de001'],
      },
    },
  },
  clients: {
    'hub-release-client': { password: 'release-secret', roles: ['hub-admin'] },
    'hub-beta-client': { password: 'beta-secret', roles: ['positioning-system'] },
  },
} as const satisfies Record<'people' | 'clients', Readonly<Record<string, Known>>>;
