/** Authenticates callers: access and refresh tokens (signed JWTs), checked against the log's state. */

import { LRUCache } from 'lru-cache';
import type { SessionSecret } from '../../../domain/chat/events/sign-in.js';
import { ROSTER, type RosterState, type User, userByEmail, userById } from '../../../domain/chat/roster.js';
import {
  type DomainEvent,
  findSession,
  type Rejection,
  rejection,
  type Session as SessionOf,
} from '../../../domain/shared/index.js';
import type { Aggregate, KernelPorts, LoadedAggregate } from '../../command/index.js';
import { estimateBytes } from '../../concurrency/index.js';
import type { Cache, Position, SignedTokens } from '../../ports/index.js';
import { rosterAggregate, sessionAggregate, sessionStream } from '../aggregates.js';

export type Session = SessionOf<SessionSecret>;

/** Claims of an access token; whether the session is active must be checked separately. */
export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
}

/** Claims of a refresh token; its session decides whether it is valid. */
export interface Refresh extends Bearer {
  readonly generation: number;
}

/** What the tokens of a session are issued for. */
export type TokenSession = Pick<Session, 'id' | 'generation' | 'lastUsedAt' | 'expiresAt'>;

export interface TokenPorts extends Pick<KernelPorts, 'derivation' | 'clock'> {
  readonly signed: SignedTokens;
  /** Seconds an access token is valid. */
  readonly jwtExpirySeconds: number;
}

/** Result of a sign-in; `exp` is in seconds from now. */
export interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly exp: number;
  readonly tokenType: 'Bearer';
}

export type Tokens = ReturnType<typeof createTokens>;

const VERIFIED_BYTES = 4 * 1024 * 1024;
const REFRESH = 'annals:chat:refresh';

const secondsOf = (ms: number) => Math.floor(ms / 1000);

export function createTokens({ signed, derivation, clock, jwtExpirySeconds }: TokenPorts) {
  const verified = new LRUCache<string, Bearer & { readonly exp: number }>({
    maxSize: VERIFIED_BYTES,
    sizeCalculation: (bearer, token) => estimateBytes(token) + estimateBytes(bearer),
  });

  async function verify(token: string) {
    const claims = await signed.read(token);
    if (!claims) return undefined;
    const { sub, sid, exp } = claims;
    // Other tokens are signed with the same key, but only these name a session as `sid`.
    if (typeof sub !== 'string' || typeof sid !== 'string') return undefined;
    const bearer = { userId: sub, sessionId: sid, exp };
    verified.set(token, bearer);
    return bearer;
  }

  return {
    /** Deterministic: the same session yields the same tokens. */
    async issue(
      { id: userId, userName, isAdmin }: Pick<User, 'id' | 'userName' | 'isAdmin'>,
      { id: sessionId, generation, lastUsedAt, expiresAt }: TokenSession,
    ): Promise<SignedIn> {
      const iat = secondsOf(lastUsedAt);
      const accessToken = await signed.sign({
        sub: userId,
        sid: sessionId,
        username: userName,
        role: isAdmin ? 'admin' : 'user',
        iat,
        exp: iat + jwtExpirySeconds,
        jti: derivation.id('chat.access', sessionId, String(generation), String(lastUsedAt)),
      });
      const refresh = { aud: REFRESH, userId, sessionId, generation, iat, exp: secondsOf(expiresAt) };
      return { accessToken, refreshToken: await signed.sign(refresh), exp: jwtExpirySeconds, tokenType: 'Bearer' };
    },

    async bearer(token: string | undefined): Promise<Bearer | undefined> {
      if (token === undefined) return undefined;
      const found = verified.get(token) ?? (await verify(token));
      return found && clock.now() < found.exp * 1000 ? found : undefined;
    },

    async readRefresh(token: string): Promise<Refresh | undefined> {
      const claims = await signed.read(token);
      if (claims?.aud !== REFRESH) return undefined;
      const { userId, sessionId, generation } = claims as unknown as Refresh;
      return { userId, sessionId, generation };
    },

    cache: { name: 'chat.tokens', limitBytes: VERIFIED_BYTES, bytes: () => verified.calculatedSize } satisfies Cache,
  };
}

export interface Caller {
  readonly userId: string;
  readonly userName: string;
  readonly isAdmin: boolean;
  readonly sessionId: string;
}

export interface AuthenticationPorts extends Pick<KernelPorts, 'aggregates' | 'clock'> {
  readonly tokens: Tokens;
  /** Position of this node's live feed; cached aggregates are at least as new. */
  readonly feedPosition: () => Position;
}

export type Authentication = ReturnType<typeof createAuthentication>;

/** What the use cases of the chat pick their ports from. */
export interface ChatPorts extends KernelPorts {
  readonly admission: Authentication;
}

export const unauthorized = rejection('chat/unauthorized', 'unauthenticated', 'Sign in first');

export function createAuthentication({ aggregates, tokens, clock, feedPosition }: AuthenticationPorts) {
  /** Loads an aggregate as of `seen` or later, from the cache if possible. */
  async function load<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    seen: Position = 0n,
  ): Promise<LoadedAggregate<S>> {
    const loaded = await aggregates.load(kind, stream);
    return loaded.position >= seen || feedPosition() >= seen ? loaded : aggregates.reload(kind, stream);
  }

  /** Another node may have written a moment ago: reloads before reporting nothing found. */
  async function find<S, C, E extends DomainEvent, Found>(
    kind: Aggregate<S, C, E>,
    stream: string,
    seen: Position | undefined,
    findIn: (state: S) => Promise<Found | undefined> | Found | undefined,
  ): Promise<Found | undefined> {
    const { state } = await load(kind, stream, seen);
    const found = await findIn(state);
    if (found !== undefined) return found;
    const { state: newest } = await aggregates.reload(kind, stream);
    return newest === state ? undefined : findIn(newest);
  }

  const roster = (seen?: Position) => load(rosterAggregate, ROSTER, seen);

  return {
    load,
    find,
    roster,
    parseAccessToken: tokens.bearer,

    /** The active session of a caller just authenticated, from the cache only. */
    session({ userId, sessionId }: Pick<Caller, 'userId' | 'sessionId'>): Session | undefined {
      const known = aggregates.cached(sessionAggregate, sessionStream(userId));
      return known && findSession(known.state, sessionId, clock.now());
    },

    user: (key: { readonly id: string } | { readonly email: string }): Promise<User | undefined> =>
      find(rosterAggregate, ROSTER, 0n, (state) =>
        'id' in key ? userById(state, key.id) : userByEmail(state, key.email),
      ),

    /** Whether all of these are current users; reads the log at most once. */
    async areUsers(ids: readonly string[]): Promise<boolean> {
      const allExist = (state: RosterState) => ids.every((id) => userById(state, id)) || undefined;
      return ids.length === 0 || (await find(rosterAggregate, ROSTER, 0n, allExist)) === true;
    },

    /** Returns the caller as of `seen` or later; requires a valid token and an active session. */
    async authenticate(token: string | undefined, seen?: Position): Promise<Caller | Rejection> {
      const bearer = await tokens.bearer(token);
      if (!bearer) return unauthorized;
      const { userId, sessionId } = bearer;
      const now = clock.now();
      const [session, user] = await Promise.all([
        find(sessionAggregate, sessionStream(userId), seen, (state) => findSession(state, sessionId, now)),
        find(rosterAggregate, ROSTER, seen, (state) => userById(state, userId)),
      ]);
      if (!session || !user) return unauthorized;
      const { userName, isAdmin } = user;
      return { userId, userName, isAdmin, sessionId };
    },
  };
}
