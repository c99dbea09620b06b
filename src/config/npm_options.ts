interface Asked {
  /** Options of the script, with dashes or underscores, without `--`. */
  readonly names: readonly string[];
  /** Arguments that the script received. */
  readonly args: readonly string[];
  /** The command of `npm run hub`, which precedes its options. */
  readonly command?: string;
}

/**
 * Detects options consumed by npm, and returns the correct command for each. With `npm start --port 9000` the script
 * receives only the argument 9000; the variable npm_config_port shows that npm consumed an option. An option that the
 * script received was not consumed: the variable of npm can also come from the environment or from .npmrc.
 */
export function takenByNpm(
  env: Readonly<Record<string, string | undefined>>,
  { names, args, command }: Asked,
): readonly string[] {
  const script = env['npm_lifecycle_event'];
  if (script === undefined) return [];
  const received = new Set(args.map((argument) => argument.replace(/=.*/s, '').replaceAll('_', '-')));
  return names.flatMap((name) => {
    const value = env[`npm_config_${name.replaceAll('-', '_')}`];
    const option = `--${name.replaceAll('_', '-')}`;
    if (value === undefined || received.has(option)) return [];
    const meant = value === 'true' ? [option, ...args] : [option, value || 'false', ...args];
    const typed = script === 'start' ? 'npm start --' : `npm run ${script} --`;
    const words = [typed, ...(command === undefined ? [] : [command]), ...meant];
    return [`npm has taken ${option} for itself. Type: ${words.join(' ')}`];
  });
}
