// hot: run for each motion, see bench/kernel/collisions.bench.ts
import type { Moved } from '../motion/motion.ts';
import { type Body, locate, newBody, newSite } from './body.ts';
import { move, putIn, takeOut } from './grid.ts';
import type { CollisionState } from './state.ts';

const SITE = newSite();

/** Puts a trackable where its motion says, known before or not. */
export function putAt(state: CollisionState, motion: Moved): Body {
  const known = state.bodies.get(motion.id);
  const body = known ?? newBody(motion);
  locate(motion, body.ring, SITE);
  body.motion = motion;
  body.ring = SITE.ring;
  if (body.texts.length > 0) body.texts = [];
  if (known === undefined) appear(state, body);
  else move(state.grid, body, SITE.space, SITE.reachMetres);
  return body;
}

function appear(state: CollisionState, body: Body): void {
  body.x = SITE.space[0]!;
  body.y = SITE.space[1]!;
  body.z = SITE.space[2]!;
  body.reachMetres = SITE.reachMetres;
  state.bodies.set(body.motion.id, body);
  putIn(state.grid, body);
}

/** Takes a trackable away, if it is there. */
export function takeAway(state: CollisionState, body: Body): void {
  if (state.bodies.delete(body.motion.id)) takeOut(state.grid, body);
}
