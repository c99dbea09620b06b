/** An error that the user can fix. Its message is a single line. */
export class CliError extends Error {
  override name = 'CliError';
}
