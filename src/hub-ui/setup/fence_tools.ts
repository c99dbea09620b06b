import type { EntityDraft } from './draft.ts';

/** What the map and the form of a fence share. */
export interface FenceTools {
  readonly draft: EntityDraft<'fences'>;
  /** What is drawn next, or whether what is there is edited. */
  readonly tool: 'polygon' | 'circle' | 'edit';
  readonly onTool: (tool: FenceTools['tool']) => void;
  /** The corner that was chosen in the table, as ring and index. */
  readonly chosen: readonly [number, number] | undefined;
  readonly onChoose: (corner: readonly [number, number] | undefined) => void;
  readonly isSnapping: boolean;
  readonly onSnapping: (isOn: boolean) => void;
}
