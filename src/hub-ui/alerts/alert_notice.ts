import { effect, signal } from '@preact/signals';
import type { Alert } from '../../model/alert.ts';

/** Signals of an alert besides the bell icon: a sound, and browser notifications. */

const SOUND_KEY = 'hub-alert-sound';
const NOTIFY_KEY = 'hub-alert-notify';

/** Whether alerts play a sound. Off by default; stored in this browser. */
export const soundIsOn = signal(localStorage.getItem(SOUND_KEY) === 'on');

/** Whether alerts show browser notifications: switched on by the user and permitted by the browser. */
export const notifies = signal(localStorage.getItem(NOTIFY_KEY) === 'on' && permission() === 'granted');

effect(() => remember(SOUND_KEY, soundIsOn.value));
effect(() => remember(NOTIFY_KEY, notifies.value));

function remember(key: string, isOn: boolean): void {
  if (isOn) localStorage.setItem(key, 'on');
  else localStorage.removeItem(key);
}

/** Whether notifications are supported and the user has not blocked them for this page. */
export function canNotify(): boolean {
  return permission() !== 'denied';
}

/** Turns notifications on or off. Call it only in a click handler, since the browser may ask for permission. */
export async function toggleNotifications(): Promise<void> {
  if (notifies.value) notifies.value = false;
  else if (canNotify()) notifies.value = (await Notification.requestPermission()) === 'granted';
}

/** Plays the sound and shows the notification of an alert, as far as these are on. */
export function signalAlert(alert: Alert): void {
  if (soundIsOn.value) sound(alert.severity);
  if (!notifies.value) return;
  try {
    new Notification(alert.name, { tag: alert.id });
  } catch {
    // Some browsers permit notifications only from a service worker.
    notifies.value = false;
  }
}

/** Notes of the sound, in hertz, by severity: more and higher for more severe alerts. */
const NOTES: Readonly<Record<Alert['severity'], readonly number[]>> = {
  info: [660],
  warning: [660, 880],
  critical: [880, 660, 880, 660],
};
const NOTE_SECONDS = 0.16;
/** Alerts within this interval share one sound. */
const PAUSE_MS = 1_000;

let context: AudioContext | undefined;
let lastMs = 0;

/** Plays a few synthesized notes. Browsers mute a page until the user has clicked on it. */
export function sound(severity: Alert['severity']): void {
  const nowMs = performance.now();
  if (lastMs > 0 && nowMs - lastMs < PAUSE_MS) return;
  lastMs = nowMs;
  context ??= new AudioContext();
  void context.resume();
  const { currentTime, destination } = context;
  for (const [i, frequency] of NOTES[severity].entries()) {
    const from = currentTime + i * NOTE_SECONDS;
    const note = new OscillatorNode(context, { type: 'sine', frequency });
    const loudness = new GainNode(context, { gain: 0 });
    loudness.gain.setValueAtTime(0, from);
    loudness.gain.linearRampToValueAtTime(0.25, from + 0.02);
    loudness.gain.exponentialRampToValueAtTime(0.001, from + NOTE_SECONDS);
    note.connect(loudness).connect(destination);
    note.start(from);
    note.stop(from + NOTE_SECONDS);
  }
}

function permission(): NotificationPermission {
  return 'Notification' in globalThis ? Notification.permission : 'denied';
}
