/** What is said in a place, a channel or a conversation, once it is found that the caller may see it. */
import type { Messages } from '../../../application/chat/messages/messages.js';
import type { Reader } from '../../../application/chat/messages/page-throttle.js';
import type { MessageInput } from '../../../application/chat/messages/prepare-content.js';
import type { RenderedPage } from '../../../application/chat/messages/read-messages.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { maxPosition } from '../../../application/consistency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { type Answer, JSON_TYPE } from '../server/answer.js';
import { isProblem, type Problem } from '../server/problem.js';
import type { Request } from '../server/route.js';
import { type AuthGuards, answer, contextFor } from './auth.js';

interface Place {
  readonly id: string;
}

const headers = { 'Content-Type': JSON_TYPE };

/** Who waits for a page, and may go. */
export const readerOf = ({ userId }: Caller, leaving: Pick<Request, 'signal'>): Reader => ({
  userId,
  leaving,
});

/** Who asks for a page: let in when they did, and looked at again. */
export interface PageRequest {
  readonly caller: Caller;
  readonly request: Parameters<AuthGuards['user']>[0];
  readonly doors: Pick<AuthGuards, 'user'>;
}

/** Finds what somebody asks about, where they see it; by the log as it was at `seen`, or later. */
type Find<Found extends object> = (caller: Caller, seen: Position) => Promise<Found | Rejection>;

/** A page of what is found, for who still sees that when it is made. */
export async function respondWithPage<Found extends object>(
  reader: PageRequest,
  find: Find<Found>,
  read: (found: Found) => Promise<RenderedPage | Rejection>,
): Promise<Answer> {
  const found = await find(reader.caller, reader.request.ifPosition ?? 0n);
  if (isRejection(found)) return found;
  const shown = await read(found);
  if (isRejection(shown) || shown.fromCache) return asJson(shown);
  return (await recheckAccess(reader, find, shown.position)) ?? asJson(shown);
}

/**
 * Why somebody does not see any more what they waited for, maybe for seconds: it shows what happened meanwhile. By the log
 * up to what it shows, at least: rows may be ahead of what this node knows of what others do.
 */
export async function recheckAccess(
  reader: PageRequest,
  find: Find<object>,
  shown: Position,
): Promise<Rejection | Problem | undefined> {
  const admitted = await reauthenticate(reader, shown);
  if (isProblem(admitted) || isRejection(admitted)) return admitted;
  const still = await find(admitted, maxPosition(shown, reader.request.ifPosition ?? 0n));
  return isRejection(still) ? still : undefined;
}

/** Who it is that waited for what is `shown` up to there. */
export const reauthenticate = (
  { request: { bearer, ifPosition = 0n }, doors }: Pick<PageRequest, 'request' | 'doors'>,
  shown: Position,
) => doors.user({ ...(bearer !== undefined && { bearer }), ifPosition: maxPosition(shown, ifPosition) });

export function asJson(shown: RenderedPage | Rejection): Answer {
  if ('rejected' in shown) return shown;
  const { json: text, fromCache: _, ...reflected } = shown;
  return { status: 200, text, headers, ...reflected };
}

export async function postIn(
  messages: Messages,
  place: Place | Rejection,
  request: Pick<Request<MessageInput>, 'body' | 'context'>,
  caller: Caller,
): Promise<Answer> {
  if ('rejected' in place) return place;
  return answer(await messages.post(caller, place.id, request.body, contextFor(caller, request)));
}
