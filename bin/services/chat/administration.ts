/** What admins do with the chat, put together, and what all see of each other: settings of the server, webhooks, presence. */
import { adminRoutes } from '../../../adapters/http/chat/admin.js';
import type { Doors } from '../../../adapters/http/chat/admit.js';
import { presenceRoutes } from '../../../adapters/http/chat/presence.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { serverRoutes } from '../../../adapters/http/chat/server.js';
import { webhookRoutes } from '../../../adapters/http/chat/webhooks.js';
import type { ChatAdmission } from '../../../application/chat/admission.js';
import type { Audit } from '../../../application/chat/audit.js';
import { createExport } from '../../../application/chat/export.js';
import { createPresence, presenceWork, SWEEP_EVERY_MS } from '../../../application/chat/presence.js';
import { createServer } from '../../../application/chat/server.js';
import { createWebhooks } from '../../../application/chat/webhooks.js';
import type { Logger } from '../../../application/ports.js';
import { audit as auditRows } from '../../../projections/chat/audit.js';
import { presence as presenceRows } from '../../../projections/chat/presence.js';
import type { Kernel } from '../../node/kernel.js';
import type { Talk } from './talk.js';

export const administrationProjections = [presenceRows, auditRows];

export interface AdministrationContext {
  readonly kernel: Kernel;
  readonly admission: ChatAdmission;
  readonly doors: Doors;
  readonly audit: Audit;
  readonly logger: Logger;
  readonly quotas: ChatQuotas;
  readonly talk: Pick<Talk, 'messages' | 'opened' | 'downloads'>;
}

export function createAdministration({
  kernel,
  admission,
  audit,
  doors,
  logger,
  quotas,
  talk,
}: AdministrationContext) {
  const ports = { ...kernel, ...talk, admission, audit, logger };
  const presence = createPresence(ports);
  return {
    presence,
    periodic: [{ name: presenceWork(kernel.node), everyMs: SWEEP_EVERY_MS, run: presence.sweep }],
    routes: [
      ...serverRoutes({ doors, server: createServer(ports) }),
      ...webhookRoutes({ doors, webhooks: createWebhooks(ports), quotas }),
      ...presenceRoutes({ doors, presence }),
      ...adminRoutes({ doors, audit, exported: createExport(ports), downloads: talk.downloads }),
    ],
  };
}
