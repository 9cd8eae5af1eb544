/** Tokens of rooms: made from the command, so that a repeated one answers the same, and known by their hash only. */
import { hash } from 'node:crypto';
import type { Derivation } from '../ports/index.js';

/** SHA-256, base64url: all that is ever stored of a session or invite token. */
export const hashOf = (token: string): string => hash('sha256', token, 'base64url');

/** 32 bytes, base64url. */
export const sessionToken = (derivation: Derivation, commandId: string): string =>
  derivation.secret('rooms.session', commandId).toString('base64url');
