/** What is asked before anything is erased, and what counts as yes. */
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { confirm } from '../../bin/commands/erase.js';

const QUESTION = 'Erase the user ada?';

describe('the question before erasing', () => {
  /** A terminal at which somebody has typed this, or ended the input. */
  function terminal(typed: string | undefined, isTTY = true) {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = new PassThrough();
    if (typed === undefined) input.end();
    else input.write(`${typed}\n`);
    return { input, output };
  }
  const outcome = (asked: Promise<void>) =>
    asked.then(
      () => 'erases',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it('takes y and yes for a yes', async () => {
    for (const yes of ['y', 'Y', 'yes', ' Yes ']) {
      const at = terminal(yes);
      expect(await outcome(confirm(QUESTION, {}, at)), yes).to.equal('erases');
      expect(String(at.output.read())).to.equal(`${QUESTION} This can not be undone. [y/N] `);
    }
  });

  it('takes everything else for a no, the end of the input too', async () => {
    for (const no of ['', 'n', 'no', 'yet', 'y es', undefined])
      expect(await outcome(confirm(QUESTION, {}, terminal(no))), no).to.equal('Failed: nothing was erased');
  });

  it('is not asked with --yes, wherever the input comes from', async () => {
    for (const isTTY of [true, false])
      expect(await outcome(confirm(QUESTION, { yes: true }, terminal('n', isTTY)))).to.equal('erases');
  });

  it('can be asked at a terminal only', async () => {
    expect(await outcome(confirm(QUESTION, {}, terminal('y', false)))).to.equal(
      'ConfigError: --yes is required without a terminal to ask for confirmation',
    );
  });
});
