/** Result of a command: the body of its answer, and the position that a reader must reach to see what it did. */
import type { Rejection } from '../../domain/shared/index.js';
import type { Position } from '../ports/index.js';

export interface CommandResult<Body> {
  readonly body: Body;
  readonly position: Position;
}

export type CommandOutcome<Body> = Promise<CommandResult<Body> | Rejection>;
