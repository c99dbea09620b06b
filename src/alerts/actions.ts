import { type Alert, type AlertAction, COMMENTS_MAX } from '../model/alert.ts';
import { after } from './alert_state.ts';

/** A stored action of a user on an alert, from a member that does not evaluate the rules. */
export type StoredAction = AlertAction & {
  /** Wall-clock time. */
  readonly at: number;
};

/**
 * Returns the alert after an action, or the same object if the action changes nothing. A repeated action changes nothing: a
 * member may carry out an action again before it is deleted.
 */
export function afterAction(alert: Alert, action: AlertAction, nowMs: number): Alert {
  switch (action.act) {
    case 'acknowledge':
    case 'clear':
      return after(alert, action.act, nowMs);
    case 'assign': {
      const { assignee } = action;
      if ((alert.assignee ?? undefined) === assignee) return alert;
      const { assignee: _former, ...rest } = alert;
      return assignee === undefined ? rest : { ...rest, assignee };
    }
    case 'comment': {
      const { comment } = action;
      const comments = alert.comments ?? [];
      if (comments.length >= COMMENTS_MAX || comments.some(({ id }) => id === comment.id)) return alert;
      return { ...alert, comments: [...comments, comment] };
    }
  }
}

const PREFIX = 'alert_act ';

/**
 * Returns the name of the setting of an action. A later action of the same name replaces an earlier one: an acknowledgment
 * or a clearing, an assignment, or the same comment.
 */
export function actionName(alertId: string, action: AlertAction): string {
  switch (action.act) {
    case 'acknowledge':
    case 'clear':
      return PREFIX + alertId;
    case 'assign':
      return `${PREFIX}${alertId} assign`;
    case 'comment':
      return `${PREFIX}${alertId} comment ${action.comment.id}`;
  }
}

/** Stored actions that the evaluating member has not carried out yet, by alert. */
export class PendingActions {
  readonly #actions = new Map<string, Map<string, StoredAction>>();

  /** Applies a stored action; null: it was deleted. Returns the id of its alert; undefined if the setting is no action. */
  apply(name: string, json: string | null): string | undefined {
    if (!name.startsWith(PREFIX)) return undefined;
    const [id = ''] = name.slice(PREFIX.length).split(' ', 1);
    const ofAlert = this.#actions.get(id) ?? new Map<string, StoredAction>();
    if (json === null) ofAlert.delete(name);
    else ofAlert.set(name, JSON.parse(json) as StoredAction);
    if (ofAlert.size > 0) this.#actions.set(id, ofAlert);
    else this.#actions.delete(id);
    return id;
  }

  /** Ids of alerts with pending actions. */
  get ids(): readonly string[] {
    return [...this.#actions.keys()];
  }

  /** Actions on an alert, by time. */
  of(id: string): readonly StoredAction[] {
    return [...(this.#actions.get(id)?.values() ?? [])].sort((one, other) => one.at - other.at);
  }

  /** Names of the settings of the actions on an alert. */
  namesOf(id: string): readonly string[] {
    return [...(this.#actions.get(id)?.keys() ?? [])];
  }
}
