/** What is said in a place, a channel or a conversation, once it is found that the caller may see it. */
import type { Caller } from '../../../application/chat/admission.js';
import type { Messages } from '../../../application/chat/messages.js';
import type { Asking } from '../../../application/chat/page-turns.js';
import type { Shown } from '../../../application/chat/reading.js';
import type { Wording } from '../../../application/chat/said.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { type Answer, JSON_TYPE } from '../kernel/answer.js';
import { isProblem } from '../kernel/problem.js';
import type { Request } from '../kernel/route.js';
import { answer, by, type Doors } from './admit.js';

interface Place {
  readonly id: string;
}

const headers = { 'Content-Type': JSON_TYPE };

/** Who waits for a page, and may go. */
export const asking = ({ userId }: Caller, leaving: Pick<Request, 'signal'>): Asking => ({ userId, leaving });

/** Who asks for a page: let in when they did, and looked at again. */
export interface Reader {
  readonly caller: Caller;
  readonly request: Parameters<Doors['user']>[0];
  readonly doors: Pick<Doors, 'user'>;
}

/**
 * A page of what is found, for who still sees that when it is made: they may have waited for it for seconds, and it shows
 * what was said meanwhile.
 */
export async function pageFor<Found extends object>(
  { caller, request, doors }: Reader,
  find: (caller: Caller) => Promise<Found | Rejection>,
  read: (found: Found) => Promise<Shown | Rejection>,
): Promise<Answer> {
  const found = await find(caller);
  if (isRejection(found)) return found;
  const shown = await read(found);
  if ('atOnce' in shown) return asJson(shown);
  const admitted = await doors.user(request);
  if (isProblem(admitted) || isRejection(admitted)) return admitted;
  const still = await find(admitted);
  return isRejection(still) ? still : asJson(shown);
}

export function asJson(shown: Shown | Rejection): Answer {
  if ('rejected' in shown) return shown;
  const { json: text, atOnce: _, ...reflected } = shown;
  return { status: 200, text, headers, ...reflected };
}

export async function postIn(
  messages: Messages,
  place: Place | Rejection,
  request: Pick<Request<Wording>, 'body' | 'context'>,
  caller: Caller,
): Promise<Answer> {
  if ('rejected' in place) return place;
  return answer(await messages.post(caller, place.id, request.body, by(caller, request)));
}
