/** Participants of meetings over real sockets, with the messages that each one receives. */
import { once } from 'node:events';
import { eventually } from '@annals/engines/testing/condition.js';
import { WebSocket } from 'ws';

export interface MeetingMessage {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Person {
  readonly socket: WebSocket;
  /** All received messages, in order. */
  readonly inbox: readonly MeetingMessage[];
  /** Participant id, after joining or in the waiting room. */
  readonly id: string;
  readonly resumeToken: string;
  send(type: string, more?: object): void;
  /** Resolves to the first message that matches, among all received ones. */
  waitFor(is: string | ((message: MeetingMessage) => boolean)): Promise<MeetingMessage>;
  /** Resolves when the server has processed all messages sent before. */
  answered(): Promise<void>;
  /** Messages received since the last call, without times and tokens. */
  news(): readonly MeetingMessage[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Type of a message that the server answers with an error, in order. */
const MARK = 'mark';
const BARRIER = '-- the next --';

/** The message that announces a new participant. */
export const joinedIn = (roomId: string, of: Person, name: string, isModerator: boolean): MeetingMessage => ({
  type: 'participant-joined',
  roomId,
  participantId: of.id,
  name,
  isModerator,
  isMuted: false,
  isVideoOff: false,
});

/** Opens a socket that has not joined yet. `from`: client address. */
export async function open(base: string, from = '203.0.113.1'): Promise<Person> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`, {
    headers: { 'X-Forwarded-For': from },
    // Emits all messages of one packet in the same task.
    allowSynchronousEvents: true,
  });
  const person = personOn(socket);
  await once(socket, 'open');
  return person;
}

function personOn(socket: WebSocket): Person {
  const inbox: MeetingMessage[] = [];
  const own = () =>
    inbox.findLast(({ type, resumeToken }) => resumeToken !== undefined && type !== 'error') ?? { type: '' };
  let [seen, marks] = [0, 0];
  socket.on('message', (data) => inbox.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  const isMark = ({ code }: MeetingMessage) => code === 'UNKNOWN_MESSAGE_TYPE';
  const person: Person = {
    socket,
    inbox,
    closed,
    get id() {
      return String(own().participantId);
    },
    get resumeToken() {
      return String(own().resumeToken);
    },
    send: (type, more = {}) =>
      socket.send(JSON.stringify({ type, roomId: '', participantId: '', timestamp: 1, ...more })),
    waitFor: (is) => {
      const isIt = typeof is === 'string' ? ({ type }: MeetingMessage) => type === is : is;
      return eventually(() => inbox.find(isIt));
    },
    async answered() {
      if (socket.readyState !== WebSocket.OPEN) return;
      marks++;
      person.send(MARK);
      await Promise.race([closed, eventually(() => inbox.filter(isMark).length >= marks)]);
    },
    news() {
      const news = inbox.slice(seen).filter((each) => !isMark(each) && each.text !== BARRIER);
      seen = inbox.length;
      return news.map(({ timestamp: _, resumeToken: __, ...rest }) => rest as MeetingMessage);
    },
  };
  return person;
}

/** Joins a room over a new socket; resolves when the server has answered (joined, waiting or refused). */
export async function enterRoom(base: string, roomId: string, name: string, more: object = {}, from?: string) {
  const person = await open(base, from);
  person.send('join', { roomId, name, ...more });
  await person.answered();
  return person;
}

/**
 * The messages that each person receives because of `act`, without earlier ones. `inside` is a participant who is
 * still in the room afterwards: their chat message follows all other messages.
 */
export async function receivedBy<Names extends string>(
  people: { readonly [name in Names]: Person },
  inside: Person,
  act: () => Promise<unknown> | unknown,
): Promise<{ [name in Names]?: readonly MeetingMessage[] }> {
  const all: readonly [Names, Person][] = Object.entries(people) as never;
  const every = (look: (person: Person) => Promise<void>) => Promise.all(all.map(([, person]) => look(person)));
  await projectionProgress(inside);
  await every((person) => person.answered());
  for (const [, person] of all) person.news();
  await act();
  await every((person) => person.answered());
  await projectionProgress(inside);
  await every((person) => person.answered());
  const inbox = all.map(([name, person]) => [name, person.news()] as const);
  return Object.fromEntries(inbox.filter(([, news]) => news.length > 0)) as never;
}

async function projectionProgress(person: Person): Promise<void> {
  const before = person.inbox.length;
  person.send('chat', { text: BARRIER });
  await eventually(() => person.inbox.slice(before).some(({ text }) => text === BARRIER));
}

/** Number of participants in meetings, as reported by a node. */
export const peopleAt = async (base: string): Promise<number> =>
  ((await (await fetch(`${base}/health`)).json()) as { totalParticipants: number }).totalParticipants;
