/** Process manager that sends raised alerts to the webhook, also after a crash, and records the outcome. */
import { alertStream, type Details } from '../../../domain/logs/alert.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { RecordedEvent, WebhookOutcome, Webhooks } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { alertAggregate, currentAlertPolicy } from './aggregates.js';

export interface DeliveryPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'clock'> {
  readonly webhooks: Webhooks;
  readonly serviceUrl: () => string;
  /** Aborts a running delivery, which is retried at the next start. */
  readonly signal: AbortSignal;
}

interface AlertNotice {
  readonly rule: string;
  readonly severity: string;
  readonly raisedAt: number;
  readonly details: Details;
  readonly alertId?: string;
}

export const alertPayload = (serviceUrl: string, { raisedAt, rule, severity, details, alertId }: AlertNotice) => ({
  source: 'annals-logs',
  rule,
  severity,
  triggeredAt: new Date(raisedAt).toISOString(),
  serviceUrl,
  details,
  ...(alertId === undefined ? {} : { alertId }),
});

type AlertRaised = LogsEvent<'AlertRaised'>;

export function deliveryReaction(ports: DeliveryPorts): Reaction<AlertRaised> {
  const { handle, aggregates, derivation, clock } = ports;

  async function deliverAlert(event: RecordedEvent<AlertRaised>) {
    const { data: raised } = event;
    const { rule, alertId } = raised;
    const { state } = await aggregates.reload(alertAggregate, alertStream(rule));
    // The outcome was recorded before a crash; only the checkpoint was not.
    if (!state.undelivered.includes(alertId)) return;
    const outcome = await send(ports, event);
    const failure = outcome.delivered ? {} : { failure: outcome.reason };
    const { status, attempts } = outcome;
    const recorded = await handle(
      alertAggregate,
      alertStream(rule),
      { type: 'RecordDelivery', rule, alertId, at: clock.now(), attempts, status, ...failure },
      causedBy(derivation, 'logs.deliver', event),
    );
    if (isRejection(recorded)) throw new Error(recorded.rejected);
  }

  return { name: 'logs.deliver', on: { AlertRaised: deliverAlert } };
}

async function send(
  { aggregates, webhooks, serviceUrl, signal }: DeliveryPorts,
  { data: raised, metadata }: RecordedEvent<AlertRaised>,
): Promise<WebhookOutcome> {
  const { state } = await currentAlertPolicy(aggregates);
  if (state.webhookUrl === null) {
    return { delivered: false, reason: 'the webhook URL was removed from the alert policy', attempts: 0 };
  }
  return webhooks.deliver({
    url: state.webhookUrl,
    payload: alertPayload(serviceUrl(), raised),
    deliveryId: raised.alertId,
    ...(metadata.traceparent !== undefined && { traceparent: metadata.traceparent }),
    timeoutMs: state.webhookTimeoutMs,
    retries: state.webhookRetryAttempts,
    backoffMs: state.webhookBackoffMs,
    signal,
  });
}
