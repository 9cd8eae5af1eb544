/** Mail for tests: a real SMTP server in a process of its own, and what came to it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { eventually } from '@annals/engines/testing/condition.js';

export interface Letter {
  readonly to: readonly string[];
  readonly subject: string;
  readonly messageId: string;
  readonly text: string;
  readonly html: string;
  /** The link in its text. */
  readonly link: URL;
}

export interface PostOffice {
  readonly port: number;
  readonly letters: readonly Letter[];
  /** How many it has refused. */
  refused(): number;
  /** The next so many are refused: for now (4xx), or for good (5xx). Who is `stranger@...` always is, for good. */
  refuse(count: number, code?: number): Promise<void>;
  /** The newest to somebody, once there are so many. */
  letterTo(email: string, count?: number): Promise<Letter>;
  stop(): void;
}

const PROCESS = fileURLToPath(new URL('./smtp-server-process.js', import.meta.url));

export async function startPostOffice(refusals = 0): Promise<PostOffice> {
  const child = killOnExit(fork(PROCESS, [String(refusals)]));
  const letters: Letter[] = [];
  let refused = 0;
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let noted = 0;
  child.on('message', (message: { to?: string[]; raw?: string; refused?: string[]; noted?: true }) => {
    if (message.noted) noted++;
    if (message.refused) refused++;
    if (message.to && message.raw !== undefined) letters.push(parsed(message.to, message.raw));
  });
  return {
    port,
    letters,
    refused: () => refused,
    async refuse(count, code = 451) {
      const before = noted;
      child.send({ refuse: count, code });
      await eventually(() => noted > before);
    },
    async letterTo(email, count = 1) {
      const theirs = () => letters.filter(({ to }) => to.includes(email));
      await eventually(() => theirs().length >= count);
      return theirs().at(-1)!;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

function parsed(to: readonly string[], raw: string): Letter {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(raw)?.[1]?.trim() ?? '';
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? '';
  const part = (type: string) => {
    const found = raw.split(`--${boundary}`).find((each) => each.includes(`Content-Type: ${type}`)) ?? '';
    const [head = '', ...body] = found.split('\r\n\r\n');
    const text = body.join('\r\n\r\n');
    return /quoted-printable/i.test(head) ? unquoted(text) : text;
  };
  const text = part('text/plain');
  const link = new URL(/https?:\S+/.exec(text)?.[0] ?? 'none:');
  return {
    to,
    subject: header('subject'),
    messageId: header('message-id'),
    text,
    html: part('text/html'),
    link,
  };
}

const unquoted = (text: string) =>
  text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
