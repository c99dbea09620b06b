import type View from 'ol/View.js';
import type { AnimationOptions } from 'ol/View.js';
import { prefersReducedMotion } from '../../controls/reduced_motion.ts';

/**
 * Animates a view to a target. An animation in progress ends where it is: OpenLayers would run both, and the older one would
 * determine the view if a slow frame completes them together.
 */
export function moveView(view: View, target: Pick<AnimationOptions, 'center' | 'resolution' | 'zoom'>, ms = 250): void {
  view.cancelAnimations();
  view.animate({ ...target, duration: prefersReducedMotion() ? 0 : ms });
}
