/** Access tokens (signed JWTs) and refresh tokens (opaque, authenticated by a MAC). */
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { User } from '../../../domain/chat/roster.js';
import type { Session } from '../../../domain/chat/session.js';
import { estimateBytes } from '../../concurrency/index.js';
import type { Cache, Clock, Derivation, SignedTokens } from '../../ports/index.js';

export interface Refresh {
  readonly userId: string;
  readonly sessionId: string;
  readonly generation: number;
}

/** Claims of an access token; whether the session is active must be checked separately. */
export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
}

export interface TokenPorts {
  readonly signed: SignedTokens;
  readonly derivation: Derivation;
  readonly clock: Clock;
  /** Seconds an access token is valid. */
  readonly jwtExpirySeconds: number;
}

export interface Tokens {
  /** Deterministic: the same session, generation and time `at` yield the same token. */
  access(
    user: Pick<User, 'id' | 'userName' | 'isAdmin'>,
    session: Pick<Session, 'id' | 'generation'>,
    at: number,
  ): Promise<string>;
  bearer(token: string): Promise<Bearer | undefined>;
  refresh(refresh: Refresh): string;
  readRefresh(token: string): Refresh | undefined;
  readonly cache: Cache;
}

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
    // One-time links are signed with the same key but have no session.
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
