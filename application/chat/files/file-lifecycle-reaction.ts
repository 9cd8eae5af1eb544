/** Process manager that updates file references when messages are edited or deleted, and erases discarded files. */

import { type ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import { fileSubject } from '../../../domain/chat/events/files.js';
import { parentOf } from '../../../domain/chat/events/messages.js';
import type { FileCommand, ReleaseScope } from '../../../domain/chat/file.js';
import { type KernelPorts, readForward } from '../../command/index.js';
import {
  type EventLog,
  type FileStore,
  type Position,
  type RecordedEvent,
  UnavailableError,
  type Vault,
} from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { fileAggregate } from '../aggregates.js';
import { filesOf } from './attachments.js';

export interface FileReactionPorts
  extends Pick<
    KernelPorts,
    'handle' | 'aggregates' | 'decryptEvent' | 'rows' | 'projectionProgress' | 'derivation' | 'clock'
  > {
  readonly log: Pick<EventLog, 'tombstone' | 'read'>;
  readonly vault: Pick<Vault, 'destroy'>;
  readonly fileStore: FileStore;
}

type Deleted = ChatEvent<'MessageDeleted' | 'ChannelDeleted'>;
type Edited = ChatEvent<'MessageEdited'>;
type Discarded = ChatEvent<'FileDiscarded'>;

interface HolderRow {
  readonly _id: string;
  readonly file: string;
}

const BATCH_SIZE = 200;
const NAME = 'chat.files';

/** Every step is idempotent, so a run after a crash completes it. */
export function maintainFileReferences(ports: FileReactionPorts): Reaction<Deleted | Edited | Discarded> {
  const { handle, aggregates, log, vault, decryptEvent, rows, projectionProgress, derivation, clock, fileStore } =
    ports;

  async function* filesBy(filter: { readonly [field: string]: string }, after: Position) {
    if (!(await projectionProgress.wait('chat.files', after)))
      throw new UnavailableError('read model chat.files is behind the event log');
    for (let last = ''; ; ) {
      const found = await rows.find<HolderRow>('chat.files', {
        filter: { ...filter, _id: { $gt: last } },
        sort: { _id: 1 },
        limit: BATCH_SIZE,
      });
      for (const { file } of found) yield file;
      last = found.at(-1)?._id ?? last;
      if (found.length < BATCH_SIZE) return;
    }
  }

  async function run(command: FileCommand, event: RecordedEvent) {
    const context = causedBy(derivation, NAME, event, command.type, command.fileId);
    return handle(fileAggregate, fileSubject(command), command, context);
  }

  async function release(scope: ReleaseScope, filter: { readonly [field: string]: string }, event: RecordedEvent) {
    for await (const fileId of filesBy(filter, event.position))
      await run({ type: 'ReleaseFile', fileId, scope, now: clock.now() }, event);
  }

  async function isSuperseded({ stream, revision, type }: RecordedEvent<Edited>): Promise<boolean> {
    for await (const page of readForward(log, stream, revision + 1))
      if (page.some((later) => later.type === type)) return true;
    return false;
  }

  /**
   * Attaches and detaches files according to the newest edit; it also settles concurrent edits. An older edit is
   * skipped, as it could undo what a later one restored.
   */
  async function syncAttachments(event: RecordedEvent<Edited>) {
    const { data, erased } = await decryptEvent(catalog, event);
    if (erased) return;
    const { messageId, channelId, by, secret } = data;
    const attached = new Set(filesOf(secret));
    const before = new Set<string>();
    for await (const fileId of filesBy({ message: messageId }, event.position)) before.add(fileId);
    if (await isSuperseded(event)) return;
    const now = clock.now();
    // Includes files attached before: the reaction to an earlier edit may just have detached them.
    for (const fileId of attached) await run({ type: 'AttachFile', fileId, by, messageId, channelId, now }, event);
    for (const fileId of before)
      if (!attached.has(fileId)) await run({ type: 'DetachFile', fileId, messageId, now }, event);
  }

  /** Destroys the key first, after which remaining copies are unreadable. */
  async function erase({ data, stream }: RecordedEvent<Discarded>) {
    await vault.destroy(fileSubject(data));
    const { state } = await aggregates.load(fileAggregate, stream);
    for (const content of [state.content, state.thumbnail]) if (content) await fileStore.remove(content.stored);
    await log.tombstone(stream);
  }

  return {
    name: NAME,
    on: {
      async MessageDeleted(event) {
        const { messageId } = event.data;
        await release({ messageId }, { message: messageId }, event);
        if (parentOf(messageId) === undefined) await release({ messageId }, { thread: messageId }, event);
      },
      ChannelDeleted: (event) => release({ channelId: event.data.channelId }, { channel: event.data.channelId }, event),
      MessageEdited: syncAttachments,
      FileDiscarded: erase,
    },
  };
}
