/** People in meetings over real sockets: what each of them hears, in order, and nothing else. */
import { once } from 'node:events';
import { eventually } from '@annals/engines/testing/condition.js';
import { WebSocket } from 'ws';

export interface MeetingMessage {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Person {
  readonly socket: WebSocket;
  /** All that it was told, in order. */
  readonly inbox: readonly MeetingMessage[];
  /** Who they are, once they have joined or wait. */
  readonly id: string;
  readonly resumeToken: string;
  send(type: string, more?: object): void;
  /** The first message that is so, among all there ever were. */
  waitFor(is: string | ((message: MeetingMessage) => boolean)): Promise<MeetingMessage>;
  /** Resolves when all that they have said was answered, and they have heard all that they were told by then. */
  answered(): Promise<void>;
  /** What they have heard since this was asked last, without times and tokens. */
  news(): readonly MeetingMessage[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Answered with an error of its own, in its turn. */
const MARK = 'mark';
const BARRIER = '-- the next --';

/** What is told of somebody who has come in. */
export const joinedIn = (roomId: string, of: Person, name: string, isModerator: boolean): MeetingMessage => ({
  type: 'participant-joined',
  roomId,
  participantId: of.id,
  name,
  isModerator,
  isMuted: false,
  isVideoOff: false,
});

/** A socket of nobody yet; `from`: the address they come from. */
export async function open(base: string, from = '203.0.113.1'): Promise<Person> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`, {
    headers: { 'X-Forwarded-For': from },
    // What is told at once is heard at once.
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

/** Comes into a room: inside, or waiting, or refused, on a socket of their own. */
export async function come(base: string, roomId: string, name: string, more: object = {}, from?: string) {
  const person = await open(base, from);
  person.send('join', { roomId, name, ...more });
  await person.answered();
  return person;
}

/**
 * What each of these hears when something is done, and nothing that they heard before. `inside` is somebody who is
 * still in the room after it: what they say then comes after all of it.
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

/** How many are in meetings, as that node tells. */
export const peopleAt = async (base: string): Promise<number> =>
  ((await (await fetch(`${base}/health`)).json()) as { totalParticipants: number }).totalParticipants;
