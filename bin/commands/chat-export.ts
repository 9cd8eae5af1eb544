/** `annals chat export`: exports all chat data, for operators. */
import { createAudit } from '../../application/chat/admin/audit-log.js';
import { createExport } from '../../application/chat/admin/export.js';
import { createRowMapper } from '../../application/chat/messages/message-rows.js';
import { groupsOf, runProjector } from '../../projections/kernel/index.js';
import { chat } from '../services/chat.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { print } from './output.js';
import { adoptActiveBuilds, type Tools, withKernel } from './stores.js';

/** Time for read models that have not been updated for a while to catch up. */
const CATCH_UP_MS = 10 * 60_000;

export const exportChat: CommandSpec = {
  description:
    'Writes users, channels, messages (including direct messages), conversations, settings, webhooks and the audit ' +
    'log to standard output as one JSON document, like GET /admin/export. It contains no tokens or passwords. Works ' +
    'with or without a running server. The export is recorded in the audit log.',
  examples: [['chat export > chat.json', 'everything']],
  run: ({ config: { values } }: Call) => withKernel(values, exportAll),
};

async function exportAll({ kernel, logger }: Tools): Promise<number> {
  const running = new AbortController();
  const { signal } = running;
  await adoptActiveBuilds(kernel, chat.projections);
  // If a server is running, its projectors hold the leases and stay in charge.
  const { advanced, debounceUntilAwaited } = kernel.projectionProgress;
  const common = { ...kernel, service: chat.name, advanced, debounceUntilAwaited, logger, signal };
  const projectors = groupsOf(chat.name, chat.projections).map((group) => runProjector({ ...common, group }));
  try {
    const audit = createAudit(kernel);
    const exportChatData = createExport({ ...kernel, audit, opened: createRowMapper(kernel) });
    const { isPending, pieces } = await exportChatData('operator', kernel.systemContext('operator'), CATCH_UP_MS);
    if (isPending)
      throw new Failed('the read models of the chat did not catch up with the event log in time; try again');
    const outputClosed = new AbortController();
    process.stdout.once('error', () => outputClosed.abort());
    for await (const piece of pieces()) {
      await print(piece, outputClosed.signal);
      if (outputClosed.signal.aborted) break;
    }
    if (!(await isWritten('\n'))) throw new Failed('standard output was closed before the end of the export');
    return 0;
  } finally {
    running.abort();
    for (const { stopped } of projectors) await stopped;
  }
}

/** Writes the last of the output; false if that, or anything before it, could not be written. */
const isWritten = (text: string): Promise<boolean> =>
  new Promise((resolve) => process.stdout.write(text, (error) => resolve(!error)));
