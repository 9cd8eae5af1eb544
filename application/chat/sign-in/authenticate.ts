/** Authenticates callers: verifies the access token, then checks session and user in the log's state. */
import { rejection } from '../../../domain/chat/rejections.js';
import { ROSTER, type RosterState, type User, userByEmail, userById } from '../../../domain/chat/roster.js';
import { findSession, type Session, sessionStream } from '../../../domain/chat/session.js';
import type { DomainEvent, Rejection } from '../../../domain/shared/index.js';
import type { Aggregate, AggregateStore, LoadedAggregate } from '../../command/index.js';
import type { Clock, Position } from '../../ports/index.js';
import { rosterAggregate, sessionAggregate } from '../aggregates.js';
import type { Bearer, Tokens } from './tokens.js';

export interface Caller {
  readonly userId: string;
  readonly userName: string;
  readonly isAdmin: boolean;
  readonly sessionId: string;
}

export interface AuthenticationPorts {
  readonly streams: AggregateStore;
  readonly tokens: Tokens;
  readonly clock: Clock;
  /** Position of this node's live feed; cached aggregates are at least as new. */
  readonly feedPosition: () => Position;
}

export interface Authentication {
  /** Returns the caller as of `seen` or later; requires a valid token and an active session. */
  authenticate(token: string | undefined, seen?: Position): Promise<Caller | Rejection>;
  parseAccessToken(token: string | undefined): Promise<Bearer | undefined>;
  /** The active session of a caller just authenticated, from the cache only. */
  session(caller: Pick<Caller, 'userId' | 'sessionId'>): Session | undefined;
  user(key: { readonly id: string } | { readonly email: string }): Promise<User | undefined>;
  /** Whether all of these are current users; reads the log at most once. */
  areUsers(ids: readonly string[]): Promise<boolean>;
  roster(seen?: Position): Promise<LoadedAggregate<RosterState>>;
  /** Loads an aggregate as of `seen` or later, from the cache if possible. */
  load<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    seen?: Position,
  ): Promise<LoadedAggregate<S>>;
}

export const unauthorized = rejection('chat/unauthorized', 'unauthenticated', 'Sign in first');

export function createAuthentication({ streams, tokens, clock, feedPosition }: AuthenticationPorts): Authentication {
  const load: Authentication['load'] = async (kind, stream, seen = 0n) => {
    const loaded = await streams.load(kind, stream);
    return loaded.position >= seen || feedPosition() >= seen ? loaded : streams.reload(kind, stream);
  };
  const roster = (seen?: Position) => load(rosterAggregate, ROSTER, seen);
  const parseAccessToken = async (token: string | undefined) =>
    token === undefined ? undefined : tokens.bearer(token);

  /** Another node may have written a moment ago: reloads before reporting nothing found. */
  async function lookUp<S, C, E extends DomainEvent, Found>(
    kind: Aggregate<S, C, E>,
    stream: string,
    seen: Position,
    find: (state: S) => Found | undefined,
  ): Promise<Found | undefined> {
    return find((await load(kind, stream, seen)).state) ?? find((await streams.reload(kind, stream)).state);
  }

  return {
    load,
    roster,
    parseAccessToken,
    session({ userId, sessionId }) {
      const known = streams.cached(sessionAggregate, sessionStream(userId));
      return known && findSession(known.state, sessionId, clock.now());
    },
    user: (key) =>
      lookUp(rosterAggregate, ROSTER, 0n, (state) =>
        'id' in key ? userById(state, key.id) : userByEmail(state, key.email),
      ),
    async areUsers(ids) {
      if (ids.length === 0) return true;
      const allExist = (state: RosterState) =>
        ids.every((id) => userById(state, id) !== undefined) ? true : undefined;
      return (await lookUp(rosterAggregate, ROSTER, 0n, allExist)) ?? false;
    },
    async authenticate(token, seen = 0n) {
      const bearer = await parseAccessToken(token);
      if (!bearer) return unauthorized;
      const { userId, sessionId } = bearer;
      const now = clock.now();
      const [session, user] = await Promise.all([
        lookUp(sessionAggregate, sessionStream(userId), seen, (state) => findSession(state, sessionId, now)),
        lookUp(rosterAggregate, ROSTER, seen, (state) => userById(state, userId)),
      ]);
      if (!session || !user) return unauthorized;
      const { userName, isAdmin } = user;
      return { userId, userName, isAdmin, sessionId };
    },
  };
}
