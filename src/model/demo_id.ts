const KINDS = { zone: 1, fence: 2, trackable: 3 } as const;
const PREFIX = '5170a000-0000-4000-800';

/** Returns a fixed UUID of the demo, so that a restart updates its entities instead of adding new ones. */
export function demoId(kind: keyof typeof KINDS, number: number): string {
  return `${PREFIX}${KINDS[kind]}-${String(number).padStart(12, '0')}`;
}

/** Number of the last member of the demo's crew, whose tag sends continuously. */
export const LAST_DEMO_MEMBER = 40;

/** Returns the id of the tag of a crew member of the demo. */
export function demoTag(number: number): string {
  return `demo-tag-${String(number).padStart(2, '0')}`;
}

/** Whether the id belongs to an entity of the demo. */
export function isDemoId(id: string): boolean {
  return id.toLowerCase().startsWith(PREFIX);
}
