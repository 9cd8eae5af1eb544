/** Settings of nodes whose tests and benches post faster than people do. */

/** Turns the chat's limits by the minute off, by flags. */
export const NO_CHAT_LIMITS: { readonly [flag: string]: string } = {
  '--chat-messages-per-minute': '0',
  '--chat-webhook-messages-per-minute': '0',
};
