/** Who is let onto the event stream of the chat, and lost their session before it was open. */
import { expect } from 'chai';
import { eventsRoute } from '../../../adapters/http/chat/events.js';
import type { Request } from '../../../adapters/http/kernel/route.js';
import { chat } from '../../../adapters/relay/chat.js';
import { createRelay } from '../../../adapters/relay/relay.js';
import type { ChatAdmission } from '../../../application/chat/admission.js';
import { head, record, types } from '../../relay/ward.js';

const caller = {
  userId: 'ada',
  userName: 'Ada',
  isAdmin: false,
  sessionId: 'one',
  expiresAt: Date.now() + 60_000,
};

describe('the event stream of the chat', () => {
  for (const lives of [true, false]) {
    it(`is ${lives ? 'opened' : 'ended at once, to be asked for again,'} where the session ${lives ? 'lives' : 'has ended'} just then`, async () => {
      const relay = createRelay({ audience: chat, head });
      const admission = { lives: () => lives } as Partial<ChatAdmission> as ChatAdmission;
      const opened: string[] = [];
      const presence = {
        opened: (userId: string) => {
          opened.push(userId);
          return () => {};
        },
      };
      const route = eventsRoute({ admission, relay, clock: Date, presence });
      const answer = await route.handle({} as Request, caller);
      const sink = record();
      if (!('stream' in answer)) throw new Error('no stream');
      answer.stream(sink);
      expect(types(sink)).to.deep.equal(lives ? ['CONNECTED'] : []);
      expect(sink.ended).to.equal(lives ? undefined : 'resume');
      expect(opened).to.deep.equal(lives ? ['ada'] : []);
      relay.close();
    });
  }
});
