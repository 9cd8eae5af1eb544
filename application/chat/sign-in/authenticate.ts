/** Who is calling: the access token says so, and the log has the last word on whether the session and the user are there. */
import { ROSTER, type RosterState, type User, userOf, userWith } from '../../../domain/chat/roster.js';
import { type Session, sessionStream, sessionWith } from '../../../domain/chat/session.js';
import type { DomainEvent, Rejection } from '../../../domain/shared/index.js';
import type { Aggregate, AggregateStore, LoadedAggregate } from '../../command/index.js';
import type { Clock, Position } from '../../ports/index.js';
import { rosterAggregate, sessionAggregate } from '../aggregates.js';
import type { Bearer, Tokens } from './tokens.js';

/** Somebody who is signed in. */
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
  /** How far this node has heard of the log: what it remembers of streams is no older. */
  readonly feedPosition: () => Position;
}

export interface Authentication {
  /** The caller, at least as the log was at `seen`; by a token that is good, of a session that lives. */
  authenticate(token: string | undefined, seen?: Position): Promise<Caller | Rejection>;
  /** Whose an access token is, be its session over. */
  parseAccessToken(token: string | undefined): Promise<Bearer | undefined>;
  /** The session of somebody admitted just now, if it lives still, by what this node knows: nobody is asked. */
  session(caller: Pick<Caller, 'userId' | 'sessionId'>): Session | undefined;
  /** Somebody who is there, by id or tidy email. */
  user(key: { readonly id: string } | { readonly email: string }): Promise<User | undefined>;
  /** Whether all of these are there; the log is asked once, however many are not known. */
  areUsers(ids: readonly string[]): Promise<boolean>;
  /** Everybody, at least as the log was at `seen`. */
  roster(seen?: Position): Promise<LoadedAggregate<RosterState>>;
  /** A stream as this process knows it, at least as the log was at `seen`. */
  load<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    seen?: Position,
  ): Promise<LoadedAggregate<S>>;
}

export const unauthorized: Rejection = {
  rejected: 'chat/unauthorized',
  kind: 'unauthenticated',
  detail: 'Sign in first',
};

export function createChatAdmission({ streams, tokens, clock, feedPosition }: AuthenticationPorts): Authentication {
  const load: Authentication['load'] = async (kind, stream, seen = 0n) => {
    const loaded = await streams.load(kind, stream);
    return loaded.position >= seen || feedPosition() >= seen ? loaded : streams.reload(kind, stream);
  };
  const roster = (seen?: Position) => load(rosterAggregate, ROSTER, seen);
  const parseAccessToken = async (token: string | undefined) =>
    token === undefined ? undefined : tokens.bearer(token);

  /** Another node may have let somebody in a moment ago: who is not known is looked for in the log. */
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
      return known && sessionWith(known.state, sessionId, clock.now());
    },
    user: (key) =>
      lookUp(rosterAggregate, ROSTER, 0n, (state) =>
        'id' in key ? userWith(state, key.id) : userOf(state, key.email),
      ),
    async areUsers(ids) {
      if (ids.length === 0) return true;
      const allExist = (state: RosterState) =>
        ids.every((id) => userWith(state, id) !== undefined) ? true : undefined;
      return (await lookUp(rosterAggregate, ROSTER, 0n, allExist)) ?? false;
    },
    async authenticate(token, seen = 0n) {
      const bearer = await parseAccessToken(token);
      if (!bearer) return unauthorized;
      const { userId, sessionId } = bearer;
      const now = clock.now();
      const [session, user] = await Promise.all([
        lookUp(sessionAggregate, sessionStream(userId), seen, (state) => sessionWith(state, sessionId, now)),
        lookUp(rosterAggregate, ROSTER, seen, (state) => userWith(state, userId)),
      ]);
      if (!session || !user) return unauthorized;
      const { userName, isAdmin } = user;
      return { userId, userName, isAdmin, sessionId };
    },
  };
}
