/** Files from one of the people to another, in pieces by way of the service. */
import { fromBase64, toBase64 } from './base64.js';
import type { FileMessage, ServerMessage } from './messages.js';
import { plainName } from './names.js';

/** 64 KiB of base64: as much as a piece may have. */
const CHUNK_BYTES = 48 * 1024;
/** A socket may say 200 messages a second, and there is more to say than files. */
const CHUNKS_PER_SECOND = 120;
/** What waits in the socket keeps what is said after it waiting. */
const UNSENT_BYTES = 128 * 1024;
/** Larger ones would not fit into the page's memory everywhere. */
const LARGEST_BYTES = 512 * 1024 * 1024;

export interface Transfer {
  readonly id: string;
  /** The other's. */
  readonly participantId: string;
  readonly isOurs: boolean;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly status: 'offered' | 'under way' | 'done' | 'declined' | 'failed';
  /** 0 to 1. */
  readonly progress: number;
  /** What arrived, when all of it has. */
  readonly file?: Blob;
}

export interface FilesOptions {
  /** Returns false when there is no connection. */
  say(message: FileMessage): boolean;
  /** Bytes that are said and not sent yet. */
  unsent(): number;
  changed(transfer: Transfer): void;
}

export interface Files {
  offer(targetId: string, file: File): void;
  answer(id: string, accepted: boolean): void;
  heard(message: ServerMessage & FileMessage): void;
  /** Somebody has left: what was under way with them has failed. */
  left(participantId: string): void;
}

interface Going {
  transfer: Transfer;
  /** Of ours. */
  readonly source?: File;
  /** Of theirs: its type, and what came so far. */
  readonly type: string;
  readonly parts: Uint8Array<ArrayBuffer>[];
  bytes: number;
}

export function createFiles({ say, unsent, changed }: FilesOptions): Files {
  const going = new Map<string, Going>();

  function become(id: string, next: Partial<Transfer>) {
    const each = going.get(id);
    if (!each) return;
    each.transfer = { ...each.transfer, ...next };
    if (['done', 'declined', 'failed'].includes(each.transfer.status)) going.delete(id);
    changed(each.transfer);
  }

  function begin(transfer: Transfer, more: Pick<Going, 'source' | 'type'>) {
    going.set(transfer.id, { transfer, parts: [], bytes: 0, ...more });
    changed(transfer);
  }

  async function send(id: string, targetId: string, source: File) {
    const total = Math.max(1, Math.ceil(source.size / CHUNK_BYTES));
    for (let index = 0; index < total; index++) {
      const piece = source.slice(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
      const chunk = toBase64(new Uint8Array(await piece.arrayBuffer()));
      do await pause(1000 / CHUNKS_PER_SECOND);
      while (unsent() > UNSENT_BYTES);
      // Who has left meanwhile wants no more of it.
      if (!going.has(id)) return;
      if (!say({ type: 'file-chunk', targetId, transferId: id, chunk, index, total }))
        return become(id, { status: 'failed' });
      become(id, { progress: (index + 1) / total });
    }
    become(id, { status: 'done' });
  }

  function take(each: Going, { chunk, index, total }: Extract<FileMessage, { type: 'file-chunk' }>) {
    const { id, size } = each.transfer;
    const part = fromBase64(chunk);
    each.bytes += part?.length ?? 0;
    // One is missing or can't be read, or it is more than we have agreed to.
    if (!part || index !== each.parts.length || each.bytes > size) return become(id, { status: 'failed' });
    each.parts.push(part);
    if (index < total - 1) return become(id, { progress: each.parts.length / total });
    const file = new Blob(each.parts, { type: each.type });
    become(id, { progress: 1, ...(file.size === size ? { status: 'done', file } : { status: 'failed' }) });
  }

  return {
    offer(participantId, source) {
      const id = crypto.getRandomValues(new Uint32Array(3)).join('-');
      const { name, size, type } = source;
      begin({ id, participantId, isOurs: true, name, size, status: 'offered', progress: 0 }, { source, type });
      if (size > LARGEST_BYTES) return become(id, { status: 'failed' });
      const about = { transferId: id, fileName: name, fileSize: size, fileType: type };
      if (!say({ type: 'file-offer', targetId: participantId, ...about })) become(id, { status: 'failed' });
    },
    answer(id, accepted) {
      const each = going.get(id);
      if (!each) return;
      const { participantId: targetId } = each.transfer;
      const isSaid = say({ type: 'file-answer', targetId, transferId: id, accepted });
      become(id, { status: !isSaid ? 'failed' : accepted ? 'under way' : 'declined' });
    },
    heard(message) {
      const { transferId: id, participantId } = message;
      const each = going.get(id);
      if (message.type === 'file-offer') {
        const { fileName, fileSize: size, fileType: type } = message;
        const name = plainName(fileName);
        const isFine = !each && size <= LARGEST_BYTES;
        if (!isFine) {
          say({ type: 'file-answer', targetId: participantId, transferId: id, accepted: false });
          return;
        }
        return begin({ id, participantId, isOurs: false, name, size, status: 'offered', progress: 0 }, { type });
      }
      // Of a transfer that is none of theirs they have nothing to say.
      if (!each || each.transfer.participantId !== participantId) return;
      const { isOurs, status } = each.transfer;
      if (message.type === 'file-answer') {
        if (!isOurs || status !== 'offered') return;
        become(id, { status: message.accepted ? 'under way' : 'declined' });
        if (message.accepted) void send(id, participantId, each.source!).catch(() => become(id, { status: 'failed' }));
      } else if (!isOurs && status === 'under way') take(each, message);
    },
    left(participantId) {
      for (const [id, { transfer }] of going)
        if (transfer.participantId === participantId) become(id, { status: 'failed' });
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
