/** The two tokens of a session: access tokens, which anybody can read, and refresh tokens, which only say whose they are. */
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { User } from '../../../domain/chat/roster.js';
import type { Session } from '../../../domain/chat/session.js';
import { estimateBytes } from '../../memory/estimate-size.js';
import type { Cache, Clock, Derivation, SignedTokens } from '../../ports/index.js';

/** What a refresh token stands for. */
export interface Refresh {
  readonly userId: string;
  readonly sessionId: string;
  readonly generation: number;
}

/** Whose an access token is; whether that session lives is for the log to say. */
export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
}

export interface TokenPorts {
  readonly signed: SignedTokens;
  readonly derivation: Derivation;
  readonly clock: Clock;
  /** Life of an access token. */
  readonly jwtExpirySeconds: number;
}

export interface Tokens {
  /** As of when the session's refresh token was made, or of `at`: the same session gives the same text again. */
  access(
    user: Pick<User, 'id' | 'userName' | 'isAdmin'>,
    session: Pick<Session, 'id' | 'generation'>,
    at: number,
  ): Promise<string>;
  /** Undefined for what is none, or is over. */
  bearer(token: string): Promise<Bearer | undefined>;
  refresh(refresh: Refresh): string;
  /** Undefined for what was never one. */
  readRefresh(token: string): Refresh | undefined;
  readonly cache: Cache;
}

/** Verifying costs more than looking up. */
const VERIFIED_BYTES = 4 * 1024 * 1024;
const REFRESH = /^([\w-]{22})\.([\w-]{22})\.(\d{1,9})\.([\w-]{43})$/;

export function createTokens({ signed, derivation, clock, jwtExpirySeconds }: TokenPorts): Tokens {
  const verified = new LRUCache<string, Bearer & { readonly exp: number }>({
    maxSize: VERIFIED_BYTES,
    sizeCalculation: (bearer, token) => estimateBytes(token) + estimateBytes(bearer),
  });

  async function verify(token: string) {
    const claims = await signed.read(token);
    if (!claims) return undefined;
    const { sub, sid, exp } = claims;
    // A link is signed with the same key, and has no session.
    if (typeof sub !== 'string' || typeof sid !== 'string') return undefined;
    const bearer = { userId: sub, sessionId: sid, exp };
    verified.set(token, bearer);
    return bearer;
  }

  const mac = ({ userId, sessionId, generation }: Refresh) =>
    derivation.secret('chat.refresh', userId, sessionId, String(generation)).toString('base64url');

  return {
    access({ id, userName, isAdmin }, { id: sid, generation }, at) {
      const iat = Math.floor(at / 1000);
      return signed.sign({
        sub: id,
        sid,
        username: userName,
        role: isAdmin ? 'admin' : 'user',
        iat,
        exp: iat + jwtExpirySeconds,
        jti: derivation.id('chat.access', sid, String(generation), String(at)),
      });
    },

    async bearer(token) {
      const found = verified.get(token) ?? (await verify(token));
      return found && clock.now() < found.exp * 1000 ? found : undefined;
    },

    refresh: (refresh) => `${refresh.userId}.${refresh.sessionId}.${refresh.generation}.${mac(refresh)}`,

    readRefresh(token) {
      const [, userId = '', sessionId = '', number = '', presented = ''] = REFRESH.exec(token) ?? [];
      const refresh = { userId, sessionId, generation: Number(number) };
      const expected = Buffer.from(mac(refresh));
      return presented.length === expected.length && timingSafeEqual(Buffer.from(presented), expected)
        ? refresh
        : undefined;
    },

    cache: { name: 'chat.tokens', limitBytes: VERIFIED_BYTES, bytes: () => verified.calculatedSize },
  };
}
