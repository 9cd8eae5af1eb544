/** Links that strangers ask for: as many of one network as one network of people needs, and nobody is told. */
import { expect } from 'chai';
import { askForLink, SENT } from '../../../adapters/http/chat/mailed-links.js';
import { createLimit } from '../../../adapters/http/kernel/limit.js';
import type { CommandContext } from '../../../application/ports.js';

describe('links that are asked for', () => {
  it('are sent to so many a network, and refused to nobody', async () => {
    const sent: string[] = [];
    const warned: string[] = [];
    const request = async (_: string, email: string) => {
      sent.push(email);
      return { position: 1n };
    };
    const logger = {
      debug() {},
      info() {},
      warn: (_: object, message: string) => void warned.push(message),
      error() {},
    };
    const ask = askForLink({ request }, 'magic-link', createLimit(3, 60_000));
    const from = (address: string, email: string) =>
      ask({ address, body: { email }, context: () => ({}) as CommandContext, logger });
    for (let n = 0; n < 5; n++)
      expect(await from('192.0.2.1', `${n}@example.org`)).to.deep.equal({ status: 200, body: SENT });
    expect(await from('198.51.100.1', 'ada@example.org')).to.deep.equal({ status: 200, body: SENT });
    expect(sent).to.deep.equal(['0@example.org', '1@example.org', '2@example.org', 'ada@example.org']);
    expect(warned).to.have.length(2);
  });
});
