import { effect, signal } from '@preact/signals';
import type { Alert } from '../../model/alert.ts';

/** Ways to draw attention to an alert besides the bell: a sound, and notifications of the browser. */

const SOUND_KEY = 'hub-alert-sound';
const NOTIFY_KEY = 'hub-alert-notify';

/** Whether alerts play a sound. Off by default; stored in this browser. */
export const soundIsOn = signal(localStorage.getItem(SOUND_KEY) === 'on');

/** Whether the browser shows notifications: wanted, and permitted. */
export const notifies = signal(localStorage.getItem(NOTIFY_KEY) === 'on' && permission() === 'granted');

effect(() => remember(SOUND_KEY, soundIsOn.value));
effect(() => remember(NOTIFY_KEY, notifies.value));

function remember(key: string, isOn: boolean): void {
  if (isOn) localStorage.setItem(key, 'on');
  else localStorage.removeItem(key);
}

/** Whether the browser supports notifications, and the user has not blocked those of this page. */
export function canNotify(): boolean {
  return permission() !== 'denied';
}

/** Turns notifications on or off. To be called for a click alone: the browser may ask. */
export async function toggleNotifications(): Promise<void> {
  if (notifies.value) notifies.value = false;
  else if (canNotify()) notifies.value = (await Notification.requestPermission()) === 'granted';
}

/** Makes the sound, and shows the notification, that are wanted. */
export function draw(alert: Alert): void {
  if (soundIsOn.value) sound(alert.severity);
  if (!notifies.value) return;
  try {
    new Notification(alert.name, { tag: alert.id });
  } catch {
    // Some browsers show those of a service worker alone.
    notifies.value = false;
  }
}

/** Notes by severity: the more it matters the more, and the higher, they are. */
const NOTES: Readonly<Record<Alert['severity'], readonly number[]>> = {
  info: [660],
  warning: [660, 880],
  critical: [880, 660, 880, 660],
};
const NOTE_SECONDS = 0.16;
/** Many alerts at once are one sound. */
const PAUSE_MS = 1_000;

let context: AudioContext | undefined;
let lastMs = 0;

/** A few soft notes, without a file. A browser lets nothing be heard before the page was clicked on once. */
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
