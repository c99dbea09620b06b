import type { EntityDraft } from '../../drafts/entity_draft.ts';

/** What the next click on the map of a zone means. */
export type ZoneTool = 'points' | 'plan' | 'area' | 'look';

/** What the map and the form of a zone share. */
export interface ZoneTools {
  readonly draft: EntityDraft<'zones'>;
  readonly tool: ZoneTool;
  readonly onTool: (tool: ZoneTool) => void;
  /** The control point that was chosen last. */
  readonly selected: number | undefined;
  readonly onSelect: (index: number | undefined) => void;
}
