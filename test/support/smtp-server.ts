/** A real SMTP server, and the mails that reached it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { SMTPServer } from 'smtp-server';

export interface Letter {
  readonly to: readonly string[];
  readonly subject: string;
  readonly messageId: string;
  /** Value of `List-Unsubscribe`; empty without one. */
  readonly listUnsubscribe: string;
  /** Value of `List-Unsubscribe-Post`; empty without one. */
  readonly listUnsubscribePost: string;
  readonly text: string;
  readonly html: string;
  /** The link in its text. */
  readonly link: URL;
}

export interface PostOffice {
  readonly port: number;
  readonly letters: readonly Letter[];
  /** Number of refused mails. */
  refused(): number;
  /** Refuses the next `count` mails, temporarily (4xx) or permanently (5xx); `stranger@...` is always refused. */
  refuse(count: number, code?: number): void;
  /** Resolves to the newest mail to an address once it has `count` mails. */
  letterTo(email: string, count?: number): Promise<Letter>;
  stop(): void;
}

/** Recipients that are always refused permanently. */
const STRANGER = 'stranger@';

/** Starts a server that refuses the first mails temporarily. */
export async function startPostOffice(refusals = 0): Promise<PostOffice> {
  const letters: Letter[] = [];
  let refused = 0;
  let [left, code] = [refusals, 451];
  const refusal = (responseCode: number) => {
    refused++;
    return Object.assign(new Error('not taken'), { responseCode });
  };
  const smtp = new SMTPServer({
    authOptional: true,
    onRcptTo: ({ address }, _, callback) => callback(address.startsWith(STRANGER) ? refusal(550) : undefined),
    async onData(stream, { envelope }, callback) {
      const raw = String(Buffer.concat(await stream.toArray()));
      if (left-- > 0) return callback(refusal(code));
      letters.push(
        parsed(
          envelope.rcptTo.map(({ address }) => address),
          raw,
        ),
      );
      callback();
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  return {
    port: (smtp.server.address() as AddressInfo).port,
    letters,
    refused: () => refused,
    refuse(count, responseCode = 451) {
      [left, code] = [count, responseCode];
    },
    async letterTo(email, count = 1) {
      const theirs = () => letters.filter(({ to }) => to.includes(email));
      await eventually(() => theirs().length >= count);
      return theirs().at(-1)!;
    },
    stop: () => smtp.close(),
  };
}

function parsed(to: readonly string[], raw: string): Letter {
  const unfolded = raw.replace(/\r\n[ \t]+/g, ' ');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(unfolded)?.[1]?.trim() ?? '';
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
    listUnsubscribe: header('list-unsubscribe'),
    listUnsubscribePost: header('list-unsubscribe-post'),
    text,
    html: part('text/html'),
    link,
  };
}

const unquoted = (text: string) =>
  text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
