/** Stands in for the log service where tests of its command line need it slow, busy, broken or gone. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { run } from '../../support/server-process.js';

export interface LogRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface LogService {
  readonly url: string;
  readonly requests: LogRequest[];
  /** Answers everything; undefined leaves it to `takeAll`. */
  respond: (requests: LogRequest, response: ServerResponse, count: number) => unknown;
  close(): Promise<void>;
}

export const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Takes every line that is a JSON object. */
export function takeAll({ body }: LogRequest, response: ServerResponse) {
  const lines = body.split('\n').slice(0, -1);
  const errors = lines.flatMap((line, index) =>
    line.startsWith('{') ? [] : [{ line: index + 1, error: 'it is not a JSON object' }],
  );
  json(response, 200, { accepted: lines.length - errors.length, rejected: errors.length, errors });
}

export async function startLogService(): Promise<LogService> {
  const requests: LogRequest[] = [];
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', headers } = request;
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://here');
    const one = { method, path, query, headers, body: Buffer.concat(chunks).toString() };
    requests.push(one);
    service.respond(one, response, requests.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: LogService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    respond: takeAll,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}

/** Starts a log service and a directory for each test of a `describe`; runs `annals logs` with their addresses. */
export function useAnnalsLogs() {
  let service: LogService;
  let directory: ReturnType<typeof temporaryDirectory>;
  beforeEach(async () => {
    service = await startLogService();
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await service.close();
    directory.remove();
  });
  return {
    get service() {
      return service;
    },
    get directory() {
      return directory;
    },
    path: (name: string) => join(directory.path, name),
    logs: (args: readonly string[], input?: string, env = {}) =>
      run(['logs', ...args, '--url', service.url], input, { cwd: directory.path, env }),
  };
}

/** A record as the service answers with it. */
export const entry = (id: number, more = {}) => ({
  id: `id-${id}`,
  timestamp: `2026-11-21T12:00:00.${String(id % 1000).padStart(3, '0')}Z`,
  level: 'INFO',
  event: 'order.paid',
  message: `order ${id}`,
  producerId: 'default',
  correlationId: null,
  data: { level: 30, msg: `order ${id}`, id },
  ...more,
});
