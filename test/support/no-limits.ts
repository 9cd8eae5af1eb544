/** Settings of nodes whose tests and benches send faster than people and their browsers do. */
import { NO_CHAT_LIMITS } from './chat-limits.js';

/** Turns the limits by the minute off, by flags. */
export const NO_LIMITS: { readonly [flag: string]: string } = {
  ...NO_CHAT_LIMITS,
  '--analytics-hits-per-minute': '0',
};
