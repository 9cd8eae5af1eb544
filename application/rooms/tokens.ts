/** Session tokens of rooms. Derived from the command id, so that a repeated command returns the same token. */
import { hash } from 'node:crypto';
import type { Derivation } from '../ports/index.js';

/** SHA-256, base64url. Session and invite tokens are stored only as this hash. */
export const hashOf = (token: string): string => hash('sha256', token, 'base64url');

/** 32 bytes, base64url. */
export const sessionToken = (derivation: Derivation, commandId: string): string =>
  derivation.secret('rooms.session', commandId).toString('base64url');
