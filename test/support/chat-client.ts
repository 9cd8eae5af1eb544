/** A client of the chat, written from the contract alone: asks, and listens to the event stream. */
import { eventually } from '@annals/engines/testing/condition.js';
import { createParser } from 'eventsource-parser';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a server answers is looked at member by member.
  readonly body: any;
}

export interface RequestOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

export interface Frame {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly payload: any;
}

/** Asks one node. A body that is a text is sent as it is. */
export async function ask(
  base: string,
  method: string,
  path: string,
  { token, body, headers = {} }: RequestOptions = {},
): Promise<Answered> {
  const response = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Somebody who is signed in. */
export interface Member {
  readonly id: string;
  readonly token: string;
  readonly refreshToken: string;
}

export async function devLogin(base: string, email: string): Promise<Member> {
  const { status, body } = await ask(base, 'POST', '/auth/dev-login', { body: { email } });
  if (status !== 200) throw new Error(`${email} was not signed in: ${JSON.stringify(body)}`);
  return { id: body.user.id, token: body.token, refreshToken: body.refreshToken };
}

/** An open event stream. */
export class EventStream {
  readonly frames: Frame[] = [];
  readonly ids: string[] = [];
  ended = false;
  private constructor(
    readonly headers: Headers,
    private readonly leave: AbortController,
  ) {}

  /** Resolves once it is open and has told of it. */
  static async to(base: string, { token, headers = {} }: RequestOptions = {}, query = ''): Promise<EventStream> {
    const leave = new AbortController();
    const response = await fetch(`${base}/events${query}`, {
      signal: leave.signal,
      headers: {
        accept: 'text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const stream = new EventStream(response.headers, leave);
    void stream.read(response.body!);
    await eventually(() => stream.frames.length > 0 || stream.ended);
    return stream;
  }

  private async read(body: ReadableStream<Uint8Array>) {
    const parser = createParser({
      onEvent: ({ id, data, event }) => {
        if (event !== undefined) throw new Error('an event of the chat has no name');
        if (id !== undefined) this.ids.push(id);
        this.frames.push(JSON.parse(data));
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // Left.
    }
    this.ended = true;
  }

  /** Those of these types, once there are so many. */
  async received(count: number, ...types: readonly string[]): Promise<Frame[]> {
    const wanted = () => this.frames.filter(({ type }) => types.includes(type));
    return eventually(() => wanted().length >= count && wanted());
  }

  close() {
    this.leave.abort();
  }
}
