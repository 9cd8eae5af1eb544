/** Responds with pages of messages of a channel or conversation, after checking access. */
import type { Reader, RenderedPage } from '../../../application/chat/messages/read-messages.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { maxPosition } from '../../../application/consistency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { type Answer, JSON_TYPE } from '../server/answer.js';
import { isProblem, type Problem } from '../server/policy.js';
import type { Request } from '../server/route.js';
import type { AuthGuards } from './auth.js';

const headers = { 'Content-Type': JSON_TYPE };

/** The user waiting for a page, and the signal of their disconnect. */
export const readerOf = ({ userId }: Caller, request: Pick<Request, 'signal'>): Reader => ({ userId, request });

export interface PageRequest {
  readonly caller: Caller;
  readonly request: Parameters<AuthGuards['user']>[0];
  readonly guards: Pick<AuthGuards, 'user'>;
}

type Find<Target extends object> = (caller: Caller, minPosition: Position) => Promise<Target | Rejection>;

/** Responds with a page, if the caller still has access when it is rendered. */
export async function respondWithPage<Target extends object>(
  reader: PageRequest,
  find: Find<Target>,
  read: (target: Target) => Promise<RenderedPage | Rejection>,
): Promise<Answer> {
  const target = await find(reader.caller, reader.request.ifPosition ?? 0n);
  if (isRejection(target)) return target;
  const page = await read(target);
  if (isRejection(page) || page.fromCache) return pageReply(page);
  return (await recheckAccess(reader, find, page.position)) ?? pageReply(page);
}

/** Checks access again by the state at the position of the page, which may be later than what this node had received. */
export async function recheckAccess(
  reader: PageRequest,
  find: Find<object>,
  pagePosition: Position,
): Promise<Rejection | Problem | undefined> {
  const caller = await reauthenticate(reader, pagePosition);
  if (isProblem(caller) || isRejection(caller)) return caller;
  const target = await find(caller, maxPosition(pagePosition, reader.request.ifPosition ?? 0n));
  return isRejection(target) ? target : undefined;
}

export const reauthenticate = (
  { request: { bearer, ifPosition = 0n }, guards }: Pick<PageRequest, 'request' | 'guards'>,
  position: Position,
) => guards.user({ bearer, ifPosition: maxPosition(position, ifPosition) });

export function pageReply(page: RenderedPage | Rejection): Answer {
  if ('rejected' in page) return page;
  const { json: text, fromCache: _, ...consistency } = page;
  return { status: 200, text, headers, ...consistency };
}
