/** Routes of commands that end what their callers are let in by: signing out, for one, after which nobody is signed in. */
import { expect } from 'chai';
import { problem } from '../../adapters/http/server/problem.js';
import { route } from '../../adapters/http/server/route.js';
import { serveToys, type Toys } from './toy-http-service.js';

const SIGNED_OUT = problem(401, 'Sign in first');

describe('a request whose caller it has shut out itself', () => {
  let toys: Toys;
  let asked: number;
  /** Sessions that were ended, with the command that did it. */
  let ended: Map<string | undefined, string>;

  before(async () => {
    const signOut = route({
      method: 'POST',
      path: '/sign-out',
      summary: 'Sign out',
      body: { type: 'object', properties: {} },
      answers: { 200: { description: 'Signed out' } },
      admit: ({ bearer = '' }) => (ended.has(bearer) ? SIGNED_OUT : { session: bearer }),
      async previousAnswer({ bearer = '', context }) {
        asked++;
        const { commandId } = context(bearer, bearer);
        return ended.get(bearer) === commandId ? { status: 200, body: { signedOut: bearer } } : undefined;
      },
      handle({ context }, { session }) {
        ended.set(session, context(session, session).commandId);
        return { status: 200, body: { signedOut: session } };
      },
    });
    toys = await serveToys([signOut]);
  });
  after(() => toys.close());
  beforeEach(() => {
    [asked, ended] = [0, new Map()];
  });

  const signOut = (key?: string, body = '{}') =>
    toys.post('/sign-out', body, {
      Authorization: 'Bearer ada',
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    });
  const told = async (answer: ReturnType<typeof signOut>) => {
    const { status, json } = await answer;
    return { status, ...json };
  };
  const refused = { status: 401, error: 'Sign in first' };

  it('is answered as the first time', async () => {
    const first = await told(signOut('once'));
    expect(first).to.deep.equal({ status: 200, signedOut: 'ada' });
    expect(await told(signOut('once'))).to.deep.equal(first);
  });

  it('is not asked about while its caller is let in, nor without a key', async () => {
    await signOut('once');
    expect(asked).to.equal(0);
    expect(await told(signOut())).to.deep.equal(refused);
    expect(asked).to.equal(0);
  });

  it('is refused like any other where it is another one, or its body can not be read', async () => {
    await signOut('once');
    expect(await told(signOut('twice'))).to.deep.equal(refused);
    expect(asked).to.equal(1);
    expect(await told(signOut('once', '{'))).to.deep.equal(refused);
    expect(await told(signOut('once', '[]'))).to.deep.equal(refused);
    expect(asked).to.equal(1);
  });
});
