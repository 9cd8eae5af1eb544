/** Encoded appends, as the driver's classes decode them. */
import { type AppendToStreamOptions, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { expect } from 'chai';
import { appendRequest } from '../../../adapters/eventstore/messages.js';

const ID = 'f00e2a9c-6d0b-4c57-9a55-7f0f6f6a3b11';

describe('append requests', () => {
  const toRequest = (expected: NonNullable<AppendToStreamOptions['expectedRevision']>, text = '') => {
    const event = jsonEvent({ id: ID, type: 'A', data: { text }, metadata: { by: 'ö' } });
    const deadline = new Date(1_800_000_000_123);
    const bytes = appendRequest([event, event], {
      correlationId: ID,
      stream: 'toys.box-日本',
      expected,
      deadline,
    });
    return messages.BatchAppendReq.deserializeBinary(bytes);
  };

  it('contain events of any length, stream and deadline', () => {
    for (const length of [0, 100, 200, 20_000, 3_000_000]) {
      const text = 'x'.repeat(length);
      const request = toRequest(NO_STREAM, text);
      const [one, other] = request.getProposedMessagesList();
      expect(JSON.parse(Buffer.from(one!.getData_asU8()).toString())).to.deep.equal({ text });
      expect(other!.toObject()).to.deep.equal(one!.toObject());
      expect(one!.getId()?.getString()).to.equal(ID);
      expect(one!.getMetadataMap().toObject()).to.deep.equal([
        ['content-type', 'application/json'],
        ['type', 'A'],
      ]);
      expect(Buffer.from(one!.getCustomMetadata_asU8()).toString()).to.equal('{"by":"ö"}');
      expect([request.getCorrelationId()?.getString(), request.getIsFinal()]).to.deep.equal([ID, true]);
      const options = request.getOptions()!;
      const name = Buffer.from(options.getStreamIdentifier()!.getStreamName_asU8()).toString();
      expect([name, options.hasNoStream()]).to.deep.equal(['toys.box-日本', true]);
      expect(options.getDeadline()?.toDate()).to.deep.equal(new Date(1_800_000_000_123));
    }
  });

  it('contain the expected revision, however large', () => {
    for (const revision of [0n, 127n, 128n, 2n ** 32n, 2n ** 53n - 1n])
      expect(toRequest(revision).getOptions()!.getStreamPosition()).to.equal(String(revision));
  });
});
