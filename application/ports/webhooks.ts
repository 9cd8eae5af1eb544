/** Webhook port: sends messages to URLs of users. */

/** Message with its retry policy; times in ms. */
export interface WebhookRequest {
  readonly url: string;
  /** Sent as JSON. */
  readonly payload: object;
  /** Identifies the delivery to its receiver; the same for all attempts. */
  readonly deliveryId: string;
  /** W3C trace context of the cause, sent as the `traceparent` header. */
  readonly traceparent?: string;
  /** Per attempt, from name resolution to the response status. */
  readonly timeoutMs: number;
  /** Attempts after the first, with exponential backoff. */
  readonly retries: number;
  readonly backoffMs: number;
  /** Total time limit; default: until the retries are used up. */
  readonly deadlineMs?: number;
  /** Rejects when aborted: the outcome is then unknown. */
  readonly signal: AbortSignal;
}

export type WebhookOutcome =
  | { readonly delivered: true; readonly status: number; readonly attempts: number }
  /** `reason` is shown to users; it contains no address. */
  | {
      readonly delivered: false;
      readonly reason: string;
      readonly status?: number;
      readonly attempts: number;
    };

export interface Webhooks {
  /** Returns why this URL must not be called, or undefined. A failed name resolution is no reason. */
  refusal(url: string): Promise<string | undefined>;
  deliver(request: WebhookRequest): Promise<WebhookOutcome>;
}
