/** Removes files that were never attached, and leftovers of failed uploads. */

import { fileSubject } from '../../../domain/chat/events/files.js';
import { type FileState, type Holder, UNATTACHED_MS } from '../../../domain/chat/file.js';
import { messageStream } from '../../../domain/chat/message.js';
import type { KernelPorts } from '../../command/index.js';
import type { ConfirmedClock, FileStore } from '../../ports/index.js';
import { collectFailures } from '../../subscription/index.js';
import { fileAggregate, messageAggregate } from '../aggregates.js';

export interface FileSweepPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'rows' | 'context'> {
  readonly clock: ConfirmedClock;
  readonly fileStore: FileStore;
}

export const FILE_SWEEP_EVERY_MS = 10 * 60_000;
const BATCH_SIZE = 100;
const NAME = 'chat.file-sweep';

interface DueRow {
  readonly file: string;
  readonly due: number;
}

export function createFileSweep({ handle, aggregates, rows, clock, context, fileStore }: FileSweepPorts) {
  async function isReferenced(stored: string, fileId: string): Promise<boolean> {
    const { state } = await aggregates.reload(fileAggregate, fileSubject({ fileId }));
    const { status, content, thumbnail } = state;
    return status === 'active' && (content.stored === stored || thumbnail?.stored === stored);
  }

  async function removeLeftovers(stop: AbortSignal) {
    for await (const { stored, of } of fileStore.unsettled()) {
      if (stop.aborted) return;
      if (of === undefined || !(await isReferenced(stored, of))) await fileStore.remove(stored);
      await fileStore.settle(stored);
    }
  }

  async function stillContains({ messageId }: Holder, name: string): Promise<boolean> {
    const { state, deleted } = await aggregates.reload(messageAggregate, messageStream(messageId));
    if (deleted || state.status !== 'active') return false;
    const { attachments, images } = state.body;
    return images.includes(name) || attachments.some(({ filename }) => filename === name);
  }

  async function findMissingHolders({ holders, name }: FileState): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const holder of holders) if (!(await stillContains(holder, name))) missing.push(holder.messageId);
    return missing;
  }

  async function review(fileId: string, now: number) {
    const stream = fileSubject({ fileId });
    const { state } = await aggregates.reload(fileAggregate, stream);
    if (state.status !== 'active' || now - state.touchedAt < UNATTACHED_MS) return;
    const command = { type: 'ReviewFile' as const, fileId, missing: await findMissingHolders(state), now };
    await handle(fileAggregate, stream, command, context(NAME));
  }

  const dueBy = (time: number, from: number, limit: number) =>
    rows.find<DueRow>('chat.files', {
      filter: { due: { $gte: from, $lte: time } },
      sort: { due: 1 },
      limit,
    });

  return async (stop: AbortSignal): Promise<void> => {
    await removeLeftovers(stop);
    // Skips the confirmed clock, which costs a write, when nothing is due.
    if ((await dueBy(clock.now() - UNATTACHED_MS, 0, 1)).length === 0) return;
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    // Pages overlap at equal times; reviewing a file twice is harmless.
    const failures = collectFailures();
    for (let from = 0; !stop.aborted; ) {
      const due = await dueBy(now - UNATTACHED_MS, from, BATCH_SIZE);
      for (const { file } of due) await failures.run(review(file, now));
      const last = due.at(-1)?.due ?? from;
      if (due.length < BATCH_SIZE || last === from) break;
      from = last;
    }
    failures.throwFirst();
  };
}
