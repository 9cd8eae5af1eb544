/** Opening the event stream of the chat while the session ends or continues. */
import { expect } from 'chai';
import { eventsRoute } from '../../../adapters/http/chat/events.js';
import type { Request } from '../../../adapters/http/server/route.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import { chatAudience } from '../../../application/chat/audience/audience.js';
import type { Authentication, Session } from '../../../application/chat/sign-in/authenticate.js';
import { head, record, types } from '../../support/toy-service.js';

const chat = chatAudience(() => null);

const caller = {
  userId: 'ada',
  userName: 'Ada',
  isAdmin: false,
  sessionId: 'one',
};

/** Opens a stream; `session` is what is known of the caller's session at that moment. */
async function listen(session: Pick<Session, 'expiresAt'> | undefined) {
  const relay = createRelay({ audience: chat, head });
  const admission = { session: () => session } as Partial<Authentication> as Authentication;
  const trackStream: string[] = [];
  const presence = {
    trackStream: (userId: string) => {
      trackStream.push(userId);
      return () => {};
    },
  };
  const route = eventsRoute({ admission, relay, clock: Date, presence });
  const answer = await route.handle({} as Request, caller);
  const sink = record();
  if (!('stream' in answer)) throw new Error('no stream');
  answer.stream(sink);
  return { relay, sink, trackStream };
}

describe('opening the event stream of the chat', () => {
  it('succeeds while the session is active', async () => {
    const { relay, sink, trackStream } = await listen({ expiresAt: Date.now() + 60_000 });
    expect([types(sink), sink.ended, trackStream]).to.deep.equal([['CONNECTED'], undefined, ['ada']]);
    relay.close();
  });

  it('ends the stream immediately, with a retry, when the session has just ended', async () => {
    const { relay, sink, trackStream } = await listen(undefined);
    expect([types(sink), sink.ended, trackStream]).to.deep.equal([[], 'resume', []]);
    relay.close();
  });

  it('ends the stream when the session expires', async () => {
    const { relay, sink } = await listen({ expiresAt: Date.now() });
    await new Promise<void>((resolve) => sink.onClose(resolve));
    expect([types(sink), sink.ended]).to.deep.equal([['CONNECTED'], 'over']);
    relay.close();
  });
});
