/** Uploading and downloading over HTTP, as the contract has it. */
import { randomBytes } from 'node:crypto';
import type { Answered, Member } from './chat-client.js';
import type { ChatWorld } from './chat-scenario.js';

/** Something that begins as a PDF does, of so many bytes. */
export function pdf(length: number): Buffer {
  const bytes = randomBytes(length);
  bytes.write('%PDF-1.7\n');
  return bytes;
}

type World = Pick<ChatWorld, 'as' | 'base'>;

export const uploadFile = (
  world: World,
  who: Member | undefined,
  filename: string,
  file: Buffer | string,
  more: object = {},
): Promise<Answered> =>
  world.as(who, 'POST', '/files', {
    filename,
    file: typeof file === 'string' ? file : file.toString('base64'),
    contentType: 'application/octet-stream',
    ...more,
  });

export interface Attached {
  readonly filename: string;
  readonly originalName: string;
  readonly contentType: string;
  readonly size: number;
}

let count = 0;

/** One that is taken. */
export async function uploaded(
  world: World,
  who: Member,
  filename = `f${++count}.pdf`,
  file = pdf(100),
): Promise<Attached> {
  const { status, body } = await uploadFile(world, who, filename, file);
  if (status !== 200) throw new Error(`${filename}: ${status} ${JSON.stringify(body)}`);
  return body.attachment;
}

export interface Bytes {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** The bytes, and what is told of them. */
export async function read(
  { base }: Pick<ChatWorld, 'base'>,
  who: Member | undefined,
  path: string,
  headers: { readonly [name: string]: string } = {},
  method = 'GET',
): Promise<Bytes> {
  const response = await fetch(base + path, {
    method,
    headers: { ...(who && { authorization: `Bearer ${who.token}` }), ...headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}
