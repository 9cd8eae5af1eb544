/** Decoded subscription answers: equal to the driver's decoding. */
import type { ResolvedEvent } from '@eventstore/db-client';
import driver from '@eventstore/db-client/dist/utils/index.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { expect } from 'chai';
import { DecodedEvent, readAnswer } from '../../../adapters/eventstore/messages.js';

interface EventFields {
  readonly type?: string;
  readonly contentType?: string;
  readonly data?: string | Uint8Array;
  readonly metadata?: string | Uint8Array;
  readonly position?: bigint;
  readonly revision?: bigint;
  readonly created?: string;
}

const bytesOf = (text: string | Uint8Array) => (typeof text === 'string' ? Buffer.from(text) : text);

function recorded({
  type = 'toys.ToyPut.v1',
  contentType = 'application/json',
  data = '{"a":1}',
  metadata = '{}',
  position = 4711n,
  revision = 7n,
  created = '17644608001234567',
}: EventFields) {
  const event = new messages.ReadResp.ReadEvent.RecordedEvent();
  const id = new shared.UUID();
  id.setString('0b0e2a9c-6d0b-4c57-9a55-7f0f6f6a3b00');
  event.setId(id);
  const stream = new shared.StreamIdentifier();
  stream.setStreamName(Buffer.from('toys.box-ä 日本'));
  event.setStreamIdentifier(stream);
  event.setStreamRevision(String(revision));
  event.setPreparePosition(String(position));
  event.setCommitPosition(String(position));
  event.getMetadataMap().set('type', type).set('content-type', contentType).set('created', created);
  event.setCustomMetadata(bytesOf(metadata));
  event.setData(bytesOf(data));
  return event;
}

function answer(
  fields: EventFields,
  change: (event: InstanceType<typeof messages.ReadResp.ReadEvent>) => void = () => {},
) {
  const event = new messages.ReadResp.ReadEvent();
  event.setEvent(recorded(fields));
  event.setCommitPosition(String(fields.position ?? 4711n));
  change(event);
  const whole = new messages.ReadResp();
  whole.setEvent(event);
  return Buffer.from(whole.serializeBinary());
}

const theirs = (bytes: Buffer): ResolvedEvent =>
  driver.convertGrpcEvent(messages.ReadResp.deserializeBinary(bytes).getEvent()!);

describe('subscription answers', () => {
  const all: readonly EventFields[] = [
    {},
    { data: '{"text":"naïve 日本 🚀 \\u0000","n":1.5,"list":[1,2,{}]}', metadata: '{"by":"ö"}' },
    { data: '{ broken', metadata: 'broken, too' },
    { data: '', metadata: '' },
    { data: JSON.stringify({ long: 'x'.repeat(70_000) }) },
    {
      contentType: 'application/octet-stream',
      data: Uint8Array.of(0, 255, 128),
      metadata: Uint8Array.of(255),
    },
    { contentType: 'application/octet-stream', data: '' },
    ...[0n, 127n, 128n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 64n - 1n].map(
      (position) => ({ position, revision: position }),
    ),
    { created: '0' },
    { created: '9' },
  ];

  it('are decoded as by the driver', () => {
    for (const fields of all) {
      const bytes = answer(fields);
      const read = readAnswer(bytes);
      expect(read).to.be.instanceOf(DecodedEvent);
      expect((read as DecodedEvent).event, JSON.stringify(fields.data)).to.deep.equal(theirs(bytes));
      // The buffer is reused.
      const { data } = (read as DecodedEvent).event.event!;
      const before = structuredClone(data);
      bytes.fill(0);
      expect(data).to.deep.equal(before);
    }
  });

  it('may lack a position, as from older servers', () => {
    const bytes = answer({}, (event) => {
      event.clearCommitPosition();
      event.setNoPosition(new shared.Empty());
    });
    expect((readAnswer(bytes) as DecodedEvent).event).to.deep.equal(theirs(bytes));
  });

  it('may contain unknown fields', () => {
    const [plain, event] = [answer({}), recorded({}).serializeBinary()];
    // One unknown field of each kind: number, 64 and 32 bits, bytes.
    const more = Buffer.from([0xf8, 1, 5, 0xf9, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 1, 1, 2, 3, 4, 0xfa, 1, 2, 9, 9]);
    const inner = Buffer.concat([event, more]);
    const sized = (tag: number, bytes: Uint8Array) =>
      Buffer.concat([Buffer.from([tag, (bytes.length & 127) | 128, bytes.length >> 7]), bytes]);
    const bytes = sized(0x0a, Buffer.concat([sized(0x0a, inner), Buffer.from([0x18, 0xe7, 0x24])]));
    expect((readAnswer(bytes) as DecodedEvent).event).to.deep.equal(theirs(plain));
  });

  it('are left to the driver unless they are plain events', () => {
    const linked = answer({}, (event) => event.setLink(recorded({ type: '$>' })));
    const structured = answer({}, (event) => {
      const id = new shared.UUID();
      id.setStructured(new shared.UUID.Structured());
      event.getEvent()!.setId(id);
    });
    const reached = new messages.ReadResp();
    const checkpoint = new messages.ReadResp.Checkpoint();
    checkpoint.setCommitPosition('12');
    reached.setCheckpoint(checkpoint);
    for (const bytes of [linked, structured, Buffer.from(reached.serializeBinary())])
      expect(readAnswer(bytes)).to.be.instanceOf(messages.ReadResp);
  });

  it('are rejected when truncated', () => {
    const whole = answer({});
    for (let length = 1; length < whole.length; length++)
      expect(() => readAnswer(whole.subarray(0, length)), String(length)).to.throw(RangeError);
    // A length beyond the enclosing message.
    expect(() => readAnswer(Buffer.from([0x0a, 2, 0x0a, 20, ...Buffer.alloc(30)]))).to.throw(RangeError);
  });
});
