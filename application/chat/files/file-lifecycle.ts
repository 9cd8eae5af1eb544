/** Deletes files that no message has, and leftovers of failed uploads. Every step is idempotent. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { CHANNELS, type ChannelsState } from '../../../domain/chat/channels.js';
import { isDirect } from '../../../domain/chat/events/channels.js';
import { fileSubject } from '../../../domain/chat/events/files.js';
import { parentOf } from '../../../domain/chat/events/messages.js';
import { type FileState, UNATTACHED_MS, uploadOf } from '../../../domain/chat/file.js';
import { messageStream } from '../../../domain/chat/message.js';
import type { KernelPorts } from '../../command/index.js';
import { type RowPages, readRowPages } from '../../consistency/index.js';
import {
  type CommandContext,
  type ConfirmedClock,
  type FileStore,
  type RecordedEvent,
  UnavailableError,
} from '../../ports/index.js';
import { causedBy, collectFailures, type Reaction } from '../../subscription/index.js';
import { channelsAggregate, fileAggregate, messageAggregate } from '../aggregates.js';

export interface FileLifecyclePorts
  extends Pick<
    KernelPorts,
    'handle' | 'aggregates' | 'log' | 'vault' | 'rows' | 'projectionProgress' | 'derivation' | 'context'
  > {
  readonly clock: ConfirmedClock;
  readonly fileStore: FileStore;
}

type Deleted = ChatEvent<'MessageDeleted' | 'ChannelDeleted'>;

interface FileRow {
  readonly file: string;
}

export const FILE_SWEEP_EVERY_MS = 10 * 60_000;
const BATCH_SIZE = 200;
const NAME = 'chat.files';
const MODEL = 'chat.files';

export function createFileLifecycle(ports: FileLifecyclePorts) {
  const { handle, aggregates, log, vault, rows, projectionProgress, derivation, clock, context, fileStore } = ports;

  const loadChannels = async () => (await aggregates.reload(channelsAggregate, CHANNELS)).state;
  const exists = ({ channels }: ChannelsState, channelId: string) => isDirect(channelId) || channels.has(channelId);

  /** Discards a file if nothing has it, as of `now` and the channels. */
  async function review(fileId: string, channels: ChannelsState, now: number, how: CommandContext) {
    const stream = fileSubject({ fileId });
    const { state } = await aggregates.reload(fileAggregate, stream);
    const missing = await findMissing(state, channels, now);
    await handle(fileAggregate, stream, { type: 'ReviewFile', fileId, missing, now }, how);
  }

  async function findMissing(state: FileState, channels: ChannelsState, now: number): Promise<readonly string[]> {
    const missing = [];
    for (const { messageId, channelId, attachedAt } of state.holders) {
      const isInUse = exists(channels, channelId) && (await isPosted(messageId, attachedAt, now));
      if (!isInUse) missing.push(messageId);
    }
    const { channelId } = uploadOf(state) ?? {};
    return channelId && !exists(channels, channelId) ? [...missing, channelId] : missing;
  }

  /** Whether a message or reply exists, or may still be posted. */
  async function isPosted(messageId: string, attachedAt: number, now: number): Promise<boolean> {
    const { state, deleted } = await aggregates.reload(messageAggregate, messageStream(messageId));
    if (deleted || state.status === 'deleted') return false;
    if (state.status === 'none') return now - attachedAt < UNATTACHED_MS;
    const parent = parentOf(messageId);
    return parent === undefined || isPosted(parent, attachedAt, now);
  }

  /** Reviews the files that the rows have for any of these. */
  async function reviewFiles(event: RecordedEvent<Deleted>, ...filters: readonly RowPages['filter'][]) {
    if (!(await projectionProgress.wait(MODEL, event.position)))
      throw new UnavailableError(`read model ${MODEL} is behind the event log`);
    let channels: ChannelsState | undefined;
    for (const filter of filters) {
      const pages = { filter, by: '_id', after: '', limit: BATCH_SIZE };
      for await (const page of readRowPages<FileRow>(rows, MODEL, pages)) {
        // Most messages have no files.
        channels ??= await loadChannels();
        for (const { file } of page) await review(file, channels, clock.now(), causedBy(derivation, NAME, event, file));
      }
    }
  }

  /** Destroys the key first, after which remaining copies are unreadable. */
  async function erase({ data, stream }: RecordedEvent<ChatEvent<'FileDiscarded'>>) {
    await vault.destroy(fileSubject(data));
    const { upload } = (await aggregates.load(fileAggregate, stream)).state;
    for (const content of [upload?.content, upload?.thumbnail]) if (content) await fileStore.remove(content.stored);
    await log.tombstone(stream);
  }

  /** Process manager: reviews the files of deleted messages and channels, and erases discarded files. */
  const reaction: Reaction<Deleted | ChatEvent<'FileDiscarded'>> = {
    name: NAME,
    on: {
      MessageDeleted(event) {
        const { messageId } = event.data;
        return reviewFiles(event, { message: messageId }, { thread: messageId });
      },
      ChannelDeleted: (event) => reviewFiles(event, { channel: event.data.channelId }),
      FileDiscarded: erase,
    },
  };

  /** Periodic work: files that were never attached, or to a message never posted; and failed uploads. */
  async function sweep(stop: AbortSignal): Promise<void> {
    await removeLeftovers(stop);
    const dueRows = (now: number, limit: number) =>
      readRowPages<FileRow>(rows, MODEL, { filter: {}, by: 'due', after: 0, upTo: now - UNATTACHED_MS, limit });
    // Skips the confirmed clock, which costs a write, when nothing is due.
    if ((await dueRows(clock.now(), 1).next()).done) return;
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    const channels = await loadChannels();
    const failures = collectFailures();
    for await (const page of dueRows(now, BATCH_SIZE))
      for (const { file } of page) {
        if (stop.aborted) return;
        await failures.run(review(file, channels, now, context(NAME)));
      }
    failures.throwFirst();
  }

  async function removeLeftovers(stop: AbortSignal) {
    for await (const { stored, of } of fileStore.unsettled()) {
      if (stop.aborted) return;
      if (of === undefined || !(await isReferenced(stored, of))) await fileStore.remove(stored);
      await fileStore.settle(stored);
    }
  }

  async function isReferenced(stored: string, fileId: string): Promise<boolean> {
    const upload = uploadOf((await aggregates.reload(fileAggregate, fileSubject({ fileId }))).state);
    return upload?.content.stored === stored || upload?.thumbnail?.stored === stored;
  }

  return { reaction, sweep };
}
