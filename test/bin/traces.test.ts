/** OpenTelemetry traces: what a collector receives for a request and everything that it causes. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createTracer } from '../../adapters/platform/observability/tracing.js';
import { type Chats, startChats } from '../support/chat-scenario.js';
import { ask, devLogin } from '../support/http-spec.js';
import { answer, type Receiver, startReceiver } from '../support/webhook-receiver.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const OPEN = { '--auth-is-invite-required': 'false', '--chat-initial-user-email': 'admin@example.org' };

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: object;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly [type: string]: unknown } }[];
}

const spansOf = ({ received }: Receiver): ExportedSpan[] =>
  received
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);

const attributesOf = ({ attributes }: ExportedSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

describe('traces', () => {
  let collector: Receiver;
  let chats: Chats;
  before(async () => {
    collector = await startReceiver();
    collector.respond = answer(200);
  });
  afterEach(() => chats?.stop());
  after(() => collector?.close());

  async function post(content: string, headers: { readonly [name: string]: string } = {}) {
    const [base = ''] = chats.urls;
    const { token } = await devLogin(base, 'ada@example.org');
    const created = await ask(base, 'POST', '/channels', { token, body: { name: content } });
    const path = `/channels/${created.body.channel.id}/messages`;
    expect((await ask(base, 'POST', path, { token, body: { content }, headers })).status).to.equal(200);
  }

  it('connect a request with its command, append, projections and relay', async () => {
    chats = await startChats(1, { ...OPEN, '--telemetry-url': `${collector.url}/v1/traces` });
    await post('traced', { traceparent: `00-${TRACE}-${CALLER}-01` });
    const traced = () => spansOf(collector).filter(({ traceId }) => traceId === TRACE);
    const named = (name: string) => traced().filter((span) => span.name === name);
    await eventually(() => named('relay').length > 0 && named('project chat.messages').length > 0);
    await chats.stop();

    const [request] = named('POST /channels/:channelId/messages');
    expect(request).to.include({ parentSpanId: CALLER, kind: 2 });
    expect(attributesOf(request!)).to.deep.include({ service: 'chat', 'http.response.status_code': 200 });
    const [command] = named('command');
    expect(command?.parentSpanId).to.equal(request?.spanId);
    for (const name of ['append', 'relay', 'project chat.messages'])
      expect(named(name)[0]?.parentSpanId, name).to.equal(command?.spanId);
    expect(attributesOf(named('relay')[0]!)).to.include({ type: 'MessagePosted' });
    expect(attributesOf(named('append')[0]!)).to.include({ outcome: 'appended' });
    // A trace cannot be erased: it holds nothing of a person.
    expect(JSON.stringify(traced())).not.to.match(/example\.org|traced\b|127\.0\.0\.1/);
  });

  it('start at as many requests as configured, and follow the decision of the caller', async () => {
    chats = await startChats(1, { ...OPEN, '--telemetry-url': collector.url, '--telemetry-percent': '0' });
    collector.received.length = 0;
    await post('not traced');
    await post('of a caller', { traceparent: `00-${TRACE}-${CALLER}-01` });
    await chats.stop();
    expect(spansOf(collector).length).to.be.greaterThan(3);
    for (const { traceId } of spansOf(collector)) expect(traceId).to.equal(TRACE);
  });

  it('are dropped without a collector, which is logged once', async () => {
    const warnings: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => warnings.push(fields) };
    const url = 'http://collector:hidden@127.0.0.1:9/v1/traces';
    const tracer = await createTracer({ url, ratio: 1, node: 'n', release: 'r', logger });
    for (let each = 0; each < 3; each++) tracer.start('work', undefined, {}).end();
    await tracer.close();
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ url: 'http://********@127.0.0.1:9/v1/traces' });
    expect(JSON.stringify(warnings)).not.to.include('hidden');
  });

  it('name the kind of a failure, and nothing that its message says', async () => {
    collector.received.length = 0;
    const tracer = await createTracer({ url: collector.url, ratio: 1, node: 'n', release: 'r', logger: silentLogger });
    tracer.start('work', undefined, {}).end({}, new TypeError('ada@example.org is a duplicate'));
    await tracer.close();
    const [span] = spansOf(collector);
    expect(span?.status).to.include({ message: 'TypeError' });
    expect(JSON.stringify(collector.received)).not.to.include('example.org');
  });
});
