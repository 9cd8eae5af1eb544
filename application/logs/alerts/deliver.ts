/** Alerts go out to the webhook: once the log has them, after crashes too, and the log is told of the outcome. */
import { alertStream, type Details } from '../../../domain/logs/alert.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../../command/index.js';
import type { Clock, Derivation, RecordedEvent, WebhookOutcome, Webhooks } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { alertAggregate, currentAlertPolicy } from './aggregates.js';

export interface DeliveryPorts {
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly webhooks: Webhooks;
  readonly derivation: Derivation;
  readonly clock: Clock;
  readonly serviceUrl: () => string;
  /** Ends a delivery that is under way; it begins anew at the next start. */
  readonly signal: AbortSignal;
}

interface Announced {
  readonly rule: string;
  readonly severity: string;
  readonly raisedAt: number;
  readonly details: Details;
  readonly alertId?: string;
}

/** What a receiver of alerts gets: its shape is promised. */
export const alertPayload = (serviceUrl: string, { raisedAt, rule, severity, details, alertId }: Announced) => ({
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
  const { handle, streams, derivation, clock } = ports;

  async function announce(event: RecordedEvent<AlertRaised>) {
    const { data: raised } = event;
    const { rule, alertId } = raised;
    const { state } = await streams.reload(alertAggregate, alertStream(rule));
    // Told before a crash: the outcome was recorded, only the reaction's checkpoint was not.
    if (!state.undelivered.includes(alertId)) return;
    const outcome = await send(ports, raised);
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

  return { name: 'logs.deliver', on: { AlertRaised: announce } };
}

async function send(
  { streams, webhooks, serviceUrl, signal }: DeliveryPorts,
  raised: AlertRaised['data'],
): Promise<WebhookOutcome> {
  const { state } = await currentAlertPolicy(streams);
  if (state.webhookUrl === null) {
    return { delivered: false, reason: 'there is no webhook URL any more', attempts: 0 };
  }
  return webhooks.deliver({
    url: state.webhookUrl,
    payload: alertPayload(serviceUrl(), raised),
    deliveryId: raised.alertId,
    timeoutMs: state.webhookTimeoutMs,
    retries: state.webhookRetryAttempts,
    backoffMs: state.webhookBackoffMs,
    signal,
  });
}
