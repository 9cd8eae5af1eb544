/** HTTP requests of tests: an ordinary client, one that sends any bytes, and given, when and then for routes. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';

/** Expectations of a refusal besides the status: members of the body, and words of its message. */
export interface Refused {
  readonly code?: string;
  readonly error?: string | RegExp;
}

export interface When {
  /** Expects an answer with these members in its body. */
  thenAnswered(status: number, some?: object): Promise<Answered>;
  /** Expects JSON with a readable `error` and without internals. */
  thenRefused(status: number, how?: Refused): Promise<Answered>;
}

export interface HttpSpec {
  /** Resolves with the body of the answer, which must be a success. */
  given(method: string, path: string, options?: RequestOptions): Promise<Answered['body']>;
  when(method: string, path: string, options?: RequestOptions): When;
}

/** A stack trace, a stream name or the name of an error class. */
const INSIDE = /\n\s+at |\b(chat|meeting|rooms|logs)\.[\w]+-|Error:/;

export function httpSpec(base: () => string): HttpSpec {
  const when: HttpSpec['when'] = (method, path, options) => {
    const what = `${method} ${path} ${JSON.stringify(options?.body ?? '').slice(0, 200)}`;
    const answered = async (status: number) => {
      const answer = await ask(base(), method, path, options);
      expect(answer.status, `${what} answered ${JSON.stringify(answer.body)}`).to.equal(status);
      return answer;
    };
    return {
      async thenAnswered(status, some = {}) {
        const answer = await answered(status);
        expect(answer.body, what).to.deep.include(some);
        return answer;
      },
      async thenRefused(status, { error, ...members } = {}) {
        const answer = await answered(status);
        expect(answer.headers.get('content-type'), what).to.match(/^application\/json/);
        expect(answer.body.error, what)
          .to.be.a('string')
          .and.match(/^\S.*\S$/);
        expect(answer.body.error, what).not.to.match(INSIDE);
        if (error !== undefined) expect(answer.body.error, what).to.match(new RegExp(error));
        expect(answer.body, what).to.include(members);
        return answer;
      },
    };
  };

  return {
    when,
    async given(method, path, options) {
      const { status, body } = await ask(base(), method, path, options);
      expect(status, `${method} ${path} ${JSON.stringify(body)}`).to.be.within(200, 299);
      return body;
    },
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
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

/** Sends a request; a text body is sent unchanged, any other as JSON. */
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

/** A signed-in user. */
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
  /** Number of frames up to the last one with an id: a client that resumes does not get these again. */
  resumable = 0;
  ended = false;
  private constructor(
    readonly headers: Headers,
    private readonly leave: AbortController,
  ) {}

  /** Resolves when the stream has sent its greeting. */
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
        this.frames.push(JSON.parse(data));
        if (id === undefined) return;
        this.ids.push(id);
        this.resumable = this.frames.length;
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // The client has closed it.
    }
    this.ended = true;
  }

  /** Resolves to the frames of these types once there are `count` of them. */
  async received(count: number, ...types: readonly string[]): Promise<Frame[]> {
    const wanted = () => this.frames.filter(({ type }) => types.includes(type));
    return eventually(() => wanted().length >= count && wanted());
  }

  close() {
    this.leave.abort();
  }
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** May include `host`. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Buffer | string | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request; for an event stream, resolves after the headers. */
export const send = (base: string, { method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    // Node omits it for methods that seldom have a body, and the body would be parsed as the next request.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request({ hostname, port, method, path, headers: { ...length, ...headers } }, (response) => {
      const { statusCode: status = 0 } = response;
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        resolve({ status, headers: response.headers, text: '' });
        return void sent.destroy();
      }
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status, headers: response.headers, text: String(Buffer.concat(chunks)) }));
    });
    sent.on('error', (error) => reject(new Error(`${method} ${path.slice(0, 100)}: no answer`, { cause: error })));
    sent.end(body);
  });

/** Sends bytes over a new connection; resolves to everything received until the server closes it. */
export async function sendBytes(base: string, text: string): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return received;
}
