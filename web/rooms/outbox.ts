/** Unsent messages of a room: kept encrypted on this device, sent in order, each until it is acknowledged. */
import { signal } from '@preact/signals';
import { ApiError, isTemporary } from '../shared/api/http.js';
import { endingOf } from './api.js';
import type { Content } from './content.js';
import { decodeContent, encodeContent } from './content.js';
import { decrypt, type Envelope, encrypt, randomBytes, toBase64url, utf8 } from './crypto/protocol.js';
import { exclusively, type OutboxRecord, outbox, outboxOf } from './store.js';

export interface PendingMessage {
  readonly id: string;
  readonly at: number;
  readonly content: Content;
  readonly state: 'queued' | 'sending' | 'sent' | 'failed';
  /** Of the service, when it was sent. */
  readonly messageId?: string;
  readonly error?: unknown;
}

export interface OutboxOptions {
  readonly roomId: string;
  readonly localKey: CryptoKey;
  /**
   * Encrypts with the current room key; undefined if there is none to send with. Returns `earlier`, which another attempt
   * has sent, if it still counts; `arrived` if the room has it.
   */
  readonly seal: (content: Content, earlier?: Envelope) => Promise<Envelope | 'arrived' | undefined>;
  readonly post: (envelope: Envelope, idempotencyKey: string) => Promise<{ message: { id: string } }>;
  /** The room has ended, or this participant is no longer in it. */
  readonly onRefused: (ending: 'unauthorized' | 'gone') => void;
}

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 30_000];
const ID_BYTES = 16;
const newId = () => toBase64url(randomBytes(ID_BYTES));

type Place = Pick<Envelope, 'chainId' | 'messageIndex'>;

/** A message's place in its sender's chain. */
export const placeOf = ({ chainId, messageIndex }: Place): string => `${chainId} ${messageIndex}`;

/**
 * Decides about an envelope that an earlier attempt sent: participants without a later room key could read it under
 * its own. `arrived` are the places of one's own messages in the room.
 */
export function fateOf(
  earlier: Envelope,
  keyVersion: number,
  arrived: ReadonlySet<string>,
): 'arrived' | 'send' | 'seal' {
  if (arrived.has(placeOf(earlier))) return 'arrived';
  return earlier.keyVersion < keyVersion ? 'seal' : 'send';
}

export type Outbox = ReturnType<typeof createOutbox>;

export function createOutbox({ roomId, localKey, seal, post, onRefused }: OutboxOptions) {
  const pending = signal<readonly PendingMessage[]>([]);
  /** Why sending pauses: too many messages, or no connection. */
  const pause = signal<'limit' | 'connection' | undefined>(undefined);
  let isClosed = false;
  let isFlushing = false;
  let isFlushWanted = false;
  let order = Date.now();
  let wake = () => {};
  /** Messages that the browser did not store: they are sent, but do not survive a reload. */
  const unsaved = new Map<string, OutboxRecord>();
  const save = async (record: OutboxRecord) => {
    const isUnsaved = await outbox.put(record).then(
      () => false,
      () => true,
    );
    if (isUnsaved) unsaved.set(record.id, record);
    else unsaved.delete(record.id);
  };
  /** Messages that are being stored: until then another tab could not know them. */
  const storing = new Set<string>();
  /** Messages that the conversation shows; the answer to a request may come after its event. */
  const displayed = new Set<string>();

  const context = utf8(`annals-rooms local outbox ${roomId}`);
  const update = (id: string, change: Partial<PendingMessage>) => {
    pending.value = pending.value.map((each) => (each.id === id ? { ...each, ...change } : each));
  };
  const drop = (id: string) => {
    pending.value = pending.value.filter((each) => each.id !== id);
  };

  const remove = async (id: string) => {
    unsaved.delete(id);
    await outbox.remove(id);
    drop(id);
  };

  async function add(contents: readonly Content[]): Promise<void> {
    for (const content of contents) {
      const id = newId();
      storing.add(id);
      pending.value = [...pending.value, { id, at: Date.now(), content, state: 'queued' }];
      order = Math.max(order + 1, Date.now());
      const record = { id, roomId, order, content: await encrypt(localKey, encodeContent(content), context) };
      if (isClosed) return;
      await save(record);
      storing.delete(id);
      void flush();
    }
  }

  /** Messages that an earlier page or another tab did not get acknowledged. */
  async function restore(): Promise<void> {
    const known = new Set(pending.value.map(({ id }) => id));
    for (const record of await outboxOf(roomId)) {
      if (known.has(record.id)) continue;
      const content = await decrypt(localKey, record.content, context).then(decodeContent, () => undefined);
      if (!content) await outbox.remove(record.id);
      else pending.value = [...pending.value, { id: record.id, at: record.order, content, state: 'queued' }];
    }
  }

  async function flush(): Promise<void> {
    isFlushWanted = true;
    if (isFlushing) return;
    isFlushing = true;
    while (isFlushWanted) {
      isFlushWanted = false;
      await sendQueued();
    }
    isFlushing = false;
  }

  async function sendQueued(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const next = pending.value.find(({ state }) => state === 'queued');
      if (!next || isClosed || storing.has(next.id)) return;
      const outcome = await exclusively(`outbox-${roomId}`, () => attempt(next)).catch((error: unknown) => ({ error }));
      if (outcome === 'not-now') return;
      if (outcome === 'done') {
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      await rest(outcome.error, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  async function rest(error: unknown, pauseMs: number): Promise<void> {
    const { status, retryAfterSeconds: seconds } = error instanceof ApiError ? error : {};
    pause.value = status === 429 ? 'limit' : 'connection';
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, seconds === undefined ? pauseMs : 1000 * seconds);
    });
    pause.value = undefined;
  }

  /** With a rotation, messages wait for the new key: excluded participants have the old one. */
  const isHeld = ({ kind }: Content) =>
    pending.value.some(
      ({ content, state }) =>
        content.kind === 'rotation' && (state === 'sent' || (state === 'failed' && kind !== 'rotation')),
    );

  async function attempt({ id, content }: PendingMessage): Promise<'done' | 'not-now' | { readonly error: unknown }> {
    const record = unsaved.get(id) ?? (await outbox.get(id));
    if (!record) {
      // Another tab sent it.
      drop(id);
      return 'done';
    }
    if (isHeld(content)) return 'not-now';
    const earlier = record.envelope;
    const envelope = await seal(content, earlier);
    if (!envelope || isClosed) return 'not-now';
    if (envelope === 'arrived') {
      await remove(id);
      return 'done';
    }
    let { idempotencyKey = id } = record;
    if (envelope !== earlier) {
      if (earlier) idempotencyKey = newId();
      await save({ ...record, envelope, idempotencyKey });
    }
    update(id, { state: 'sending' });
    try {
      const { message } = await post(envelope, idempotencyKey);
      unsaved.delete(id);
      await outbox.remove(id);
      if (displayed.has(message.id)) drop(id);
      else update(id, { state: 'sent', messageId: message.id });
    } catch (error) {
      return failed(id, error);
    }
    return 'done';
  }

  async function failed(id: string, error: unknown) {
    // Also a request that got no answer in time.
    if (isTemporary(error) || !(error instanceof ApiError)) {
      update(id, { state: 'queued' });
      return { error };
    }
    const { status } = error;
    const ending = endingOf(error);
    // 409, 422: an earlier attempt arrived.
    if (status === 409 || status === 422) await remove(id);
    else if (ending) {
      update(id, { state: 'queued' });
      onRefused(ending);
      return 'not-now' as const;
    } else if (status === 404 || status === 401) {
      // Of a proxy, while the service restarts.
      update(id, { state: 'queued' });
      return { error };
    } else update(id, { state: 'failed', error });
    return 'done' as const;
  }

  return {
    pending,
    pause,
    add,
    restore,
    flush,
    /** Tries now instead of after the pause. */
    hurry: () => wake(),
    /** The conversation shows these now. */
    arrived(messageIds: readonly string[]) {
      for (const id of messageIds) displayed.add(id);
      const isDisplayed = ({ messageId }: PendingMessage) => messageId !== undefined && displayed.has(messageId);
      if (pending.value.some(isDisplayed)) pending.value = pending.value.filter((each) => !isDisplayed(each));
    },
    retry(id: string) {
      update(id, { state: 'queued', error: undefined });
      void flush();
    },
    async discard(ids: readonly string[]) {
      for (const id of ids) {
        drop(id);
        await remove(id);
      }
      void flush();
    },
    close() {
      isClosed = true;
      pending.value = [];
      wake();
    },
  };
}
