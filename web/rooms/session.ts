/** A room that is open in this tab: conversation, people, connection and unsent messages as signals; and what one can do. */
import { computed, signal } from '@preact/signals';
import { createRoomApi } from './api.js';
import { type ConnectionState, connect, type Ending } from './connection.js';
import { type Content, encodeContent } from './content.js';
import { MAX_MESSAGES, type Participant, type RoomState, type StoredMessage } from './contract.js';
import {
  addMessages,
  type Conversation,
  emptyConversation,
  holdsKey,
  isPresent,
  type OpenedMessage,
} from './conversation.js';
import {
  agreementKeyOf,
  type Envelope,
  KEY_BYTES,
  packKey,
  publicKeyOf,
  randomBytes,
  toBase64url,
  wipe,
} from './crypto/protocol.js';
import { digestOf, keyDigestOf } from './enter.js';
import { type Invite, inviteFragment } from './invite-link.js';
import { openKeyring } from './keyring.js';
import { createMessageOpener } from './messages.js';
import { createOutbox, fateOf, placeOf } from './outbox.js';
import { createRoster } from './roster.js';
import { forgetRoom, type RoomRecord } from './store.js';
import { createTraffic } from './traffic.js';

export type EndReason = Ending | 'forgotten';

/** Messages opened at the same time. */
const BATCH = 40;
const INVITE_BYTES = 24;

export type RoomSession = Awaited<ReturnType<typeof openRoom>>;

/** Opens a room that this device is in. */
export async function openRoom(record: RoomRecord) {
  const { roomId, participantId: ownId, signing, agreement, localKey } = record;
  const keyring = await openKeyring(record);
  const { secrets, roomKeys, change } = keyring;

  const conversation = signal<Conversation>(initialConversation());
  const ownKeyDigest = await keyDigestOf(await publicKeyOf(signing));
  const roster = createRoster(roomId, ownId, ownKeyDigest, keyring);
  const { participants } = roster;
  const expiresAt = signal(record.expiresAt);
  const isLoaded = signal(false);
  const ended = signal<EndReason | undefined>(undefined);
  /** Milliseconds that the service's clock is ahead. */
  const clockOffset = signal(0);
  const isKeyUnreadable = signal(false);
  /** The room key was changed without this participant, who has not got the new one by a link either. */
  const isExcluded = computed(() => {
    const isHolder = holdsKey(conversation.value, ownId) || keyring.has(conversation.value.keyVersion);
    return !isHolder || isKeyUnreadable.value;
  });
  const traffic = createTraffic();
  const opener = createMessageOpener(roomId, roomKeys);
  const api = createRoomApi(roomId, secrets.value.token);
  const ownAgreementKey = await agreementKeyOf(agreement);
  let helloVersion = 0;
  /** In their chains, of one's own messages. */
  const ownPlaces = new Set<string>();
  let receiving: Promise<unknown> = Promise.resolve();

  function initialConversation(): Conversation {
    return emptyConversation(Math.min(...roomKeys.keys()), secrets.value.title);
  }

  async function sealContent(content: Content, earlier?: Envelope) {
    const { keyVersion } = conversation.value;
    const fate = earlier ? fateOf(earlier, keyVersion, ownPlaces) : 'seal';
    if (fate === 'arrived') return fate;
    if (!isLoaded.value || isExcluded.value) return undefined;
    return fate === 'send' ? earlier : keyring.seal(keyVersion, encodeContent(content));
  }

  const outbox = createOutbox({
    roomId,
    localKey,
    seal: async (content, earlier) => {
      if (isLoaded.value) await connection.catchUp({ always: earlier !== undefined });
      return sealContent(content, earlier);
    },
    post: api.post,
    onRefused: (ending) => void end(ending === 'gone' ? endingByTime() : ending),
  });

  const endingByTime = (): Ending => (Date.now() + clockOffset.value >= expiresAt.value - 1000 ? 'expired' : 'burned');

  const connection = connect({
    roomId,
    token: secrets.value.token,
    api,
    onState: (state, serverTime) => {
      if (serverTime !== undefined) clockOffset.value = serverTime - Date.now();
      void queue(() => receiveState(state));
    },
    onMissed: (state) => queue(() => receive(state.messages, state.messages.length >= MAX_MESSAGES)),
    onMessage: (message) => void queue(() => receive([message])),
    onJoined: (participant) => {
      void queue(async () => {
        opener.meet([participant]);
        await roster.add(participant);
      });
    },
    onConnected: () => outbox.hurry(),
    onEnd: (ending) => void end(ending === 'gone' ? endingByTime() : ending),
  });

  /** What arrives is processed in order. */
  function queue(run: () => Promise<void>): Promise<unknown> {
    receiving = receiving.then(() => (ended.value ? undefined : run())).catch(reportError);
    return receiving;
  }

  async function meet(people: readonly Participant[]) {
    opener.meet(people);
    await roster.update(people);
  }

  async function receiveState(state: RoomState) {
    await meet(state.participants);
    expiresAt.value = Date.parse(state.expiresAt);
    await receive(state.messages, state.messages.length >= MAX_MESSAGES);
    if (!isLoaded.value) {
      isLoaded.value = true;
      await outbox.restore();
    }
    await introduce();
    void outbox.flush();
  }

  async function receive(messages: readonly StoredMessage[], mayLackEarlier = false) {
    traffic.add(messages);
    if (messages.some(({ senderId }) => !opener.knows(senderId)))
      await api.state().then(
        ({ state }) => meet(state.participants),
        () => {},
      );
    for (let from = 0; from < messages.length; from += BATCH) {
      const batch = messages.slice(from, from + BATCH);
      const results = await Promise.all(batch.map(opener.open));
      for (const [at, message] of batch.entries()) await add(message, results[at]!, mayLackEarlier);
      if (ended.value) return;
      flushAdded();
    }
    if (!isLoaded.value) return;
    await introduce();
    void outbox.flush();
  }

  let added: OpenedMessage[] = [];

  async function add(message: StoredMessage, first: OpenedMessage['result'], mayLackEarlier: boolean) {
    const isRetry = first.kind === 'fault' && first.fault === 'key-missing' && roomKeys.has(message.keyVersion);
    const placed = opener.place(message, isRetry ? await opener.open(message) : first, mayLackEarlier);
    if (!placed) return;
    added.push(placed);
    const { result, senderId } = placed;
    if (senderId === ownId && result.kind !== 'fault') ownPlaces.add(placeOf(placed));
    if (result.kind === 'hello' && senderId === ownId) helloVersion = Math.max(helloVersion, placed.keyVersion);
    if (result.kind === 'rotation') await takeKey(placed.id, result);
  }

  function flushAdded() {
    const messages = added;
    added = [];
    if (messages.length === 0) return;
    conversation.value = addMessages(conversation.value, messages);
    const { title } = conversation.value;
    if (title !== secrets.value.title) void change((stored) => ({ ...stored, title }));
    outbox.arrived(messages.map(({ id }) => id));
  }

  /** Takes over the new room key of a rotation that counts. */
  async function takeKey(messageId: string, { keys }: Extract<Content, { kind: 'rotation' }>) {
    flushAdded();
    const last = conversation.value.entries.at(-1);
    if (last?.kind !== 'rotated' || last.id !== messageId || !conversation.value.holders?.has(ownId)) return;
    isKeyUnreadable.value = !(await keyring.take(keys));
    void outbox.flush();
  }

  /** Shows the others, once for each room key, who this is. */
  async function introduce() {
    const { keyVersion, title } = conversation.value;
    if (isExcluded.value || helloVersion >= keyVersion) return;
    const isFirst =
      helloVersion === 0 && participants.value[0]?.id === ownId && conversation.value.entries.length === 0;
    helloVersion = keyVersion;
    await outbox.add([hello(secrets.value.name), ...(isFirst && title ? [{ kind: 'title', title } as const] : [])]);
  }

  const hello = (name: string): Content => {
    const { invite } = secrets.value;
    return { kind: 'hello', name, agreementKey: ownAgreementKey, ...(invite && { invite }) };
  };

  async function end(reason: EndReason) {
    if (ended.value) return;
    ended.value = reason;
    connection.close();
    outbox.close();
    keyring.wipe();
    conversation.value = emptyConversation(1);
    participants.value = [];
    traffic.clear();
    await forgetRoom(roomId);
  }

  /** The link contains the newest room key, and lets one person in. */
  async function invite(label: string): Promise<string> {
    const token = toBase64url(randomBytes(INVITE_BYTES));
    const { keyVersion, title } = conversation.value;
    const roomKey = secrets.value.roomKeys[keyVersion];
    if (!roomKey) throw new Error('This device does not have the room key');
    await api.invite(token);
    const digest = await digestOf(token);
    await change((stored) => ({
      ...stored,
      issued: [...stored.issued, { digest, label, at: Date.now(), keyVersion }],
    }));
    const link: Invite = {
      roomId,
      token,
      roomKey,
      keyVersion,
      by: { id: ownId, name: secrets.value.name, keyDigest: ownKeyDigest },
      ...(title && { title }),
    };
    return new URL(inviteFragment(link), location.href).href;
  }

  /** Sends a new room key to all participants that have introduced themselves, without the excluded ones. */
  async function rotate(excluded: ReadonlySet<string> = new Set()): Promise<void> {
    const { members, keyVersion } = conversation.value;
    const keyed = [...members.values()].filter(
      ({ id }) => !excluded.has(id) && (id === ownId || isPresent(conversation.value, id)),
    );
    const raw = randomBytes(KEY_BYTES);
    const keys = await packKey(roomId, keyVersion + 1, raw, new Map(keyed.map((each) => [each.id, each.agreementKey])));
    wipe(raw);
    await outbox.add([{ kind: 'rotation', keys }]);
  }

  return {
    roomId,
    ownId,
    localKey,
    secrets,
    conversation,
    roster,
    expiresAt,
    clockOffset,
    isLoaded,
    ended,
    isExcluded,
    traffic,
    outbox,
    connection: connection.state as { readonly value: ConnectionState },
    invite,
    rotate,
    send: (contents: readonly Content[]) => outbox.add(contents),
    async rename(name: string) {
      await change((stored) => ({ ...stored, name }));
      await outbox.add([hello(name)]);
    },
    async burn() {
      await api.burn();
      await end('burned');
    },
    expire: () => void end('expired'),
    /** Tells the others, if the service is reachable, and removes the room from this device. */
    async forget() {
      const farewell = await sealContent({ kind: 'left' }).catch(() => undefined);
      if (typeof farewell === 'object') await api.post(farewell, toBase64url(randomBytes(16))).catch(() => undefined);
      await end('forgotten');
    },
    /** Stops without removing anything. */
    close() {
      connection.close();
      outbox.close();
    },
    /** Another tab may have removed the room, or taken a new key. */
    async refresh() {
      if (!(await keyring.refresh())) await end('forgotten');
    },
  };
}
