/** Deliveries to a real receiver that is slow, broken, moved, endless or missing. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { createWebhooks } from '../../../../adapters/outbound/webhook/deliver.js';
import type { Resolve } from '../../../../adapters/outbound/webhook/target.js';
import type { WebhookRequest } from '../../../../application/ports/webhooks.js';
import { answer, type Receiver, startReceiver } from '../../../support/webhook-receiver.js';

const payload = { source: 'annals', rule: 'error_threshold' };

describe('a webhook delivery', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  const secret = 'a secret between two';
  const webhooks = createWebhooks({ allowPrivate: true, secret, userAgent: 'annals/test' });
  const deliver = (more: Partial<WebhookRequest> = {}) =>
    webhooks.deliver({
      url: receiver.url,
      payload,
      deliveryId: 'alert-1',
      timeoutMs: 5000,
      retries: 3,
      backoffMs: 1,
      signal: new AbortController().signal,
      ...more,
    });
  const failure = async (more: Partial<WebhookRequest> = {}) => {
    const outcome = await deliver(more);
    if (outcome.delivered) throw new Error(`delivered: ${outcome.status}`);
    return outcome;
  };

  it('is posted as signed JSON', async () => {
    const before = Math.floor(Date.now() / 1000);
    expect(await deliver()).to.deep.equal({ delivered: true, status: 204, attempts: 1 });
    const [first] = receiver.received;
    if (!first) throw new Error('nothing came');
    const { method, path, headers, body } = first;
    expect({ method, path }).to.deep.equal({ method: 'POST', path: '/hook' });
    expect(JSON.parse(body)).to.deep.equal(payload);
    expect(headers).to.include({ 'content-type': 'application/json', 'x-annals-delivery': 'alert-1' });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-annals-signature'])) ?? [];
    expect(v1).to.equal(createHmac('sha256', secret).update(`${t}.${body}`).digest('hex'));
    expect(Number(t)).to.be.within(before, Date.now() / 1000);
  });

  it('is unsigned without a secret', async () => {
    const unsigned = createWebhooks({ secret: undefined, allowPrivate: true, userAgent: 'annals/test' });
    const { signal } = new AbortController();
    const message = {
      url: receiver.url,
      payload,
      deliveryId: 'a',
      timeoutMs: 5000,
      retries: 0,
      backoffMs: 1,
    };
    expect((await unsigned.deliver({ ...message, signal })).delivered).to.equal(true);
    expect(receiver.received[0]?.headers).not.to.have.property('x-annals-signature');
  });

  for (const status of [408, 429, 500, 503]) {
    it(`is retried after ${status} as the same delivery`, async () => {
      receiver.respond = answer(status, status, 200);
      expect(await deliver()).to.deep.equal({ delivered: true, status: 200, attempts: 3 });
      expect(new Set(receiver.received.map(({ headers }) => headers['x-annals-delivery'])).size).to.equal(1);
    });
  }

  for (const status of [400, 401, 404, 410]) {
    it(`is given up at once after ${status}`, async () => {
      receiver.respond = answer(status);
      expect(await deliver()).to.deep.equal({
        delivered: false,
        reason: `the receiver answered ${status}`,
        status,
        attempts: 1,
      });
    });
  }

  it('is given up after the maximum of retries', async () => {
    receiver.respond = answer(500);
    expect(await deliver()).to.deep.include({ delivered: false, status: 500, attempts: 4 });
    expect(receiver.received).to.have.length(4);
  });

  /** The waits between attempts, ms. */
  const waits = async (status: number, retryAfter?: string, more: Partial<WebhookRequest> = {}) => {
    const waited: number[] = [];
    const pause = async (ms: number) => void waited.push(ms);
    const { deliver: patiently } = createWebhooks({
      secret: undefined,
      allowPrivate: true,
      userAgent: 'annals/test',
      pause,
    });
    receiver.respond = (response) => {
      response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end();
    };
    const message = { url: receiver.url, payload, deliveryId: 'a', timeoutMs: 5000, retries: 2 };
    await patiently({ ...message, backoffMs: 40, signal: new AbortController().signal, ...more });
    return waited;
  };

  it('backs off exponentially with jitter', async () => {
    const [first = 0, second = 0, ...more] = await waits(500);
    expect(more).to.deep.equal([]);
    expect(first).to.be.within(40, 50);
    expect(second).to.be.within(80, 100);
  });

  it('honours Retry-After up to a maximum', async () => {
    expect(await waits(429, '7')).to.deep.equal([7000, 7000]);
    expect(await waits(503, '60')).to.deep.equal([60_000, 60_000]);
    expect(await waits(503, '61')).to.deep.equal([60_000, 60_000]);
    expect(await waits(503, '999999999')).to.deep.equal([60_000, 60_000]);
    const inAYear = new Date(Date.now() + 365 * 86_400_000).toUTCString();
    expect(await waits(503, inAYear)).to.deep.equal([60_000, 60_000]);
    const [until = 0] = await waits(503, new Date(Date.now() + 30_000).toUTCString());
    expect(until).to.be.within(0, 30_000);
  });

  it('ignores an invalid or shorter Retry-After', async () => {
    for (const retryAfter of ['soon', '-5', '0', 'Fri, 01 Jan 1999 00:00:00 GMT', '9'.repeat(40)]) {
      expect((await waits(503, retryAfter))[0], retryAfter).to.be.within(40, 50);
    }
  });

  it('is given up when no time is left to wait', async () => {
    expect(await waits(503, '30', { deadlineMs: 10_000 })).to.deep.equal([]);
  });

  it('follows no redirect', async () => {
    receiver.respond = (response) => response.writeHead(302, { Location: '/elsewhere' }).end();
    expect((await failure()).reason).to.match(/answered 302, a redirect/);
    expect(receiver.received.map(({ path }) => path)).to.deep.equal(['/hook']);
  });

  it('times out each attempt to a hanging receiver', async () => {
    receiver.respond = () => {};
    const outcome = await failure({ timeoutMs: 50, retries: 1 });
    expect(outcome).to.deep.equal({
      delivered: false,
      reason: 'the receiver did not answer within 50 ms',
      attempts: 2,
    });
  });

  it('is retried when the connection closes before an answer', async () => {
    receiver.respond = (response, count) => {
      if (count > 2) response.writeHead(200).end();
      else response.destroy();
    };
    expect(await deliver()).to.deep.include({ delivered: true, attempts: 3 });
  });

  it('succeeds with the status although the body is cut off', async () => {
    receiver.respond = (response) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write('half an answ', () => response.destroy());
    };
    expect(await deliver()).to.deep.equal({ delivered: true, status: 200, attempts: 1 });
  });

  it('does not read an endless body', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.respond = (response) => {
        response.writeHead(200).on('close', resolve);
        const flood = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
          if (!response.destroyed) response.once('drain', flood);
        };
        flood();
      };
    });
    expect(await deliver()).to.deep.equal({ delivered: true, status: 200, attempts: 1 });
    await closed;
    expect(written).to.be.lessThan(32 * 1024 * 1024);
  });

  it('is not held up by a trickling body', async () => {
    receiver.respond = (response) => void response.writeHead(200).write('.');
    expect(await deliver({ timeoutMs: 100 })).to.deep.equal({ delivered: true, status: 200, attempts: 1 });
  });

  it('fails for receivers that do not speak HTTP, switch protocols, or are missing', async () => {
    let greeting = 'SSH-2.0-nothing\r\n';
    const other = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(greeting));
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    expect((await failure({ url, retries: 0 })).reason).to.equal('the answer is not HTTP');
    greeting = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
    expect((await failure({ url, retries: 0 })).reason).to.equal('the connection failed');
    greeting = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`;
    expect((await failure({ url, retries: 0 })).reason).to.equal('the answer is too long');
    other.close();
    await once(other, 'close');
    const gone = await failure({ url, retries: 1 });
    expect(gone).to.deep.include({ reason: 'the connection was refused', attempts: 2 });
  });

  it('is cancelled on abort, also while waiting', async () => {
    const stop = new AbortController();
    receiver.respond = (response) => response.writeHead(503, { 'Retry-After': '50' }).end();
    const delivery = deliver({ signal: stop.signal }).then(
      () => 'done',
      () => 'dropped',
    );
    await receiver.waitForRequests(1);
    stop.abort();
    expect(await delivery).to.equal('dropped');
  });

  it('connects to the checked address, whatever the name resolves to later', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    const names: string[] = [];
    const resolve: Resolve = async (name) => {
      names.push(name);
      return [{ address: answers[names.length - 1] ?? '', family: 4 }];
    };
    const rebound = createWebhooks({ secret: undefined, allowPrivate: true, resolve, userAgent: 'annals/test' });
    const { signal } = new AbortController();
    const url = `http://rebind.example:${receiver.port}/hook`;
    const message = { url, payload, deliveryId: 'a', timeoutMs: 5000, retries: 0, backoffMs: 1, signal };
    expect(await rebound.deliver(message)).to.deep.include({ delivered: true });
    expect(names).to.deep.equal(['rebind.example']);
    expect(receiver.received[0]?.headers.host).to.equal(`rebind.example:${receiver.port}`);
    expect(await rebound.deliver({ ...message, retries: 3 })).to.deep.equal({
      delivered: false,
      reason: 'the URL is refused: it leads to a link-local address',
      attempts: 1,
    });
  });

  it('is refused to private addresses unless allowed', async () => {
    const strict = createWebhooks({ secret: undefined, allowPrivate: false, userAgent: 'annals/test' });
    const { signal } = new AbortController();
    const message = { payload, deliveryId: 'a', timeoutMs: 5000, retries: 0, backoffMs: 1, signal };
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost', '2130706433']) {
      const url = `http://${host}:${receiver.port}/hook`;
      expect(await strict.refusal(url), host).to.equal('it leads to a private address');
      expect((await strict.deliver({ ...message, url })).delivered, host).to.equal(false);
    }
    expect(receiver.received).to.deep.equal([]);
  });

  it('can be configured before its name resolves', async () => {
    const resolve: Resolve = async () => {
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    };
    const early = createWebhooks({ secret: undefined, allowPrivate: false, resolve, userAgent: 'annals/test' });
    expect(await early.refusal('https://soon.example/')).to.equal(undefined);
  });
});
