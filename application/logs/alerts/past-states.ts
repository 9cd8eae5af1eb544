/** Past states of the alert policy. */
import { ALERT_POLICY_STREAM } from '../../../domain/logs/alert-events.js';
import { type AlertPolicy, type AlertPolicyChanged, alertPolicy } from '../../../domain/logs/alert-policy.js';
import { catalog } from '../../../domain/logs/catalog.js';
import { evolveOf } from '../../../domain/shared/index.js';
import type { ThingKind } from '../../audit/index.js';

const policy: ThingKind<AlertPolicy> = {
  name: 'policy',
  catalog,
  initialState: alertPolicy.initialState,
  streamOf: (id) => (id === '' ? ALERT_POLICY_STREAM : undefined),
  evolve: evolveOf<AlertPolicy, AlertPolicyChanged>(alertPolicy),
  view: ({ webhookUrl, ...settings }, { secret }) => ({ ...settings, webhookUrl: secret(webhookUrl) }),
};

export const logsThings: readonly ThingKind[] = [policy];
