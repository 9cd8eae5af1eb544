/** Composition of the guest book service. Belongs in `bin/`. */
import { relayMembers, type Service } from '../../bin/node/service.js';
import { catalog } from './book.js';
import { createBooks } from './books.js';
import { entries } from './entries.js';
import { audience, bookRoutes, policy } from './routes.js';

export const guestbook: Service<typeof catalog> = {
  name: 'guestbook',
  catalog,
  projections: [entries],
  port: () => 0,
  async connect({ kernel, ...context }) {
    const relay = await context.relay(audience);
    const routes = bookRoutes(createBooks(kernel), relay);
    return { policy, signIn: 'everybody may sign', routes, ...relayMembers(relay), reactions: [], periodic: [] };
  },
};
