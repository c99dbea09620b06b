import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startKeycloak, whyNoKeycloak } from './keycloak.ts';

/**
 * Starts a real Keycloak and runs the tests of this folder against it. With --stay it keeps running until Ctrl-C.
 * Without Keycloak, it prints the reason and succeeds.
 */
async function main(): Promise<number> {
  const missing = whyNoKeycloak();
  if (missing !== undefined) {
    process.stdout.write(`SKIPPED: nothing is tested against Keycloak: ${missing}\n`);
    return 0;
  }
  process.stdout.write('Keycloak is starting, which takes up to a minute ...\n');
  const keycloak = await startKeycloak();
  process.on('SIGINT', () => void keycloak.stop().then(() => process.exit(130)));
  process.on('SIGTERM', () => void keycloak.stop().then(() => process.exit(143)));
  process.stdout.write(`Keycloak is running\n  Issuer  ${keycloak.issuer}\n`);
  try {
    if (process.argv.includes('--stay')) {
      await keycloak.ended;
      return 1;
    }
    const test = join(import.meta.dirname, 'keycloak.test.ts');
    const env = { ...process.env, KEYCLOAK_ISSUER: keycloak.issuer };
    const child = spawn(process.execPath, ['--test', '--test-reporter=spec', test], { env, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    return code === 0 ? 0 : 1;
  } finally {
    await keycloak.stop();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  },
);
