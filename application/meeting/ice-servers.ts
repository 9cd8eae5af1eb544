/** ICE server configuration (STUN, TURN) for browsers. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../ports/index.js';
import type { IceServer } from './settings.js';

export interface IceOptions {
  /** Replaces the public STUN server. */
  readonly servers?: readonly IceServer[] | undefined;
  /** TURN server with shared credentials, or with a secret that signs temporary ones. */
  readonly turn?: IceServer | { readonly urls: string; readonly secret: string } | undefined;
  readonly clock: Clock;
}

const DEFAULT_SERVERS: readonly IceServer[] = [{ urls: 'stun:stun.l.google.com:19302' }];
const CREDENTIAL_TTL_S = 3600;

export const createIceServers =
  ({ servers = DEFAULT_SERVERS, turn, clock }: IceOptions) =>
  (): readonly IceServer[] => {
    if (!turn) return servers;
    return [...servers, 'secret' in turn ? temporaryCredential(turn.urls, turn.secret, clock.now()) : turn];
  };

/**
 * Creates a TURN credential by the common convention (draft-uberti-behave-turn-rest): TURN servers verify the
 * signature and the expiry in the name.
 */
function temporaryCredential(urls: string, secret: string, now: number): IceServer {
  const username = `${Math.floor(now / 1000) + CREDENTIAL_TTL_S}:${randomBytes(12).toString('base64url')}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return { urls, username, credential };
}
