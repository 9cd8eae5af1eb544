/** Repeating a request that ended its caller's own access, such as signing out. */
import { expect } from 'chai';
import { problem } from '../../adapters/http/server/policy.js';
import { route } from '../../adapters/http/server/route.js';
import { serveToys, type Toys } from './toy-http-service.js';

const SIGNED_OUT = problem(401, 'Sign in first');

describe("repetition of a request that ended its caller's access", () => {
  let toys: Toys;
  let lookups: number;
  /** Ended sessions, with the command that ended each. */
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
        lookups++;
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
    [lookups, ended] = [0, new Map()];
  });

  const signOut = (key?: string, body = '{}') =>
    toys.post('/sign-out', body, {
      Authorization: 'Bearer ada',
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    });
  const resultOf = async (answer: ReturnType<typeof signOut>) => {
    const { status, json } = await answer;
    return { status, ...json };
  };
  const rejection = { status: 401, error: 'Sign in first' };

  it('repeats the first answer for the same key', async () => {
    const first = await resultOf(signOut('once'));
    expect(first).to.deep.equal({ status: 200, signedOut: 'ada' });
    expect(await resultOf(signOut('once'))).to.deep.equal(first);
  });

  it('is looked up only when the caller is rejected and there is a key', async () => {
    await signOut('once');
    expect(lookups).to.equal(0);
    expect(await resultOf(signOut())).to.deep.equal(rejection);
    expect(lookups).to.equal(0);
  });

  it('is rejected with another key or an invalid body', async () => {
    await signOut('once');
    expect(await resultOf(signOut('twice'))).to.deep.equal(rejection);
    expect(lookups).to.equal(1);
    expect(await resultOf(signOut('once', '{'))).to.deep.equal(rejection);
    expect(await resultOf(signOut('once', '[]'))).to.deep.equal(rejection);
    expect(lookups).to.equal(1);
  });
});
