/** `annals chat export`: all that the chat holds, for whoever runs the server. */
import { createAudit } from '../../../application/chat/admin/audit-log.js';
import { createExport } from '../../../application/chat/admin/export.js';
import { createRowMapper } from '../../../application/chat/messages/row-mapper.js';
import { groupsOf, type Projector, runProjector } from '../../../projections/kernel/index.js';
import { openKernel } from '../../node/kernel.js';
import { services } from '../../services/all.js';
import { chat } from '../../services/chat.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { createCommandLogger } from '../logger.js';
import { print } from '../print.js';
import { findStores } from '../stores.js';

/** For read models that nobody has kept up for a while. */
const PATIENCE_MS = 10 * 60_000;

export const exportChat: CommandSpec = {
  description:
    'Writes users, channels, messages (direct ones too), conversations, settings, webhooks and the audit log to the ' +
    'standard output, as one JSON text, the same as GET /admin/export. No token and no password is in it. Works ' +
    'beside a running server, and without one. It is noted in the audit log.',
  examples: [['chat export > chat.json', 'everything']],
  async run({ config: { values } }: Call) {
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const kernel = await openKernel(servers, values, services, logger);
    const running = new AbortController();
    const projectors: Projector[] = [];
    try {
      await Promise.all(
        chat.projections.map(async (projection) => {
          const { state, revision } = await kernel.lifecycle.current(projection);
          if (state) kernel.served.adopt({ ...state, revision });
        }),
      );
      // While a server keeps them up it goes on doing so.
      const { advanced, debounceUntilAwaited } = kernel.settled;
      const { signal } = running;
      for (const group of groupsOf(chat.name, chat.projections)) {
        const options = {
          ...kernel,
          service: chat.name,
          group,
          advanced,
          debounceUntilAwaited,
          logger,
          signal,
        };
        projectors.push(runProjector(options));
      }
      const audit = createAudit(kernel);
      const exported = createExport({ ...kernel, audit, opened: createRowMapper(kernel) });
      const { isPending, pieces } = await exported('operator', kernel.systemContext('operator'), PATIENCE_MS);
      if (isPending) throw new Failed('the read models of the chat are behind its log');
      const gone = new AbortController();
      process.stdout.once('error', () => gone.abort());
      for await (const piece of pieces()) {
        await print(piece, gone.signal);
        if (gone.signal.aborted) break;
      }
      if (!(await isWritten('\n'))) throw new Failed('who read the export has gone before its end');
      return 0;
    } finally {
      running.abort();
      for (const { stopped } of projectors) await stopped;
      await kernel.close();
      await servers.stop();
    }
  },
};

/** The last of what is printed; false where it, or what came before it, reaches nobody. */
const isWritten = (text: string): Promise<boolean> =>
  new Promise((resolve) => process.stdout.write(text, (error) => resolve(!error)));
