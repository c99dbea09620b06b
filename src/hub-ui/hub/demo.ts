import { signal } from '@preact/signals';
import type { Demo } from '../../model/demo.ts';
import { request } from './rest.ts';

/** The demo in the hub, as it was heard of last; undefined before. */
export const demo = signal<Demo | undefined>(undefined);

export async function loadDemo(): Promise<void> {
  demo.value = await request<Demo>('GET', '/demo');
}

/** Starts it. Its site comes by the same way as any other. Throws a RequestError. */
export async function startDemo({ isBeside = false } = {}): Promise<void> {
  demo.value = await request<Demo>('POST', '/demo', { query: { beside: isBeside } });
}

/** Stops it, and removes what it has made. Throws a RequestError. */
export async function stopDemo(): Promise<void> {
  await request('DELETE', '/demo');
  await loadDemo();
}
