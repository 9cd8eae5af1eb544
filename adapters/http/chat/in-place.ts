/** What is said in a place, a channel or a conversation, once it is found that the caller may see it. */
import type { Caller } from '../../../application/chat/admission.js';
import type { Messages } from '../../../application/chat/messages.js';
import type { Asking } from '../../../application/chat/page-turns.js';
import type { Range } from '../../../application/chat/pages.js';
import type { Reading, Shown } from '../../../application/chat/reading.js';
import type { Wording } from '../../../application/chat/said.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import { type Answer, JSON_TYPE } from '../kernel/answer.js';
import type { Request } from '../kernel/route.js';
import { answer, by } from './admit.js';

interface Place {
  readonly id: string;
}

const headers = { 'Content-Type': JSON_TYPE };

/** Who waits for a page, and may go. */
export const asking = ({ userId }: Caller, leaving: Pick<Request, 'signal'>): Asking => ({ userId, leaving });

export async function pageOf(
  reading: Reading,
  place: Place | Rejection,
  request: Pick<Request<unknown, Range>, 'query' | 'ifPosition' | 'signal'>,
  caller: Caller,
): Promise<Answer> {
  if ('rejected' in place) return place;
  const { query, ifPosition } = request;
  return asJson(await reading.messages(asking(caller, request), place.id, query, ifPosition));
}

export function asJson(shown: Shown | Rejection): Answer {
  if ('rejected' in shown) return shown;
  const { json: text, ...reflected } = shown;
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
