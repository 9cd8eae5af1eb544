/** Events about replies whose thread was closed before they were delivered. */
import { expect } from 'chai';
import { chatAudience } from '../../../../application/chat/audience/audience.js';
import { routeEvent } from '../../../../application/subscription/audience.js';
import { channels } from '../../../../domain/chat/channels.js';
import {
  CHANNEL,
  createChannel,
  editMessage,
  postMessage,
  react,
  runMessages,
} from '../../../support/chat-fixtures.js';
import { specOf } from '../../../support/decider-spec.js';
import { eventAt } from '../../../support/memory-ports.js';

describe('the event stream of the chat, with a closed thread', () => {
  const audience = chatAudience(() => null);
  const { events: existing } = specOf(channels).run([createChannel('General', { channelId: CHANNEL })]);

  const deliveredAbout = (messageId: string) => {
    const { events } = runMessages([
      postMessage('x', { messageId }),
      ...[react('+1'), editMessage('y')].map((each) => ({ ...each, messageId })),
    ]);
    let state = audience.initialState;
    return [...existing, ...events].flatMap(({ type, data }, index) => {
      const event = { ...eventAt(BigInt(index + 1), type, data as never), erased: false } as never;
      const routed = routeEvent(audience, state, event);
      state = routed.state;
      return index < existing.length ? [] : routed.deliveries;
    });
  };

  it('delivers nothing about its replies', () => {
    expect(deliveredAbout('m')).to.have.length(3);
    expect(deliveredAbout('m.r')).to.deep.equal([]);
  });
});
