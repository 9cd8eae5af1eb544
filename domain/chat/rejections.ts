/** Builds rejections of chat commands. */
import { type Rejection, rejection } from '../shared/index.js';

/** Rejects a command that exceeds a limit; `limit` completes the sentence "At most ...". */
export const atMost = (rejected: `chat/${string}`, limit: string): Rejection =>
  rejection(rejected, 'invalid', `At most ${limit}`);

export const badLength = (rejected: `chat/${string}`, what: string, maxLength: number): Rejection =>
  rejection(rejected, 'invalid', `${what} must be 1 to ${maxLength} characters`);
