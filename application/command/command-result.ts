/** Result of a command: the body of its answer, and the position that a reader must reach to see what it did. */
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { Position } from '../ports/index.js';
import type { Handled } from './idempotency.js';

export interface CommandResult<Body> {
  readonly body: Body;
  readonly position: Position;
}

export type CommandOutcome<Body> = Promise<CommandResult<Body> | Rejection>;

/** Returns the result of a handled command: its rejection, or a body, given or made of the state just after it. */
export async function resultOf<State, Body extends object>(
  outcome: Handled<State> | Rejection,
  body: Body | ((state: State) => Body | Promise<Body>),
): CommandOutcome<Body> {
  if (isRejection(outcome)) return outcome;
  const { state, position } = outcome;
  return { body: typeof body === 'function' ? await body(await state()) : body, position };
}
