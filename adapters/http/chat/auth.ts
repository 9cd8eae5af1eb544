/** Access of chat routes: guards, contexts of commands, and pages only for callers who still have access once read. */
import type { Reader, RenderedPage } from '../../../application/chat/messages/read-messages.js';
import type { Authentication, Caller } from '../../../application/chat/sign-in/authenticate.js';
import { maxPosition } from '../../../application/consistency/index.js';
import type { CommandContext, Position } from '../../../application/ports/index.js';
import { notAdmin } from '../../../domain/chat/roster.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { type Answer, JSON_TYPE } from '../server/answer.js';
import type { Request } from '../server/route.js';

type AuthRequest = Pick<Request, 'bearer' | 'ifPosition'>;

export type AuthGuards = ReturnType<typeof createAuthGuards>;

export function createAuthGuards(authentication: Authentication) {
  const user = ({ bearer, ifPosition }: AuthRequest) => authentication.authenticate(bearer, ifPosition);
  return {
    user,
    async admin(request: AuthRequest): Promise<Caller | Rejection> {
      const caller = await user(request);
      return isRejection(caller) || caller.isAdmin ? caller : notAdmin;
    },
  };
}

/** Members of routes that need the access token. */
export const access = (admit: AuthGuards['user'], tags?: readonly string[]) =>
  ({ tags, security: 'access', admit }) as const;

/** Context of a signed-in user's command. Idempotency keys belong to the user, not to the session. */
export const contextFor = ({ userId }: Pick<Caller, 'userId'>, { context }: Pick<Request, 'context'>): CommandContext =>
  context(userId, userId);

/** The same for commands with a quota per user, which does not apply to admins. */
export function contextWithQuota(
  caller: Pick<Caller, 'userId' | 'isAdmin'>,
  request: Pick<Request, 'context'>,
): CommandContext {
  const { quota, ...unlimited } = contextFor(caller, request);
  return quota && !caller.isAdmin ? { ...unlimited, quota } : unlimited;
}

/** Context of a command before sign-in. Idempotency keys of one address with different credentials do not collide. */
export const anonymousContext = (
  { context, address, bearer }: Pick<Request, 'context' | 'address' | 'bearer'>,
  credential = bearer ?? '',
): CommandContext => context('chat.guest', `${address} ${credential}`);

/** The user waiting for a page, and the signal of their disconnect. */
export const readerOf = ({ userId }: Caller, request: Pick<Request, 'signal'>): Reader => ({ userId, request });

export interface PageRequest {
  readonly caller: Caller;
  readonly request: AuthRequest;
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
): Promise<Rejection | undefined> {
  const caller = await reauthenticate(reader, pagePosition);
  if (isRejection(caller)) return caller;
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
  return { status: 200, text, headers: { 'Content-Type': JSON_TYPE }, ...consistency };
}
