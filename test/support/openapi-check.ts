/** Checks the answers of a service against its OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { type RawAnswer, send } from './http-spec.js';

interface Documented {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
}

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: { readonly [type: string]: Sample } };
  readonly security?: readonly object[];
  readonly responses: { readonly [status: string]: ResponseDoc | { readonly $ref: string } };
}

interface Sample {
  readonly schema: { readonly properties?: object };
  readonly example?: unknown;
}

interface ResponseDoc {
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: { readonly [type: string]: { readonly schema: object } };
}

type Headers = { readonly [name: string]: string };

export const JSON_BODY = { 'content-type': 'application/json' };
const TOO_LARGE = Buffer.alloc(8 * 1024 * 1024 + 1, ' ');
/** A declared length above every limit; no request can follow on the connection. */
const FAR_TOO_LARGE = { 'content-length': String(2 ** 30), connection: 'close' };

/** A service, its document, and the statuses seen of each operation. */
export class Examined {
  readonly seen = new Map<string, Set<number>>();
  private readonly ajv = formats.default(new Ajv2020({ strict: false }));

  private constructor(
    readonly url: string,
    readonly document: Documented,
    readonly credentials: Headers,
  ) {
    this.ajv.addSchema({ ...document, $id: 'document' });
  }

  static async at(url = '', credentials: Headers = {}): Promise<Examined> {
    const { text } = await send(url, { method: 'GET', path: '/openapi.json', headers: credentials });
    return new Examined(url, JSON.parse(text), credentials);
  }

  get operations(): readonly (readonly [path: string, method: string, operation: Operation])[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [path, method.toUpperCase(), operation] as const),
    );
  }

  /** Sends a request and checks the answer; `at` is the documented path, `target` the requested one. */
  async ask(
    method: string,
    at: string,
    { target = at, headers = {}, body }: { target?: string; headers?: Headers; body?: string | Buffer | object } = {},
  ): Promise<RawAnswer> {
    const bytes = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    const sent = { ...(bytes === undefined ? {} : JSON_BODY), ...this.credentials, ...headers };
    const answer = await send(this.url, { method, path: target, headers: sent, body: bytes });
    this.hold(`${method} ${at}`, this.document.paths[at]?.[method.toLowerCase()], answer, at, method);
    return answer;
  }

  /** Asks for the state of a thing at a time, by default now. */
  askAt(at: string, thing: string, time = new Date().toISOString()): Promise<RawAnswer> {
    return this.ask('GET', at, { target: `${at}?${new URLSearchParams({ time, thing })}` });
  }

  private hold(name: string, operation: Operation | undefined, answer: RawAnswer, at: string, method: string) {
    const { status, headers, text } = answer;
    const seen = this.seen.get(name) ?? new Set();
    this.seen.set(name, seen.add(status));
    const documented = operation?.responses[status];
    expect(documented, `${name} answers ${status} ${text.slice(0, 100)}, which its document does not say`).to.be.an(
      'object',
    );
    const [pointer, response] = this.resolve(at, method, status, documented!);
    for (const header of Object.keys(response.headers ?? {}))
      if (['Retry-After', 'WWW-Authenticate', 'X-Request-Id'].includes(header))
        expect(headers, `${name} ${status}`).to.have.property(header.toLowerCase());
    const [type] = Object.keys(response.content ?? {});
    if (type) expect(headers['content-type'], `${name} ${status}`).to.match(new RegExp(`^${escaped(type)}`));
    if (type !== 'application/json') return;
    const check = this.ajv.getSchema(`document#${pointer}/content/application~1json/schema`) as ValidateFunction;
    expect(check(JSON.parse(text)), `${name} ${status}: ${text} ${this.ajv.errorsText(check.errors)}`).to.equal(true);
  }

  private resolve(
    path: string,
    method: string,
    status: number,
    documented: ResponseDoc | { readonly $ref: string },
  ): readonly [pointer: string, ResponseDoc] {
    if (!('$ref' in documented)) {
      return [
        `/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method.toLowerCase()}/responses/${status}`,
        documented,
      ];
    }
    const names = documented.$ref.slice(2).split('/');
    const found = names.reduce<unknown>((value, name) => (value as { [name: string]: unknown })[name], this.document);
    return [documented.$ref.slice(1), found as ResponseDoc];
  }

  /** Sends the errors that all routes have in common to each selected route. */
  async storm(
    targetOf: (path: string) => string,
    evil: Headers,
    isWanted: (path: string, method: string) => boolean = () => true,
  ) {
    const wanted = this.operations.filter(([at, method]) => isWanted(at, method));
    const sentInFull = wanted.find(([, , { requestBody }]) => requestBody);
    for (const operation of wanted) {
      const [at, method, { parameters, requestBody, security }] = operation;
      const target = targetOf(at);
      const ask = (more: { headers?: Headers; body?: string | Buffer; query?: string }) =>
        this.ask(method, at, { ...more, target: `${target}${more.query ?? ''}` });
      await ask({ headers: { 'idempotency-key': 'x'.repeat(256) } });
      await ask({ headers: { 'if-position': 'x' } });
      await ask({ headers: evil });
      if (security)
        for (const authorization of ['', 'Bearer x', 'Basic eDp5']) await ask({ headers: { authorization } });
      for (const { name } of parameters.filter((each) => each.in === 'query')) {
        for (const value of ['', 'x', '-1', '1e400', '%00', '%zz', '2026-02-30', 'x'.repeat(5000)])
          await ask({ query: `?${name}=${value}` });
        await ask({ query: `?${name}=x&${name}=y` });
      }
      if (!requestBody) continue;
      for (const body of ['{', '[]', 'null', '"x"', '{"a":', '{}', '\u0000']) await ask({ body });
      await ask({ body: '{}', headers: { 'content-encoding': 'br' } });
      await ask({ body: '{}', headers: { 'content-encoding': 'gzip' } });
      await ask({ body: '{}', headers: { 'content-type': 'text/plain' } });
      await ask({ body: '{', headers: FAR_TOO_LARGE });
      if (operation === sentInFull) await ask({ body: TOO_LARGE });
    }
  }

  /** Requests a page, the unchanged page (304), and one of its assets. */
  async page(at = '/') {
    const accept = 'text/html';
    const { headers, text } = await this.ask('GET', at, { headers: { accept } });
    await this.ask('GET', at, { headers: { accept, 'if-none-match': String(headers.etag) } });
    const [part = ''] = /assets\/[^"']+/.exec(text) ?? [];
    await this.ask('GET', '/assets/{part}', { target: `/${part}` });
  }

  /** Sends stalling bodies to all routes in parallel: each takes seconds to time out. */
  async stall(targetOf: (path: string) => string, headers: Headers = {}) {
    const stalling = { ...headers, 'content-length': '100' };
    await Promise.all(
      this.operations
        .filter(([, , { requestBody }]) => requestBody)
        .map(([at, method]) => this.ask(method, at, { target: targetOf(at), headers: stalling, body: '{' })),
    );
  }

  /**
   * Documented statuses that were not seen, without server errors (5xx) and those that take more than one client:
   * exceeding limits of the whole service (429).
   */
  unseen(): readonly string[] {
    return this.operations.flatMap(([path, method, { responses }]) =>
      Object.keys(responses)
        .filter((status) => !isOfTheKernel(responses[status], 429))
        .filter((status) => Number(status) < 500 && !this.seen.get(`${method} ${path}`)?.has(Number(status)))
        .map((status) => `${method} ${path} ${status}`),
    );
  }
}

const isOfTheKernel = (response: object | undefined, status: number) =>
  response !== undefined && '$ref' in response && response.$ref === `#/components/responses/${status}`;

const escaped = (text: string) => text.replaceAll(/[/.+]/g, '\\$&');
