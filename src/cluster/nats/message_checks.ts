import { BATCH_MESSAGES_MAX, BusError, PAYLOAD_BYTES_MAX } from './bus.ts';

/** Checks that every bus makes, whatever its implementation. All of these throw a BusError. */

const SUBJECT = /^[!-~]{1,255}$/;

export function checkSubject(subject: string): void {
  if (!SUBJECT.test(subject)) {
    throw new BusError(`Cannot use subject "${subject}": it must be 1 to 255 visible ASCII characters without spaces`);
  }
}

export function checkSubjects(subjects: readonly string[]): void {
  if (subjects.length === 0) throw new BusError('Cannot read a stream: subjects must list at least one');
  for (const subject of subjects) checkSubject(subject);
}

/** Checks one message. */
export function checkMessage(subject: string, { length }: Uint8Array): void {
  checkSubject(subject);
  if (length > PAYLOAD_BYTES_MAX) {
    throw new BusError(
      `Cannot send to "${subject}": a message may have at most ${PAYLOAD_BYTES_MAX} bytes, but this one has ${length}`,
    );
  }
}

/** Checks messages that are stored together. */
export function checkBatch(subject: string, messages: readonly Uint8Array[]): void {
  const { length } = messages;
  if (length === 0 || length > BATCH_MESSAGES_MAX) {
    throw new BusError(
      `Cannot replace "${subject}": there must be 1 to ${BATCH_MESSAGES_MAX} messages, found ${length}`,
    );
  }
  for (const bytes of messages) checkMessage(subject, bytes);
}
