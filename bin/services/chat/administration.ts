/** What admins do with the chat, put together: settings of the server, webhooks. */
import type { Doors } from '../../../adapters/http/chat/admit.js';
import { serverRoutes } from '../../../adapters/http/chat/server.js';
import { webhookRoutes } from '../../../adapters/http/chat/webhooks.js';
import type { ChatAdmission } from '../../../application/chat/admission.js';
import { createServer } from '../../../application/chat/server.js';
import { createWebhooks } from '../../../application/chat/webhooks.js';
import type { Kernel } from '../../node/kernel.js';
import type { Talk } from './talk.js';

export interface AdministrationContext {
  readonly kernel: Kernel;
  readonly admission: ChatAdmission;
  readonly doors: Doors;
  readonly talk: Pick<Talk, 'messages'>;
}

export function createAdministration({ kernel, admission, doors, talk }: AdministrationContext) {
  const ports = { ...kernel, ...talk, admission };
  return {
    routes: [
      ...serverRoutes({ doors, server: createServer(ports) }),
      ...webhookRoutes({ doors, webhooks: createWebhooks(ports) }),
    ],
  };
}
