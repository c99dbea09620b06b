/** Logs a line of this hub, as a warning unless `level` says otherwise. */
export type Notice = (text: string, level?: 'info' | 'warn') => void;
