import { Command } from 'commander';
import { hubOption } from '../options.ts';
import type { BundleOptions } from './support_bundle.ts';

/** `support-bundle`: writes an archive with what support needs to know about a hub, without secrets and positions. */
export function supportBundleCommand(): Command {
  return new Command('support-bundle')
    .description(
      'write an archive with the configuration without secrets, health, metrics, log, versions, machine and the output of doctor',
    )
    .option('--out <file>', 'path of the archive; default: support-bundle-TIME.tar.gz in the current folder')
    .option('--log <file>', 'log file of the hub; default: the log of the systemd unit location-hub')
    .addOption(hubOption())
    .action(async (options: BundleOptions) => (await import('./support_bundle.ts')).writeBundle(options));
}
