/** Flags that turn rate limits per minute off, for tests and benchmarks that send faster than people do. */
export const NO_LIMITS: { readonly [flag: string]: string } = {
  '--chat-messages-per-minute': '0',
  '--chat-webhook-messages-per-minute': '0',
  '--analytics-hits-per-minute': '0',
};
