/** What whoever made a room before anybody came shows to be known for it: made from the command, kept as a hash only. */
import { hash } from 'node:crypto';
import type { Derivation } from '../ports/index.js';

/** SHA-256, base64url: all that is ever stored of it. */
export const creatorHash = (token: string): string => hash('sha256', token, 'base64url');

/** 32 bytes, base64url. */
export const creatorToken = (derivation: Derivation, commandId: string): string =>
  derivation.secret('meeting.creator', commandId).toString('base64url');
