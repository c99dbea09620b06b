import type { IconName } from '../controls/icons.tsx';
import { folded } from '../hub/entity_search.ts';

/** Target of the command palette. */
export interface Command {
  /** Identifies the command among all. */
  readonly key: string;
  readonly label: string;
  /** Kind of the target, such as "Page". */
  readonly kind: string;
  readonly icon: IconName;
  readonly run: () => void;
}

/** Returns the commands of which a word begins with each word of the text, those that begin with the text first. */
export function matchingCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = folded(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands;
  const found = commands.filter(({ label, kind }) => {
    const own = folded(`${label} ${kind}`).split(/[\s·]+/);
    return words.every((word) => own.some((each) => each.startsWith(word)));
  });
  const starts = ({ label }: Command): boolean => folded(label).startsWith(folded(text.trim()));
  return [...found.filter(starts), ...found.filter((each) => !starts(each))];
}
