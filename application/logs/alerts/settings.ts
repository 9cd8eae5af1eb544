/** Settings of alerting; the alert policy itself is changed through the API. */
import type { Settings } from '../../config/setting.js';

export const alertSettings = {
  'logs.appUrl': {
    type: 'string',
    description: 'Address under which people reach the log service, if not the one listened on; told with alerts',
  },
  'logs.webhookSecret': {
    type: 'string',
    minLength: 16,
    secret: true,
    description: 'Signs alerts to the webhook, in the header X-Annals-Signature',
  },
  'logs.allowPrivateWebhooks': {
    type: 'boolean',
    description: 'Lets the webhook be in a private network; unless set, only where the host is this machine',
  },
} as const satisfies Settings;
