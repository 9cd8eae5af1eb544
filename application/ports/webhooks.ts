/** Messages to the webhooks of others, as whoever sends one sees them. */

/** A message for a URL, and how hard to try. Times in ms. */
export interface WebhookRequest {
  readonly url: string;
  /** Sent as JSON. */
  readonly payload: object;
  /** Names this delivery to its receiver, the same whenever it is tried again. */
  readonly deliveryId: string;
  /** For one attempt, from looking up the name to the answer's status. */
  readonly timeoutMs: number;
  /** Further attempts after the first, each twice as long after the one before. */
  readonly retries: number;
  readonly backoffMs: number;
  /** Gives up when so much time has passed in all; without it, when the retries are used up. */
  readonly deadlineMs?: number;
  /** Rejects when aborted: the outcome is then unknown. */
  readonly signal: AbortSignal;
}

export type WebhookOutcome =
  | { readonly delivered: true; readonly status: number; readonly attempts: number }
  /** `reason` is for people; it names no address. */
  | {
      readonly delivered: false;
      readonly reason: string;
      readonly status?: number;
      readonly attempts: number;
    };

export interface Webhooks {
  /** Why this URL must not be called, or undefined. A name that can't be looked up now is no reason. */
  refusal(url: string): Promise<string | undefined>;
  deliver(request: WebhookRequest): Promise<WebhookOutcome>;
}
