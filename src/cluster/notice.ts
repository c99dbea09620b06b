/** Takes a line for the log of this hub. It is a warning unless `level` says otherwise. */
export type Notice = (text: string, level?: 'info' | 'warn') => void;
