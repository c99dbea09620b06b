/** Input of a secret that the hub stores and never returns. */
export interface SecretInput {
  readonly text: string;
  /** Whether saving deletes the stored secret. */
  readonly isDeleted: boolean;
}

export const NO_SECRET: SecretInput = { text: '', isDeleted: false };

/** Member of a request: the secret, null to delete it, or undefined to retain it. */
export function secretMember({ text, isDeleted }: SecretInput): string | null | undefined {
  if (isDeleted) return null;
  return text === '' ? undefined : text;
}
