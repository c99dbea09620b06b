import { signal } from '@preact/signals';
import type { Demo } from '../../model/demo.ts';
import { request } from './rest.ts';

/** Last known state of the demo on the hub; undefined before the first response. */
export const demo = signal<Demo | undefined>(undefined);

export async function loadDemo(): Promise<void> {
  demo.value = await request<Demo>('GET', '/demo');
}

/** Starts the demo. Its site arrives through change events, like any other. Throws a RequestError. */
export async function startDemo({ isBeside = false } = {}): Promise<void> {
  demo.value = await request<Demo>('POST', '/demo', { query: { beside: isBeside } });
}

/** Stops the demo and deletes its entities. Throws a RequestError. */
export async function stopDemo(): Promise<void> {
  await request('DELETE', '/demo');
  await loadDemo();
}
