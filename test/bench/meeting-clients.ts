/** Simulated meeting participants: many sockets that join, send to their rooms, and measure latencies. */
import { once } from 'node:events';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface Attendee {
  readonly socket: WebSocket;
  readonly roomId: string;
  /** As assigned by the service. */
  id: string;
}

export interface Joined {
  readonly people: readonly Attendee[];
  /** Error codes of rejected joins. */
  readonly refused: readonly string[];
  readonly perSecond: number;
  /** Microseconds from the request to the admission. */
  readonly took: RecordableHistogram;
}

const letter = (n: number) => 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'[n % 31];
export const roomIdOf = (prefix: string, n: number): string =>
  `${prefix}${letter(Math.floor(n / 961))}${letter(Math.floor(n / 31))}${letter(n)}`;

let addresses = 0;

/** Opens sockets, each with its own client address in a trusted proxy's header, so that limits per address do not apply. */
export async function connect(url: string, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  const open = async () => {
    while (addresses < last) {
      const n = addresses++;
      const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
      const socket = new WebSocket(`${url}/ws`, {
        headers: { 'x-forwarded-for': address },
        perMessageDeflate: false,
      });
      await once(socket, 'open');
      sockets.push(socket);
    }
  };
  const last = addresses + count;
  await Promise.all(Array.from({ length: 50 }, open));
  return sockets;
}

/** Each socket joins the room given by `roomOf`, at `perSecond` joins a second or as fast as possible. */
export async function join(
  sockets: readonly WebSocket[],
  roomOf: (n: number) => string,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<Joined> {
  const took = createHistogram();
  const people: Attendee[] = [];
  const refused: string[] = [];
  const started = performance.now();
  const answers = sockets.map(async (socket, n) => {
    const dueMs = (1000 * n) / perSecond;
    if (dueMs > 0) await delay(started + dueMs - performance.now());
    const roomId = roomOf(n);
    const requestedAt = performance.now();
    const answer = once(socket, 'message');
    socket.send(
      JSON.stringify({
        type: 'join',
        roomId,
        participantId: '',
        timestamp: 0,
        name: `Person ${n}`,
        isHost: true,
      }),
    );
    const closed = once(socket, 'close').then(([code]) => [JSON.stringify({ code: `closed ${code}` })]);
    const [data] = await Promise.race([answer, closed]);
    const { type, participantId, code } = JSON.parse(String(data));
    if (type !== 'participant-joined') return void refused.push(code ?? type);
    took.record(microseconds(requestedAt));
    people.push({ socket, roomId, id: participantId });
  });
  await Promise.all(answers);
  return { people, refused, took, perSecond: people.length / ((performance.now() - started) / 1000) };
}

export interface Talk {
  readonly sent: number;
  readonly delivered: number;
  readonly missing: number;
  /** Sockets closed by the service. */
  readonly cut: number;
  /** Microseconds from sending to delivery. */
  readonly chat: RecordableHistogram;
  readonly candidates: RecordableHistogram;
}

/** Half of the messages are chat for the whole room, half are candidates for one participant. */
export async function talk(
  people: readonly Attendee[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Talk> {
  const rooms = byRoom(people);
  const [chat, candidates] = [createHistogram(), createHistogram()];
  let delivered = 0;
  let expected = 0;
  const onMessage = (data: Buffer) => {
    const sent = sentAt(data);
    if (sent === undefined) return;
    delivered++;
    (data.includes('"chat"') ? chat : candidates).record(microseconds(sent));
  };
  for (const { socket } of people) socket.on('message', onMessage);

  const total = Math.round(people.length * perSecond * seconds);
  const started = performance.now();
  for (let sent = 0; sent < total; sent++) {
    const due = started + (1000 * sent) / (people.length * perSecond);
    if (performance.now() < due) await delay(Math.max(1, due - performance.now()));
    const round = Math.floor(sent / people.length);
    const from = people[sent % people.length]!;
    const room = rooms.get(from.roomId)!;
    // Alternates the two kinds, so that both are sent throughout.
    const isChat = (sent + round) % 2 === 0;
    expected += isChat ? room.length : 1;
    const to = room[(room.indexOf(from) + 1) % room.length]!;
    from.socket.send(isChat ? chatOf(from) : candidateOf(from, to));
  }
  await settled(() => delivered, expected);
  for (const { socket } of people) socket.off('message', onMessage);
  const cut = people.filter(({ socket }) => socket.readyState !== WebSocket.OPEN).length;
  return { sent: total, delivered, missing: expected - delivered, cut, chat, candidates };
}

export function byRoom(people: readonly Attendee[]): ReadonlyMap<string, readonly Attendee[]> {
  const rooms = new Map<string, Attendee[]>();
  for (const each of people) {
    const room = rooms.get(each.roomId);
    if (room) room.push(each);
    else rooms.set(each.roomId, [each]);
  }
  return rooms;
}

const FILLER = 'what people say to each other in a meeting, in a sentence of usual length';

const base = ({ roomId, id }: Attendee) => ({ roomId, participantId: id, timestamp: Date.now() });
const now = () => `at=${performance.now().toFixed(3)};`;
const chatOf = (from: Attendee) => JSON.stringify({ type: 'chat', ...base(from), text: `${now()} ${FILLER}` });
const candidateOf = (from: Attendee, { id: targetId }: Attendee) =>
  JSON.stringify({
    type: 'ice-candidate',
    ...base(from),
    targetId,
    candidate: {
      candidate: `candidate:1 1 udp 2113937151 192.0.2.1 54400 typ host generation 0 ${now()}`,
      sdpMid: '0',
      sdpMLineIndex: 0,
    },
  });

/** When the message was sent, if this process sent it. */
function sentAt(data: Buffer): number | undefined {
  const from = data.indexOf('at=');
  return from < 0 ? undefined : Number(data.toString('latin1', from + 3, data.indexOf(';', from)));
}

/** Waits until all have arrived, or nothing has for 5 s. */
export async function settled(arrived: () => number, expected: number): Promise<void> {
  let [before, quiet] = [-1, 0];
  while (arrived() < expected && quiet < 50) {
    await delay(100);
    quiet = arrived() === before ? quiet + 1 : 0;
    before = arrived();
  }
}

export const microseconds = (since: number) => Math.max(1, Math.round(1000 * (performance.now() - since)));

/** Closes the sockets; resolves when all are closed. */
export async function leave(sockets: readonly WebSocket[]): Promise<void> {
  const open = sockets.filter(({ readyState }) => readyState !== WebSocket.CLOSED);
  const closed = open.map((socket) => once(socket, 'close'));
  for (const socket of open) socket.close(1000);
  await Promise.all(closed);
}
