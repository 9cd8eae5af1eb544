/** Event streams of encrypted rooms. */
import { expect } from 'chai';
import { createRoom, joinRoom, type RoomState, type StoredMessage } from '../../support/room-client.js';
import type { RoomUnderTest } from './shared-service.js';

export function streams({ base, two, ask, as }: RoomUnderTest) {
  it('streams events in order and ends with the room', async () => {
    const ada = await createRoom(base(), 'Ada');
    const stream = await ada.stream();
    expect(await stream.next()).to.deep.include({ type: 'CONNECTED' });
    const bob = await joinRoom(base(), await ada.invite(), 'Bob');
    const joined = await stream.next();
    expect(joined).to.deep.equal({
      type: 'PARTICIPANT_JOINED',
      payload: (await ada.state()).participants[1],
    });
    const sent = await bob.post('hello');
    const received = await stream.next();
    expect(received).to.deep.equal({ type: 'NEW_MESSAGE', payload: sent });
    expect(await ada.open(received?.payload as StoredMessage)).to.equal('hello');
    await bob.burn();
    expect(await stream.next()).to.deep.equal({ type: 'ROOM_BURNED', payload: { roomId: ada.roomId } });
    expect(await stream.next()).to.equal(undefined);
  });

  it('resumes an interrupted stream', async () => {
    const { ada, bob } = await two();
    await ada.state();
    const first = await ada.stream();
    await first.next();
    for (const plain of ['one', 'two']) {
      const payload = await bob.post(plain);
      expect(await first.next()).to.deep.equal({ type: 'NEW_MESSAGE', payload });
    }
    const cursor = first.cursor();
    first.close();
    const missed = await bob.post('three');
    const second = await ada.stream(cursor);
    expect(await second.next()).to.have.property('type', 'CONNECTED');
    // Events past the cursor may repeat; missed ones must come.
    let last = await second.next();
    while ((last?.payload as StoredMessage | undefined)?.id !== missed.id) last = await second.next();
    expect(last).to.deep.equal({ type: 'NEW_MESSAGE', payload: missed });
    second.close();
  });

  it('has no gap between the state and the stream', async () => {
    const { ada, bob } = await two();
    await bob.post('before');
    const { headers, body } = await ask<RoomState>('GET', `/rooms/${ada.roomId}/state`, as(ada));
    expect(body.messages).to.have.length(1);
    const between = await bob.post('between');
    const stream = await ada.stream(headers.get('position') ?? '');
    expect(await stream.next()).to.have.property('type', 'CONNECTED');
    expect(await stream.next()).to.deep.equal({ type: 'NEW_MESSAGE', payload: between });
    stream.close();
  });

  it('accepts the token of a stream in the query', async () => {
    const { ada } = await two();
    const cut = new AbortController();
    const url = `${base()}/rooms/${ada.roomId}/events?token=${ada.sessionToken}`;
    const { status, headers } = await fetch(url, { signal: cut.signal });
    cut.abort();
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^text\/event-stream/);
  });
}
