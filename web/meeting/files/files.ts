/** Transfers files between two participants, in chunks relayed by the service. */
import type { FileMessage, ServerMessage } from '../protocol/messages.js';
import { plainName } from '../protocol/names.js';
import { fromBase64, toBase64 } from './base64.js';

/** 64 KiB as base64, the largest chunk the service accepts. */
const CHUNK_BYTES = 48 * 1024;
/** The service accepts 200 messages a second; this leaves room for other messages. */
const CHUNKS_PER_SECOND = 120;
/** Buffered bytes above which sending pauses, so that other messages are not delayed. */
const MAX_BUFFERED_BYTES = 128 * 1024;
/** Larger files may exceed the memory of a page. */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;

export interface Transfer {
  readonly id: string;
  /** Transfers of one file to several participants have the same batch. */
  readonly batch: string;
  /** The other participant. */
  readonly participantId: string;
  readonly isOurs: boolean;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly status: 'offered' | 'under way' | 'done' | 'declined' | 'failed';
  /** 0 to 1. */
  readonly progress: number;
  /** The received file, once complete. */
  readonly file?: Blob;
}

export interface FilesOptions {
  /** Returns false if there is no connection. */
  send(message: FileMessage): boolean;
  /** Returns the bytes not sent to the network yet. */
  bufferedBytes(): number;
  onChange(transfer: Transfer): void;
}

export interface Files {
  /** Offers a file to participants; the size is checked before. */
  offer(targetIds: readonly string[], file: File): void;
  /** Ends a transfer of ours. */
  cancel(id: string): void;
  answer(id: string, accepted: boolean): void;
  onMessage(message: ServerMessage & FileMessage): void;
  /** Fails the transfers with a participant who left. */
  onParticipantLeft(participantId: string): void;
}

interface ActiveTransfer {
  transfer: Transfer;
  /** File we send. */
  readonly source?: File;
  /** MIME type and chunks of a file we receive. */
  readonly type: string;
  readonly parts: Uint8Array<ArrayBuffer>[];
  bytes: number;
}

export function createFiles({ send, bufferedBytes, onChange }: FilesOptions): Files {
  const transfers = new Map<string, ActiveTransfer>();

  function update(id: string, next: Partial<Transfer>) {
    const each = transfers.get(id);
    if (!each) return;
    const isSmallStep = next.status === undefined && percent(next.progress) === percent(each.transfer.progress);
    each.transfer = { ...each.transfer, ...next };
    if (isSmallStep) return;
    if (['done', 'declined', 'failed'].includes(each.transfer.status)) transfers.delete(id);
    onChange(each.transfer);
  }

  function begin(transfer: Transfer, more: Pick<ActiveTransfer, 'source' | 'type'>) {
    transfers.set(transfer.id, { transfer, parts: [], bytes: 0, ...more });
    onChange(transfer);
  }

  async function sendFile(id: string, targetId: string, source: File) {
    const total = Math.max(1, Math.ceil(source.size / CHUNK_BYTES));
    for (let index = 0; index < total; index++) {
      const piece = source.slice(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
      const chunk = toBase64(new Uint8Array(await piece.arrayBuffer()));
      do await sleep(1000 / CHUNKS_PER_SECOND);
      while (bufferedBytes() > MAX_BUFFERED_BYTES);
      // The transfer has ended meanwhile.
      if (!transfers.has(id)) return;
      if (!send({ type: 'file-chunk', targetId, transferId: id, chunk, index, total }))
        return update(id, { status: 'failed' });
      update(id, { progress: (index + 1) / total });
    }
    update(id, { status: 'done' });
  }

  function addChunk(each: ActiveTransfer, { chunk, index, total }: Extract<FileMessage, { type: 'file-chunk' }>) {
    const { id, size } = each.transfer;
    const part = fromBase64(chunk);
    each.bytes += part?.length ?? 0;
    // A chunk is missing or invalid, or the file is larger than offered.
    if (!part || index !== each.parts.length || each.bytes > size) return update(id, { status: 'failed' });
    each.parts.push(part);
    if (index < total - 1) return update(id, { progress: each.parts.length / total });
    const file = new Blob(each.parts, { type: each.type });
    update(id, { progress: 1, ...(file.size === size ? { status: 'done', file } : { status: 'failed' }) });
  }

  return {
    offer(targetIds, source) {
      const { name, size, type } = source;
      const batch = newId();
      for (const participantId of targetIds) {
        const id = newId();
        const transfer = {
          id,
          batch,
          participantId,
          isOurs: true,
          name,
          size,
          status: 'offered',
          progress: 0,
        } as const;
        begin(transfer, { source, type });
        const details = { transferId: id, fileName: name, fileSize: size, fileType: type };
        if (size > MAX_FILE_BYTES || !send({ type: 'file-offer', targetId: participantId, ...details }))
          update(id, { status: 'failed' });
      }
    },
    cancel: (id) => update(id, { status: 'failed' }),
    answer(id, accepted) {
      const each = transfers.get(id);
      if (!each) return;
      const { participantId: targetId } = each.transfer;
      const isSent = send({ type: 'file-answer', targetId, transferId: id, accepted });
      update(id, { status: !isSent ? 'failed' : accepted ? 'under way' : 'declined' });
    },
    onMessage(message) {
      const { transferId: id, participantId } = message;
      const each = transfers.get(id);
      if (message.type === 'file-offer') {
        const { fileName, fileSize: size, fileType: type } = message;
        const name = plainName(fileName);
        const isAcceptable = !each && size <= MAX_FILE_BYTES;
        if (!isAcceptable) {
          send({ type: 'file-answer', targetId: participantId, transferId: id, accepted: false });
          return;
        }
        return begin(
          { id, batch: id, participantId, isOurs: false, name, size, status: 'offered', progress: 0 },
          { type },
        );
      }
      // Ignore messages about transfers with other participants.
      if (!each || each.transfer.participantId !== participantId) return;
      const { isOurs, status } = each.transfer;
      if (message.type === 'file-answer') {
        if (!isOurs || status !== 'offered') return;
        update(id, { status: message.accepted ? 'under way' : 'declined' });
        if (message.accepted)
          void sendFile(id, participantId, each.source!).catch(() => update(id, { status: 'failed' }));
      } else if (!isOurs && status === 'under way') addChunk(each, message);
    },
    onParticipantLeft(participantId) {
      for (const [id, { transfer }] of transfers)
        if (transfer.participantId === participantId) update(id, { status: 'failed' });
    },
  };
}

const percent = (progress = 0) => Math.floor(100 * progress);
const newId = () => crypto.getRandomValues(new Uint32Array(3)).join('-');
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
