/** MongoDB client that reads and writes protocol bytes itself, to send what no driver would. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Binary, BSON, type Document } from 'mongodb';

export interface Reply {
  readonly requestId: number;
  readonly responseTo: number;
  readonly flags: number;
  readonly body: Document;
}

export interface RawClient {
  send(bytes: Buffer): void;
  /** Returns the next answer, or undefined if the server closed the connection. */
  receive(): Promise<Reply | undefined>;
  /** Sends a command and returns its answer. */
  command(command: Document, flags?: number): Promise<Reply | undefined>;
  close(): void;
}

/** Encodes a message with one body section. */
export function opMsg(command: Document, flags = 0, id = 7): Buffer {
  return frame(2013, Buffer.concat([uint32(flags), Buffer.of(0), BSON.serialize(command)]), id);
}

/** Encodes a message of any opcode, content and, possibly wrong, length. */
export function frame(opcode: number, content: Buffer, id = 7, length = content.length + 16): Buffer {
  return Buffer.concat([uint32(length), uint32(id), uint32(0), uint32(opcode), content]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

/** Password of the engine that tests start. */
export const SECRET = 'the-secret-of-these-tests';

/** Connects and authenticates. */
export async function rawClient(port: number): Promise<RawClient> {
  const client = await connectUnauthenticated(port);
  const sasl = async (command: Document, text: string) => {
    const payload = new Binary(Buffer.from(text));
    return (await client.command({ ...command, payload, $db: 'admin' }))?.body;
  };
  const bare = `n=annals,r=${randomBytes(18).toString('base64')}`;
  const begin = { saslStart: 1, mechanism: 'SCRAM-SHA-256', options: { skipEmptyExchange: true } };
  const begun = await sasl(begin, `n,,${bare}`);
  const challenge = begun?.payload.toString('utf8') ?? '';
  const { conversationId } = begun ?? {};
  await sasl({ saslContinue: 1, conversationId }, clientFinal(SECRET, bare, challenge));
  return client;
}

/** Final message of a client that knows the password (RFC 5802). */
export function clientFinal(password: string, bare: string, challenge: string): string {
  const [, nonce = '', salt = '', iterations] = /^r=(.+),s=(.+),i=(\d+)$/.exec(challenge) ?? [];
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
  const clientKey = hmac(salted, 'Client Key');
  const withoutProof = `c=biws,r=${nonce}`;
  const stored = createHash('sha256').update(clientKey).digest();
  const signature = hmac(stored, `${bare},${challenge},${withoutProof}`);
  const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
  return `${withoutProof},p=${proof.toString('base64')}`;
}

/** Connects without authenticating. */
export async function connectUnauthenticated(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const replies: Reply[] = [];
  const receivers: ((reply: Reply | undefined) => void)[] = [];
  let bytes = Buffer.alloc(0);
  let closed = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
    for (const resolveReply of receivers.splice(0)) resolveReply(undefined);
  });
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 4 && bytes.length >= bytes.readInt32LE(0)) {
      const message = bytes.subarray(0, bytes.readInt32LE(0));
      bytes = bytes.subarray(message.length);
      const legacy = message.readInt32LE(12) === 1;
      const body = BSON.deserialize(message.subarray(legacy ? 36 : 21), { promoteLongs: false });
      const [requestId, responseTo] = [message.readInt32LE(4), message.readInt32LE(8)];
      const reply = { requestId, responseTo, flags: message.readUInt32LE(16), body };
      const resolveReply = receivers.shift();
      if (resolveReply) resolveReply(reply);
      else replies.push(reply);
    }
  });
  const receive = (): Promise<Reply | undefined> => {
    const ready = replies.shift();
    if (ready || closed) return Promise.resolve(ready);
    return new Promise((resolve) => receivers.push(resolve));
  };
  return {
    send: (message) => void socket.write(message),
    receive,
    command(command, flags = 0) {
      socket.write(opMsg(command, flags));
      return receive();
    },
    close: () => void socket.destroy(),
  };
}
