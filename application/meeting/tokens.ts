/** Creator tokens: prove that a client created a room in advance. Derived from the command; only the hash is stored. */
import { hash } from 'node:crypto';
import type { Derivation } from '../ports/index.js';

/** Returns the SHA-256 of the token, base64url. */
export const creatorHash = (token: string): string => hash('sha256', token, 'base64url');

/** Returns 32 bytes, base64url. */
export const creatorToken = (derivation: Derivation, commandId: string): string =>
  derivation.secret('meeting.creator', commandId).toString('base64url');
