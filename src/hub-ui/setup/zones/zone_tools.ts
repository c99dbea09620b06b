import type { EntityDraft } from '../../drafts/entity_draft.ts';

/**
 * Active tool on the map of a zone: `points` and `plan` match control points, `hand` moves the plan, `ruler` scales it by a
 * known length.
 */
export type ZoneTool = 'points' | 'plan' | 'hand' | 'ruler' | 'area' | 'look';

/** State shared by the map and the form of a zone. */
export interface ZoneTools {
  readonly draft: EntityDraft<'zones'>;
  readonly tool: ZoneTool;
  readonly onTool: (tool: ZoneTool) => void;
  /** Index of the selected control point. */
  readonly selected: number | undefined;
  readonly onSelect: (index: number | undefined) => void;
}
