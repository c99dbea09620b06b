/** A failure that its reader can mend. The message is the one line that is shown. */
export class CommandError extends Error {
  override name = 'CommandError';
}
