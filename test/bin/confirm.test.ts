/** The confirmation before erasing, and which answers confirm. */
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { confirm } from '../../bin/commands/erase.js';

const QUESTION = 'Erase the user ada?';

describe('confirmation before erasing', () => {
  /** A terminal with this input, or with end of input. */
  function terminal(typed: string | undefined, isTTY = true) {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = new PassThrough();
    if (typed === undefined) input.end();
    else input.write(`${typed}\n`);
    return { input, output };
  }
  const outcome = (confirmation: Promise<void>) =>
    confirmation.then(
      () => 'erases',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it('accepts y and yes', async () => {
    for (const yes of ['y', 'Y', 'yes', ' Yes ']) {
      const at = terminal(yes);
      expect(await outcome(confirm(QUESTION, {}, at)), yes).to.equal('erases');
      expect(String(at.output.read())).to.equal(`${QUESTION} This cannot be undone. [y/N] `);
    }
  });

  it('treats any other answer and end of input as no', async () => {
    for (const no of ['', 'n', 'no', 'yet', 'y es', undefined])
      expect(await outcome(confirm(QUESTION, {}, terminal(no))), no).to.equal('Failed: nothing was erased');
  });

  it('is skipped with --yes, whatever the input is', async () => {
    for (const isTTY of [true, false])
      expect(await outcome(confirm(QUESTION, { yes: true }, terminal('n', isTTY)))).to.equal('erases');
  });

  it('requires a terminal', async () => {
    expect(await outcome(confirm(QUESTION, {}, terminal('y', false)))).to.equal(
      'ConfigError: --yes is required without a terminal to ask for confirmation',
    );
  });
});
