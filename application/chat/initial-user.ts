/** The initial admin, who is there from the first start: made by any node that finds nobody of that email. */

import { tidyEmail } from '../../domain/chat/names.js';
import { isRejection } from '../../domain/shared/decider.js';
import type { CommandContext } from '../ports.js';
import type { Come, People } from './people.js';

export interface InitialUser {
  readonly email: string;
  readonly userName: string;
}

/** Of several nodes that start at once the stream lets one make it. */
export async function makeInitialUser(
  come: People,
  { email, userName }: InitialUser,
  context: CommandContext,
): Promise<Come> {
  const admin = { type: 'AdmitUser' as const, isAdmin: true, how: 'initial' as const };
  const done = await come({ ...admin, email: tidyEmail(email), userName }, context);
  if (isRejection(done)) throw new Error(`the initial admin was refused: ${done.rejected}`);
  return done;
}
